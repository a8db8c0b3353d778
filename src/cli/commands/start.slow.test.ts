import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post, write } from '../../../test/support/command.ts'

describe('keelson start', () => {
  test('serves the nearest configuration and stops on a signal', async () => {
    const cwd = folder({ ...petShop, 'deep/below/file.txt': '' })
    const command = new Command(['start', '--port', '0'], { cwd: join(cwd, 'deep/below') })
    const url = await command.url()
    await command.until(/Press Ctrl\+C to stop/)
    assert.match(command.stdout, /Models +1 · \d+ routes/)
    assert.match(command.stdout, /Schema +created table pet/)
    // Relative to the configuration, not to the current folder.
    assert.ok(existsSync(join(cwd, 'data/app.db')))
    assert.equal((await post(`${url}/pet`, { name: 'Rex' })).name, 'Rex')

    command.kill('SIGTERM')
    assert.deepEqual(await command.ended.then(({ code, stderr }) => ({ code, stderr })), { code: 0, stderr: '' })

    const again = new Command(['start', '--port', '0'], { cwd })
    assert.equal((await ask(`${await again.url()}/pet`))[0]?.name, 'Rex')
    await again.until(/Schema +up to date/)
    again.kill('SIGINT')
    assert.equal((await again.ended).code, 0)
  })

  for (const name of ['keelson.config.js', 'keelson.config.cjs']) {
    test(`serves a CommonJS configuration, ${name}`, async () => {
      const config =
        "const { defineConfig } = require('keelson')\nmodule.exports = defineConfig({ models: { pet: {} } })\n"
      const cwd = folder({ 'package.json': '{ "type": "commonjs" }', [name]: config })
      const command = new Command(['start', '--port', '0'], { cwd })
      await command.until(/Press Ctrl\+C to stop/)
      command.kill('SIGTERM')
      assert.equal((await command.ended).stderr, '')
    })
  }

  test('says which models are open, and refuses them with NODE_ENV=production', async () => {
    const config = `export default { models: {
      pet: { attributes: {} }, tag: { access: 'public', attributes: {} }, note: { access: { read: true }, attributes: {} } } }`
    const cwd = folder({ 'keelson.config.ts': config })
    const development = new Command(['start', '--port', '0'], { cwd })
    await development.until(/Access +open: every client may read and write pet\n/)
    development.kill('SIGTERM')
    await development.ended

    const env = { NODE_ENV: 'production' }
    const { code, stderr } = await Command.run(['start', '--port', '0'], { cwd, env })
    assert.match(stderr, /one problem\n +pet: with NODE_ENV=production a model must declare its access/)
    assert.equal(code, 78)

    write(cwd, 'keelson.config.ts', config.replace('pet: {', "pet: { access: 'public',"))
    const production = new Command(['start', '--port', '0'], { cwd, env })
    await production.until(/Press Ctrl\+C to stop/)
    assert.doesNotMatch(production.stdout, /Access/)
  })

  test('prints events as JSON lines with --json', async () => {
    const command = new Command(['start', '--port', '0', '--json'], { cwd: folder(petShop) })
    await command.until(/"event":"ready"/)
    const [ready] = command.events
    assert.equal(ready?.url, `http://127.0.0.1:${ready?.port}`)
    assert.equal(ready?.pid, command.pid)
    assert.deepEqual(ready?.steps, ['created table pet'])
    command.kill('SIGTERM')
    await command.ended
    assert.deepEqual(
      command.events.map(({ event }) => event),
      ['ready', 'stopping', 'stopped'],
    )
  })

  test('prints each request with --log, without its query string', async () => {
    const command = new Command(['start', '--port', '0', '--log'], { cwd: folder(petShop) })
    await ask(`${await command.url()}/pet?name=secret`)
    await command.until(/GET \/pet 200 \d+\.\d ms/)
    assert.doesNotMatch(command.stdout, /secret/)
    command.kill('SIGTERM')
    await command.ended
  })

  test('a flag overrides the environment, which overrides the configuration', async () => {
    const files = {
      ...petShop,
      'keelson.config.ts': petShop['keelson.config.ts'].replace(
        'models:',
        "database: 'sqlite:configured.db', port: 1, models:",
      ),
    }
    const cwd = folder(files)
    const elsewhere = folder()
    const started = async (args: readonly string[], env: Record<string, string>) => {
      const options = ['start', '--json', '--config', join(cwd, 'keelson.config.ts'), ...args]
      const command = new Command(options, { cwd: elsewhere, env })
      await command.until(/"event":"ready"/)
      command.kill('SIGTERM')
      await command.ended
      return String(command.events[0]?.database)
    }
    assert.match(await started([], { PORT: '0' }), new RegExp(join(cwd, 'configured.db')))
    const env = { PORT: '0', DATABASE_URL: 'sqlite:environment.db' }
    assert.match(await started([], env), new RegExp(join(elsewhere, 'environment.db')))
    const args = ['--port', '0', '--database', 'sqlite:flag.db']
    assert.match(await started(args, { ...env, PORT: '1' }), new RegExp(join(elsewhere, 'flag.db')))
  })

  test('a port in use is reported in one line', async () => {
    await using blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const { code, stderr } = await Command.run(['start', '--port', String(port)], { cwd: folder(petShop) })
    assert.match(stderr, new RegExp(`✗ Port ${port} on 127.0.0.1 is already in use`))
    assert.doesNotMatch(stderr, /\n\s+at /)
    assert.equal(code, 1)
  })

  test('--verbose prints the stack trace', async () => {
    const args = ['start', '--database', 'sqlite:/dev/null/app.db', '--verbose']
    const { code, stderr } = await Command.run(args, { cwd: folder(petShop) })
    assert.match(stderr, /\n\s+at /)
    assert.equal(code, 1)
  })

  test('an invalid port is a wrong command line', async () => {
    for (const [args, env] of [
      [['--port', '99999'], {}],
      [['--port', 'http'], {}],
      [[], { PORT: '-1' }],
    ] as const) {
      const { code, stderr } = await Command.run(['start', ...args], { cwd: folder(petShop), env })
      assert.match(stderr, /(PORT|--port) must be a port number from 0 to 65535/)
      assert.equal(code, 2)
    }
  })
})

describe('a wrong configuration is reported with all problems and exit code 78', () => {
  const config = (text: string) => ({ 'keelson.config.ts': `import { defineConfig } from 'keelson'\n${text}` })
  const pet = petShop['models/pet.ts']
  const cases: readonly (readonly [what: string, files: Readonly<Record<string, string>>, ...expected: RegExp[]])[] = [
    [
      'several mistakes',
      config(`export default { prot: 1, migrate: 'never',
        models: { pet: { attributes: { owner: { model: 'ownr' }, age: { type: 'nmber' } } } } }`),
      /The configuration has 4 problems/,
      /there is no setting "prot"/,
      /migrate must be "add" or "safe" or "drop"/,
      /pet\.owner: there is no model "ownr"/,
      /pet\.age: there is no type "nmber"/,
    ],
    ['no default export', config('export const models = {}'), /has no default export/],
    ['a default export of another type', config('export default 7'), /the configuration must be an object/],
    ['no configuration', {}, /No keelson\.config\.ts found in this folder/, /keelson init writes one/],
    [
      'an enum',
      { ...petShop, 'models/pet.ts': `${pet}enum Kind { dog }` },
      /models\/pet\.ts:8: TypeScript enum is not supported here/,
      /enum Kind/,
      /Replace an enum/,
    ],
    ['a syntax error', { ...petShop, 'models/pet.ts': 'export const pet = {' }, /models\/pet\.ts:1: /],
    [
      'a missing file',
      { 'keelson.config.ts': petShop['keelson.config.ts'] },
      /File not found: models\/pet\.ts, imported by keelson\.config\.ts/,
    ],
    [
      'an import without the file extension',
      { ...petShop, 'keelson.config.ts': petShop['keelson.config.ts'].replace('pet.ts', 'pet') },
      /Imports need the complete file name: models\/pet\.ts/,
    ],
    [
      'an import of a missing export',
      { ...petShop, 'models/pet.ts': 'export const cat = {}' },
      /does not provide an export named 'pet'/,
    ],
    [
      'a missing package',
      config("import 'nowhere-to-be-found'"),
      /Package not found: "nowhere-to-be-found", imported by keelson\.config\.ts/,
    ],
    ['an error thrown by the configuration', config('null.x'), /keelson\.config\.ts:2:\d+: TypeError/],
    [
      'an unknown database',
      config("export default { database: 'oracle:x', models: { pet: {} } }"),
      /"oracle:" is not a supported database/,
    ],
  ]
  for (const [what, files, ...expected] of cases) {
    test(what, async () => {
      const { code, stderr } = await Command.run(['start', '--port', '0'], { cwd: folder(files) })
      for (const pattern of expected) assert.match(stderr, pattern)
      assert.doesNotMatch(stderr, /\n\s+at /)
      assert.equal(code, 78)
    })
  }

  test('with --json it is one object', async () => {
    const cwd = folder(config('export default { models: { pet: { attributes: { a: { type: 1 } } } }, prefix: 7 }'))
    const command = new Command(['start', '--json'], { cwd })
    const { code, stderr } = await command.ended
    assert.equal(((command.events[0]?.problems ?? []) as readonly string[]).length, 2)
    assert.deepEqual({ code, stderr, printed: command.events.length }, { code: 78, stderr: '', printed: 1 })
  })
})

describe('a seed', () => {
  const seeded = {
    'keelson.config.ts': `import { defineConfig } from 'keelson'
import { pet } from './models/pet.ts'

export default defineConfig({
  models: { pet },
  async seed({ system }, progress) {
    console.log('seeding')
    for (let number = (await system.records.pet.count()) + 1; number <= 4; number++) {
      await system.records.pet.create({ name: 'pet ' + number })
      progress(number, 4)
      if (process.env.SLOW) await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
  },
})
`,
    'models/pet.ts': petShop['models/pet.ts'],
  }
  const start = (cwd: string, env = {}) => new Command(['start', '--port', '0'], { cwd, env })

  test('runs once for a new database, also when its records are destroyed later', async () => {
    const cwd = folder(seeded)
    const first = start(cwd)
    const url = await first.url()
    assert.match(first.stdout, /Seeding 25 %, 1 of 4/)
    assert.equal((await ask(`${url}/pet`)).length, 4)
    for (const { id } of await ask(`${url}/pet`)) await fetch(`${url}/pet/${id}`, { method: 'DELETE' })
    first.kill('SIGTERM')
    await first.ended

    const second = start(cwd)
    assert.deepEqual(await ask(`${await second.url()}/pet`), [])
    assert.doesNotMatch(second.stdout, /seeding/)
  })

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    test(`continues after an interruption by ${signal}`, async () => {
      const cwd = folder(seeded)
      const first = start(cwd, { SLOW: '1' })
      await first.until(/1 of 4/)
      first.kill(signal)
      const { code, stderr } = await first.ended
      if (signal === 'SIGTERM') assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })

      const pets = await ask(`${await start(cwd).url()}/pet`)
      assert.deepEqual(
        pets.map(({ name }) => name),
        ['pet 1', 'pet 2', 'pet 3', 'pet 4'],
      )
    })
  }

  test('is not run for a database that contains records', async () => {
    const cwd = folder(petShop)
    const before = start(cwd)
    await post(`${await before.url()}/pet`, { name: 'Rex' })
    before.kill('SIGTERM')
    await before.ended

    write(cwd, 'keelson.config.ts', seeded['keelson.config.ts'])
    const later = start(cwd)
    assert.equal((await ask(`${await later.url()}/pet`)).length, 1)
    assert.doesNotMatch(later.stdout, /seeding/)
  })

  test('that fails stops the start, and is run again at the next start', async () => {
    const cwd = folder({
      ...seeded,
      'keelson.config.ts': seeded['keelson.config.ts'].replace(
        "console.log('seeding')",
        "throw new Error('no connection')",
      ),
    })
    const { code, stderr } = await start(cwd).ended
    assert.match(stderr, /✗ no connection/)
    assert.equal(code, 1)
    write(cwd, 'keelson.config.ts', seeded['keelson.config.ts'])
    assert.equal((await ask(`${await start(cwd).url()}/pet`)).length, 4)
  })
})

test('a second signal stops the process while a request is open', async () => {
  const command = new Command(['start', '--port', '0'], { cwd: folder(petShop) })
  const { port } = new URL(await command.url())
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.write('POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{')
  // Answered after the first request has arrived.
  await ask(`http://127.0.0.1:${port}/pet`)
  command.kill('SIGTERM')
  await command.until(/Stopping/)
  command.kill('SIGTERM')
  assert.equal((await command.ended).signal, 'SIGTERM')
  client.destroy()
})

test('a stop ends the process within stopTimeoutMs, also when a request never completes', async () => {
  const limited = petShop['keelson.config.ts'].replace('models:', 'limits: { stopTimeoutMs: 500 },\n  models:')
  const command = new Command(['start', '--port', '0'], { cwd: folder({ ...petShop, 'keelson.config.ts': limited }) })
  const { port } = new URL(await command.url())
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.write('POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{')
  await ask(`http://127.0.0.1:${port}/pet`)
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
  client.destroy()
})

test('a stop ends the process within stopTimeoutMs, also while the database does not answer', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const limited = petShop['keelson.config.ts'].replace('models:', 'limits: { stopTimeoutMs: 100 },\n  models:')
  const command = new Command(['start', '--port', '0', '--database', `postgres://u@127.0.0.1:${port}/d`], {
    cwd: folder({ ...petShop, 'keelson.config.ts': limited }),
  })
  await once(silent, 'connection')
  command.kill('SIGTERM')
  assert.equal((await command.ended).signal, 'SIGTERM')
  silent.close()
})

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
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

  test('a configuration that loads `.env` sets the port and the database', async () => {
    const config = petShop['keelson.config.ts'].replace('models:', "database: 'sqlite:configured.db', port: 1, models:")
    const cwd = folder({
      ...petShop,
      'keelson.config.ts': `process.loadEnvFile()\n${config}`,
      '.env': 'PORT=0\nDATABASE_URL=sqlite:loaded.db\n',
    })
    const command = new Command(['start', '--json'], { cwd })
    await command.until(/"event":"ready"/)
    assert.match(String(command.events[0]?.database), /loaded\.db/)
    assert.notEqual(command.events[0]?.port, 1)
  })

  test('a port in use is reported in one line', async () => {
    await using blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const { code, stderr } = await Command.run(['start', '--port', String(port)], { cwd: folder(petShop) })
    assert.match(stderr, new RegExp(`✗ Port ${port} on 127.0.0.1 is already in use`))
    assert.match(stderr, /The schema was changed before: created table pet/)
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

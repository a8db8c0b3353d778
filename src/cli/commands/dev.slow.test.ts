import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post, write } from '../../../test/support/command.ts'

const { 'models/pet.ts': pet } = petShop
const withAttribute = (attribute: string) => pet.replace('attributes: {', `attributes: {\n    ${attribute},`)

describe('keelson dev', () => {
  test('serves a changed model at the same address and prints the schema changes', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0', '--log'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching this folder/)
    await post(`${url}/pet`, { name: 'Rex' })
    await dev.until(/POST \/pet 201 /)

    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'number' }"))
    await dev.until(/✎ models\/pet\.ts {3}added column pet\.weight {3}\d/)
    assert.deepEqual((await ask(`${url}/pet?select=name,weight`))[0], { id: 1, name: 'Rex', weight: null })

    const optional = withAttribute("weight: { type: 'number' }").replace(', required: true', '')
    write(cwd, 'models/pet.ts', optional)
    await dev.until(
      /✎ models\/pet\.ts {3}reloaded {3}\d.*\n {6}Warning: pet\.name: the column "name" .* does not accept null/,
    )
    write(cwd, 'models/pet.ts', optional.replace('weight:', 'height:'))
    await dev.until(/added column pet\.height/)
    assert.equal(dev.stdout.match(/Warning: pet\.name/g)?.length, 1)
  })

  test('prints the option that would allow the pages of another origin', async () => {
    const dev = new Command(['dev', '--port', '0'], { cwd: folder(petShop) })
    const headers = { origin: 'http://localhost:5173' }
    await fetch(`${await dev.url()}/pet`, { headers })
    await dev.until(/Pages of http:\/\/localhost:5173 may not use.*cors: \{ origins: \['http:\/\/localhost:5173'\] \}/)
  })

  test('keeps serving the previous version while the configuration is invalid, and loads the repaired one', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching/)

    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'nmber' },\n owner: { model: 'ownr' }"))
    await dev.until(
      /✗ models\/pet\.ts {3}The configuration has 2 problems\n.*"nmber".*\n.*"ownr"\n.*keeps serving the previous version/,
    )
    await post(`${url}/pet`, { name: 'Rex' })

    write(cwd, 'models/pet.ts', `${pet}enum Kind { dog }`)
    await dev.until(/TypeScript enum is not supported here/)
    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'number' }"))
    await dev.until(/added column pet\.weight/)
    assert.equal((await ask(`${url}/pet/1`)).weight, null)

    const config = petShop['keelson.config.ts'].replace('defineConfig({', "defineConfig({ database: 'mysql:shop',")
    write(cwd, 'keelson.config.ts', config)
    await dev.until(/"mysql:" is not a supported database[\s\S]*keeps serving the previous version/)
    assert.equal((await ask(`${url}/pet/1`)).weight, null)
  })

  test('keeps serving the previous version while a job is invalid', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    await dev.until(/"event":"ready"/)
    const { url } = dev.events.at(-1) as { url: string }
    write(cwd, 'keelson.config.ts', petShop['keelson.config.ts'].replace('models:', 'jobs: { nightly: {} }, models:'))
    await dev.until(/"event":"broken".*jobs\.nightly/)
    assert.deepEqual(await ask(`${url}/pet`), [])
  })

  test('waits for a change when the configuration is invalid at the start', async () => {
    const cwd = folder({ ...petShop, 'models/pet.ts': 'export const pet = {' })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    await dev.until(/✗ models\/pet\.ts:1: .*\n[\s\S]*Nothing is served; waiting for a change/)
    write(cwd, 'models/pet.ts', pet)
    assert.deepEqual(await ask(`${await dev.url()}/pet`), [])
  })

  test('waits for a missing file', async () => {
    const cwd = folder({ 'keelson.config.ts': petShop['keelson.config.ts'] })
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    await dev.until(/"event":"broken".*"File not found: models\/pet\.ts.*"serving":null/)
    write(cwd, 'models/pet.ts', pet)
    await dev.until(/"event":"ready"/)
    const { url } = dev.events.at(-1) as { url: string }
    assert.deepEqual(await ask(`${url}/pet`), [])

    rmSync(join(cwd, 'models/pet.ts'))
    await dev.until(/"event":"broken","files":\["models\/pet\.ts"\]/)
    assert.deepEqual(await ask(`${url}/pet`), [])
  })

  for (const [what, at] of [
    ['of the folder', 'package.json'],
    ['of a folder above', '../package.json'],
    ['of an imported folder', 'models/package.json'],
  ] as const) {
    test(`waits until a broken package.json ${what} is repaired`, async () => {
      const parent = folder({})
      const files = Object.entries(petShop).map(([path, text]) => [`shop/${path}`, text])
      for (const [path, text] of files) write(parent, path as string, text as string)
      const cwd = join(parent, 'shop')
      write(cwd, at, '{,}')
      const dev = new Command(['dev', '--port', '0'], { cwd })
      await dev.until(/package\.json: not valid JSON[\s\S]*Nothing is served; waiting for a change/)
      write(cwd, at, '{ "type": "module" }')
      assert.deepEqual(await ask(`${await dev.url()}/pet`), [])
    })
  }

  test('waits until a missing package is installed', async () => {
    const config = petShop['keelson.config.ts']
    const cwd = folder({ ...petShop, 'package.json': '{}', 'keelson.config.ts': `import 'left-pad'\n${config}` })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    await dev.until(/Package not found: "left-pad"[\s\S]*waiting for a change/)
    write(cwd, 'node_modules/left-pad/package.json', '{ "main": "index.js" }')
    write(cwd, 'node_modules/left-pad/index.js', '')
    write(cwd, 'package.json', '{ "dependencies": { "left-pad": "1" } }')
    assert.deepEqual(await ask(`${await dev.url()}/pet`), [])
  })

  test('waits for a missing folder', async () => {
    const config = petShop['keelson.config.ts'].replace('models:', "public: 'public', models:")
    const cwd = folder({ ...petShop, 'keelson.config.ts': config })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    await dev.until(/the folder .*public does not exist\n[\s\S]*waiting for a change/)
    write(cwd, 'public/index.html', '<p>Pets</p>')
    const page = await fetch(`${await dev.url()}/index.html`)
    assert.equal(await page.text(), '<p>Pets</p>')
  })

  test('restarts for a new source, as the configuration may read its folder, and not for one in `public`', async () => {
    const config = petShop['keelson.config.ts'].replace('models:', "public: 'public', models:")
    const cwd = folder({ ...petShop, 'keelson.config.ts': config, 'public/index.html': '<p>Pets</p>' })
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    const url = (await dev.until(/"url":"(.+?)"/))[1] as string
    write(cwd, 'public/pets.js', 'const pets = []')
    write(cwd, 'public/parts/list.js', 'const list = []')
    assert.equal(await (await fetch(`${url}/pets.js`)).text(), 'const pets = []')
    write(cwd, 'models/owner.ts', pet)
    await dev.until(/"event":"changed"/)
    assert.deepEqual(dev.events.at(-1)?.files, ['models/owner.ts'])
  })

  for (const [where, files] of [
    ['.env', { '.env': 'PORT=0', 'load-env.ts': 'process.loadEnvFile()' }],
    ['the configuration', { 'load-env.ts': '' }],
  ] as const)
    test(`keeps the free port that ${where} asks for across restarts`, async () => {
      const config = `import './load-env.ts'\n${petShop['keelson.config.ts']}`
      const withPort = where === '.env' ? config : config.replace('models:', 'port: 0, models:')
      const cwd = folder({ ...petShop, ...files, 'keelson.config.ts': withPort })
      const dev = new Command(['dev', '--json'], { cwd })
      const url = (await dev.until(/"url":"(.+?)"/))[1] as string
      write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'number' }"))
      await dev.until(/"event":"changed"/)
      await post(`${url}/pet`, { name: 'Rex', weight: 3 })
    })

  test('watches an imported file outside of the folder', async () => {
    const parent = folder({
      'shop/keelson.config.ts': petShop['keelson.config.ts'].replace('./models', '../shared'),
      'shared/pet.ts': pet,
    })
    const dev = new Command(['dev', '--port', '0'], { cwd: join(parent, 'shop') })
    await dev.url()
    await dev.until(/Watching/)
    write(parent, 'shared/pet.ts', withAttribute("weight: { type: 'number' }"))
    await dev.until(/✎ \.\.\/shared\/pet\.ts {3}added column pet\.weight/)
  })

  test('ignores the database, a file without a change of content, and files that are no sources', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    const url = (await dev.until(/"url":"(.+?)"/))[1] as string
    write(cwd, 'models/pet.ts', pet)
    write(cwd, 'notes.md', 'milk')
    write(cwd, 'node_modules/x/index.js', 'milk')
    await post(`${url}/pet`, { name: 'Rex' })
    // Only a later change of a source is reported.
    write(cwd, 'keelson.config.ts', petShop['keelson.config.ts'].replace('models:', 'pluralize: true, models:'))
    await dev.until(/"event":"changed"/)
    assert.deepEqual(
      dev.events.map(({ event, files }) => [event, files]),
      [
        ['ready', undefined],
        ['changed', ['keelson.config.ts']],
      ],
    )
  })

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    test(`leaves no process behind after ${signal}`, async () => {
      const dev = new Command(['dev', '--port', '0'], { cwd: folder(petShop) })
      const url = await dev.url()
      await dev.until(/Watching/)
      dev.kill(signal)
      const { code } = await dev.ended
      if (signal !== 'SIGKILL') assert.equal(code, 0)
      // The output is closed when the last process that holds it has ended, so the worker has ended.
      await assert.rejects(fetch(url))
    })
  }

  test('reports an unexpected exit of the service, and starts it again after a change', async () => {
    const crashing = withAttribute("bomb: { type: 'string', custom: () => process.exit(7) }")
    const cwd = folder({ ...petShop, 'models/pet.ts': crashing })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching/)
    await assert.rejects(post(`${url}/pet`, { name: 'Rex', bomb: 'x' }))
    await dev.until(/The service exited unexpectedly with code 7/)
    write(cwd, 'models/pet.ts', pet)
    await dev.until(/✎ models\/pet\.ts/)
    assert.deepEqual(await ask(`${url}/pet`), [])
  })

  test('fails without a configuration', async () => {
    const { code, stderr } = await Command.run(['dev'], { cwd: folder() })
    assert.match(stderr, /No keelson\.config\.ts found/)
    assert.equal(code, 78)
  })
})

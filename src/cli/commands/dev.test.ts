import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post, write } from '../../../test/command.ts'

const { 'models/pet.ts': pet } = petShop
const withAttribute = (attribute: string) => pet.replace('attributes: {', `attributes: {\n    ${attribute},`)

describe('keelson dev', () => {
  test('serves a changed model at the same address, and says what it did', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching this folder/)
    await post(`${url}/pet`, { name: 'Rex' })

    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'number' }"))
    await dev.until(/✎ models\/pet\.ts {3}added column pet\.weight {3}\d/)
    assert.deepEqual((await ask(`${url}/pet?select=name,weight`))[0], { id: 1, name: 'Rex', weight: null })
  })

  test('goes on with what was there while the configuration is broken, and takes up what mends it', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching/)

    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'nmber' },\n owner: { model: 'ownr' }"))
    await dev.until(
      /✗ models\/pet\.ts {3}The configuration has 2 problems\n.*"nmber"\n.*"ownr"\n.*goes on with what was there before/,
    )
    await post(`${url}/pet`, { name: 'Rex' })

    write(cwd, 'models/pet.ts', `${pet}enum Kind { dog }`)
    await dev.until(/TypeScript enum is not supported here/)
    write(cwd, 'models/pet.ts', withAttribute("weight: { type: 'number' }"))
    await dev.until(/added column pet\.weight/)
    assert.equal((await ask(`${url}/pet/1`)).weight, null)
  })

  test('waits for what mends a configuration that is broken from the start', async () => {
    const cwd = folder({ ...petShop, 'models/pet.ts': 'export const pet = {' })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    await dev.until(/✗ models\/pet\.ts:1: .*\n[\s\S]*Nothing is served; waiting for the next save/)
    write(cwd, 'models/pet.ts', pet)
    assert.deepEqual(await ask(`${await dev.url()}/pet`), [])
  })

  test('waits for a file that is not there', async () => {
    const cwd = folder({ 'keelson.config.ts': petShop['keelson.config.ts'] })
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    await dev.until(/"event":"broken".*"There is no file models\/pet\.ts.*"serving":null/)
    write(cwd, 'models/pet.ts', pet)
    await dev.until(/"event":"ready"/)
    const { url } = dev.events.at(-1) as { url: string }
    assert.deepEqual(await ask(`${url}/pet`), [])

    rmSync(join(cwd, 'models/pet.ts'))
    await dev.until(/"event":"broken","files":\["models\/pet\.ts"\]/)
    assert.deepEqual(await ask(`${url}/pet`), [])
  })

  test('follows a file outside of the folder, when it is imported', async () => {
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

  test('is not stirred by what is no part of it: its database, a touched file, a text', async () => {
    const cwd = folder(petShop)
    const dev = new Command(['dev', '--port', '0', '--json'], { cwd })
    const url = (await dev.until(/"url":"(.+?)"/))[1] as string
    write(cwd, 'models/pet.ts', pet)
    write(cwd, 'notes.md', 'milk')
    write(cwd, 'node_modules/x/index.js', 'milk')
    await post(`${url}/pet`, { name: 'Rex' })
    // What comes after them is heard, and alone.
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
    test(`leaves nothing behind after ${signal}`, async () => {
      const dev = new Command(['dev', '--port', '0'], { cwd: folder(petShop) })
      const url = await dev.url()
      await dev.until(/Watching/)
      dev.kill(signal)
      const { code } = await dev.ended
      if (signal !== 'SIGKILL') assert.equal(code, 0)
      // Output is closed only when the last process that holds it has ended, so the worker has.
      await assert.rejects(fetch(url))
    })
  }

  test('says so when the service ends by itself, and starts it again after the next save', async () => {
    const dying = withAttribute("bomb: { type: 'string', custom: () => process.exit(7) }")
    const cwd = folder({ ...petShop, 'models/pet.ts': dying })
    const dev = new Command(['dev', '--port', '0'], { cwd })
    const url = await dev.url()
    await dev.until(/Watching/)
    await assert.rejects(post(`${url}/pet`, { name: 'Rex', bomb: 'x' }))
    await dev.until(/The service has ended by itself, with code 7/)
    write(cwd, 'models/pet.ts', pet)
    await dev.until(/✎ models\/pet\.ts/)
    assert.deepEqual(await ask(`${url}/pet`), [])
  })

  test('without a configuration there is nothing to watch', async () => {
    const { code, stderr } = await Command.run(['dev'], { cwd: folder() })
    assert.match(stderr, /There is no keelson\.config\.ts/)
    assert.equal(code, 78)
  })
})

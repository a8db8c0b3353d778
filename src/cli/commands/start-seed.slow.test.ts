import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ask, Command, folder, petShop, post, write } from '../../../test/support/command.ts'

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
    assert.match(stderr, /✗ The seed failed: keelson\.config\.ts:7:11: no connection\n/)
    assert.equal(code, 1)
    write(cwd, 'keelson.config.ts', seeded['keelson.config.ts'])
    assert.equal((await ask(`${await start(cwd).url()}/pet`)).length, 4)
  })
})

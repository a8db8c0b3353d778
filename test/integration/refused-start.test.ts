import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { ConfigError, createService, job, schedule } from '../../src/index.ts'
import type { Config } from '../../src/service/config/config.ts'
import { databaseNamed, databases } from '../support/databases.ts'

/* A service that cannot start changes nothing and keeps nothing open. */

const pet = { attributes: { name: { type: 'string' } } } as const
const open = (config: object) => createService({ models: { pet }, onError: () => {}, ...config } as Config)

async function problemsOf(config: object): Promise<readonly string[]> {
  const error = await open(config).catch((error: unknown) => error)
  assert.ok(error instanceof ConfigError, String(error))
  return error.problems
}

describe('invalid jobs', () => {
  test('are reported together with the other problems, before the database is created', async () => {
    await using database = await databaseNamed('sqlite').open()
    const run = () => {}
    const hourly = schedule({ every: '1h' }, run)
    const problems = await problemsOf({
      database: database.url,
      prot: 1,
      models: { pet: { attributes: { name: { type: 'strng' } }, on: { bogus: job('mail', run) } }, none: null },
      on: { cat: { created: job('cat', run) } },
      jobs: {
        nightly: schedule({ cron: '99 3 * * *' }, run),
        plain: { every: '10m' },
        'a\0b': hourly,
        ['x'.repeat(101)]: hourly,
      },
    })
    for (const place of [
      '"prot"',
      'pet.name',
      'none',
      'pet.on.bogus',
      'on.cat',
      'jobs.nightly',
      'jobs.plain',
      'jobs.a',
      'jobs.xxx',
    ])
      assert.equal(
        problems.filter((problem) => problem.includes(place)).length,
        1,
        `${place} in ${problems.join('\n')}`,
      )
    assert.equal(existsSync(database.url.replace('sqlite:', '')), false)
  })

  for (const [config, ...expected] of [
    [{ on: 5 }, 'on must be an object'],
    [
      { on: { pets: {} }, models: { pet: { attributes: {} } } },
      'on.pets: there is no model "pets"; did you mean "pet"?',
    ],
    [{ jobs: null }, 'jobs must be an object'],
    [{ models: undefined, jobs: {} }, 'models is missing'],
    [
      { models: 'pet', on: {} },
      'models must be an object of models by their names, such as { pet: { attributes: { … } } }',
    ],
    [
      { models: null, jobs: {} },
      'models must be an object of models by their names, such as { pet: { attributes: { … } } }',
    ],
  ] as const)
    test(`are not read where they cannot be: ${JSON.stringify(config)}`, async () =>
      assert.deepEqual(await problemsOf({ database: 'memory:', ...config }), expected))

  for (const { name, missing, open: openDatabase } of databases.filter(({ name }) => name !== 'memory')) {
    test(`leave the records where the tables would be dropped: ${name}`, { skip: missing ?? false }, async () => {
      await using database = await openDatabase()
      {
        await using service = await open({ database: database.url })
        await service.system.records.pet?.create({ name: 'Rex' })
      }
      const problems = await problemsOf({ database: database.url, migrate: 'drop', jobs: { nightly: {} } })
      assert.equal(problems.length, 1)
      await using service = await open({ database: database.url })
      assert.equal(await service.system.records.pet?.count(), 1)
    })
  }
})

test('jobs that cannot start leave no open database', async () => {
  await using database = await databaseNamed('sqlite').open()
  await (await open({ database: database.url })).close()
  const jobs = { nightly: schedule({ every: '1h' }, () => {}) }
  await assert.rejects(open({ database: database.url, migrate: 'safe', runJobs: true, jobs }), /Jobs need the tables/)
  // The last connection that is closed removes it.
  assert.equal(existsSync(`${database.url.replace('sqlite:', '')}-wal`), false)
})

test('a server whose jobs cannot start does not go on listening', async () => {
  await using database = await databaseNamed('sqlite').open()
  await (await open({ database: database.url })).close()
  const jobs = { nightly: schedule({ every: '1h' }, () => {}) }
  await using service = await open({ database: database.url, migrate: 'safe', jobs })
  await using other = await open({ database: 'memory:' })
  const { port, stop } = await other.listen(0)
  await stop()
  await assert.rejects(service.listen(port), /Jobs need the tables/)
  await (await other.listen(port)).stop()
})

import assert from 'node:assert/strict'
import { after, describe, mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openService } from '../../src/service/open-service.ts'
import type { Driver } from '../../src/storage/driver.ts'
import { TimedVersions } from '../../src/storage/timed-versions.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { type Any, config, fill, questions, requestOf, told, users } from './kept-answers/models.ts'
import { countRepeated } from './kept-answers/repeated.ts'
import { randomWrite, serviceProgram } from './kept-answers/writes.ts'

/** Longer than a test runs. */
const long = { maxStaleMs: 3_600_000 }
const all = { city: 'all' } as const

describe('answers that may be stale', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())
  async function open(cache: { readonly maxStaleMs: number } | undefined) {
    const database = await freshDatabase(server?.url as string)
    const shared = { ...config(''), database: database.url }
    const keeping = await openService({ ...shared, ...(cache && { cache }) })
    const fresh = await openService({ ...shared, cache: false })
    await fill(keeping)
    return {
      database,
      keeping,
      fresh,
      async [Symbol.asyncDispose]() {
        await keeping[Symbol.asyncDispose]()
        await fresh[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  /** Questions between random writes of the service that keeps answers: it says the same as one that keeps nothing. */
  async function compare(rounds: number): Promise<void> {
    await using services = await open(long)
    const random = new Random(seed)
    const write = serviceProgram(services.keeping)
    const tags = new Map<string, string>()
    for (let round = 0; round < rounds; round++) {
      for (let repeat = 0; repeat < 2; repeat++)
        for (const question of questions) {
          const user = random.pick(users)
          const place = JSON.stringify([question, user])
          const request = requestOf(question, user, random.chance(0.3) ? tags.get(place) : undefined)
          const kept = await told(services.keeping, request)
          assert.deepEqual(kept, await told(services.fresh, request), place)
          if (kept.headers.ETag !== undefined) tags.set(place, kept.headers.ETag)
        }
      // Several of them at once: an answer may be read before a write and kept after it.
      const writes = [randomWrite(random, 'service'), randomWrite(random, 'service')]
      const asked = questions.slice(0, 8).map((question) => told(services.keeping, requestOf(question, all)))
      await Promise.all([...writes.map(async (each) => write(each)), ...asked])
    }
  }

  test('contain all that the service itself has written', async () => {
    using repeated = countRepeated()
    await compare(12)
    assert.ok(repeated.count > 50, `${repeated.count} answers were given again`)
  })

  test('differ where the writes of the service are not counted', async (t) => {
    const { mock: planted } = mock.method(TimedVersions.prototype, 'countWrites', (driver: Driver) => driver)
    t.after(() => planted.restore())
    await assert.rejects(compare(12), { name: 'AssertionError' })
  })

  test('miss what other programs write, for so long, and name the position of when they were read', async () => {
    await using services = await open(long)
    const { keeping, database } = services
    const ask = async (headers = {}) => {
      const request = requestOf('/city?sort=id', all)
      const response = await keeping.handle({ ...request, headers: { ...request.headers, ...headers } })
      const { name } = (JSON.parse((response.body as Any).encoded) as Any[])[0]
      return { name, position: response.headers['Keelson-Position'] as string }
    }
    // The position is read beside the first request.
    await eventually(async () => (await keeping.handle(requestOf('/visit', all))).headers['Keelson-Position'])
    for (let count = 0; count < 3; count++) await ask()
    await database.query("update city set name = 'other' where id = 1")
    const before = await keeping.changes.head()
    for (let count = 0; count < 3; count++) {
      await wait(150)
      const kept = await ask()
      assert.equal(kept.name, 'a')
      assert.equal(keeping.changes.reaches(kept.position, before), false)
    }
    assert.equal((await ask({ 'keelson-after': before })).name, 'other')
    assert.equal((await ask()).name, 'a')
    // An event is never ahead of an answer.
    const events: string[] = []
    const listening = keeping.feed.listen({
      wants: () => true,
      onOperation: async () => void events.push((await ask()).name),
      onGap: () => {},
    })
    await listening.ready
    await database.query("update city set name = 'told' where id = 1")
    await eventually(() => events.length > 0 || undefined)
    assert.equal(events[0], 'told')
    listening[Symbol.dispose]()
  })

  test('end after the time', async () => {
    await using services = await open({ maxStaleMs: 50 })
    const ask = async () => (await told(services.keeping, requestOf('/city?sort=id', all))).text
    for (let count = 0; count < 4; count++) await ask()
    await services.database.query("update city set name = 'other' where id = 1")
    await wait(60)
    assert.match(await ask(), /other/)
  })

  test('are not kept unless it is asked for', async () => {
    await using services = await open(undefined)
    using repeated = countRepeated()
    for (let count = 0; count < 4; count++) await told(services.keeping, requestOf('/city?sort=id', all))
    assert.equal(repeated.count, 0)
  })
})

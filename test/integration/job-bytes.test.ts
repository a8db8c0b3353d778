import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createService, job, type Service } from '../../src/index.ts'
import type { Config } from '../../src/service/config/config.ts'
import type { JobObservation } from '../../src/support/observation.ts'
import { databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'

const textBytes = 3_000
const text = 'x'.repeat(textBytes)

/** A service whose job calls `run` for each new pet. */
async function open(database: string, run: (id: number) => void, config: Partial<Config> & { retry?: number } = {}) {
  const dropped: JobObservation[] = []
  const collect = (observation: unknown) => {
    const found = observation as JobObservation
    if (found.outcome === 'deadLettersDropped') dropped.push(found)
  }
  const { retry = 0, ...rest } = config
  const mail = job('mail', async (pet) => run(pet.id), { retry })
  const service = await createService({
    models: { pet: { attributes: { text: { type: 'string' } }, on: { created: mail } } },
    attributes: { createdAt: false, updatedAt: false },
    database,
    runJobs: true,
    onError() {},
    logger: { info() {}, warn() {}, error: collect },
    ...rest,
  } as Config)
  const pets = service.system.records.pet as NonNullable<typeof service.system.records.pet>
  return { service, pets, dropped, [Symbol.asyncDispose]: () => service.close() }
}

const summary = async (service: Service) => (await service.jobs.list())[0]
const fail = () => {
  throw new Error('no mail today')
}
const sum = (observations: readonly JobObservation[]) => observations.reduce((total, { count = 0 }) => total + count, 0)

for (const { name, missing, open: openDatabase } of databases) {
  describe(`the bytes of events of jobs on ${name}`, { skip: missing ?? false }, () => {
    test('above deadLetterKeepBytes the oldest dead letters are dropped, which is reported', async () => {
      await using database = await openDatabase()
      const keptBytes = 20_000
      await using opened = await open(database.url, fail, { limits: { deadLetterKeepBytes: keptBytes } })
      const { service, pets, dropped } = opened
      for (let id = 1; id <= 30; id++) await pets.create({ id, text })
      // The last ones may be stored after the last trim.
      const most = Math.floor((keptBytes * (1 + 1 / 8)) / textBytes)
      await eventually(async () => {
        const { deadLetters = 0 } = (await summary(service)) ?? {}
        return sum(dropped) + deadLetters === 30 && deadLetters <= most
      })
      const letters = await service.jobs.deadLetters()
      assert.ok(letters.length >= 5, `${letters.length} letters`)
      assert.deepEqual(
        letters.map(({ event }) => event.id),
        Array.from(letters, (_, index) => 30 - letters.length + index + 1),
      )
      await eventually(async () => (await summary(service))?.lostAt !== undefined)
    })

    test('above maxJobBacklogBytes a job reads no further changes until some were handled', async () => {
      await using database = await openDatabase()
      const clock = new ManualClock()
      const ran = new Set<number>()
      const tried = new Set<number>()
      let isAway = true
      const run = (id: number) => {
        tried.add(id)
        if (isAway) fail()
        ran.add(id)
      }
      const limits = { maxJobBacklogBytes: 10_000 }
      await using opened = await open(database.url, run, { retry: 1_000, clock, limits })
      const { service, pets } = opened
      for (let id = 1; id <= 30; id++) {
        await pets.create({ id, text })
        await eventually(() => tried.has(id) || tried.size === 4)
        await eventually(async () => (await summary(service))?.waiting === tried.size)
      }
      await setTimeout(100)
      assert.deepEqual([...tried], [1, 2, 3, 4])
      isAway = false
      await eventually(() => {
        clock.advance(5_000)
        return ran.size === 30
      })
    })
  })
}

for (const { name, missing, open: openDatabase } of databases.filter(({ name }) => name !== 'memory')) {
  test(`a lower deadLetterKeepBytes drops thousands of dead letters in parts on ${name}`, {
    skip: missing ?? false,
  }, async () => {
    await using database = await openDatabase()
    const count = 1_500
    {
      await using opened = await open(database.url, fail)
      for (let created = 0; created < count; created += 500)
        await opened.pets.createMany(Array.from({ length: 500 }, () => ({ text: 'x'.repeat(500) })))
      await eventually(async () => (await summary(opened.service))?.deadLetters === count)
    }
    await using opened = await open(database.url, fail, { limits: { deadLetterKeepBytes: 900_000 } })
    await opened.pets.create({ text: 'last' })
    const left = await eventually(async () => {
      const letters = (await summary(opened.service))?.deadLetters ?? 0
      return sum(opened.dropped) + letters === count + 1 && letters < count && letters
    })
    assert.ok(left > 1_000 && left < 1_400, `${left} are left`)
  })
}

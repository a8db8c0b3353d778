import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService, job, schedule } from '../../src/index.ts'
import { databaseNamed, databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { connected } from '../support/postgres.ts'

/* What was stored with times of a clock that was set back since. */

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const pet = { attributes: { name: { type: 'string' } } } as const

const stored = databases.filter(({ name }) => name !== 'memory')

/** What `isSeen` sees as this time passes. */
async function passes(clock: ManualClock, ms: number, isSeen: () => boolean): Promise<boolean> {
  for (let step = 0; step < 20 && !isSeen(); step++) {
    clock.advance(ms / 20)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return isSeen()
}

/** Resolves when it is seen: after this time at most, however long the service takes for what is due. */
async function within(clock: ManualClock, ms: number, isSeen: () => boolean): Promise<void> {
  await passes(clock, ms, isSeen)
  await eventually(() => {
    clock.advance(0)
    return isSeen()
  })
}

async function execute(url: string, text: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    using program = new DatabaseSync(url.replace('sqlite:', ''))
    program.exec(text)
  } else {
    await using program = await connected(url)
    await program.query(text)
  }
}

for (const { name, missing, open } of stored) {
  describe(`a clock that is set back, with jobs on ${name}`, { skip: missing ?? false }, () => {
    const openJobs = async (url: string, clock: ManualClock, runs: string[], isFailing = false) => {
      const mail = job('mail', async ({ name }, { attempt }) => {
        runs.push(`${name} ${attempt}`)
        if (isFailing || attempt === 1) throw new Error('no mail today')
      })
      return createService({
        database: url,
        models: { pet: { ...pet, on: { created: mail } } },
        clock,
        runJobs: true,
        onError() {},
      })
    }

    test('a failed run is repeated after its own delay', async () => {
      await using database = await open()
      const clock = new ManualClock()
      const runs: string[] = []
      await using service = await openJobs(database.url, clock, runs)
      await service.system.records.pet.create({ name: 'Rex' })
      await eventually(async () => (await service.jobs.list())[0]?.waiting === 1)
      clock.advance(-day)
      await within(clock, minute, () => runs.includes('Rex 2'))
    })

    test('a failed run is repeated by the next process within the longest delay', async () => {
      await using database = await open()
      const clock = new ManualClock()
      const runs: string[] = []
      {
        await using service = await openJobs(database.url, clock, runs, true)
        await service.system.records.pet.create({ name: 'Rex' })
        await eventually(async () => (await service.jobs.list())[0]?.waiting === 1)
      }
      clock.advance(-day)
      await using service = await openJobs(database.url, clock, runs)
      // The delay counts from when this process has read what waits, which it does before it runs anything.
      await service.system.records.pet.create({ name: 'Tom' })
      await eventually(() => {
        clock.advance(0)
        return runs.includes('Tom 1')
      })
      await within(clock, hour, () => runs.includes('Rex 2'))
    })

    for (const isReopened of [false, true])
      test(`a schedule runs at its next time from now${isReopened ? ', by the next process' : ''}`, async () => {
        await using database = await open()
        const clock = new ManualClock()
        const times: string[] = []
        const openSchedules = () =>
          createService({
            database: database.url,
            models: { pet },
            jobs: {
              cron: schedule(
                { cron: '*/10 * * * *', timezone: 'UTC' },
                ({ scheduledAt }) => void times.push(scheduledAt),
              ),
              every: schedule({ every: '10m' }, ({ scheduledAt }) => void times.push(scheduledAt)),
            },
            clock,
            runJobs: true,
            onError() {},
          })
        let service = await openSchedules()
        try {
          await within(clock, 11 * minute, () => times.length === 2)
          await eventually(async () => (await service.jobs.list()).every(({ waiting }) => waiting === 0))
          clock.advance(Date.parse('2026-01-05T12:10:00.000Z') - clock.now())
          // As clocks are corrected: what has run is not repeated.
          clock.advance(-20)
          assert.equal(await passes(clock, minute, () => times.length > 2), false)
          if (isReopened) {
            await service.close()
            clock.advance(-day)
            service = await openSchedules()
          } else clock.advance(-day)
          await eventually(async () => {
            clock.advance(0)
            const next = (await service.jobs.list()).map(({ nextRunAt }) => nextRunAt)
            return next.every((at) => at === '2026-01-04T12:20:00.000Z')
          })
          await within(clock, 11 * minute, () => times.length === 4)
          const [first, second, ...others] = times
          assert.deepEqual([first, second], Array(2).fill('2026-01-05T12:10:00.000Z'))
          assert.deepEqual(others, Array(2).fill('2026-01-04T12:20:00.000Z'))
        } finally {
          await service.close()
        }
      })

    test('a lease that ends too late counts as free', async () => {
      await using database = await open()
      const clock = new ManualClock()
      const runs: string[] = []
      await (await openJobs(database.url, clock, runs)).close()
      const now = name === 'sqlite' ? clock.now() : Date.now()
      await execute(database.url, `update keelson_jobs set owner = 'gone', lease_until = ${now + 40_000}`)
      await using service = await openJobs(database.url, clock, runs)
      await service.system.records.pet.create({ name: 'Rex' })
      assert.equal(await passes(clock, 6_000, () => runs.length > 0), false)
      await execute(database.url, `update keelson_jobs set owner = 'gone', lease_until = ${now + day}`)
      await within(clock, 6_000, () => runs.length > 0)
    })
  })
}

test('a holder renews its lease when the clock was set back', async () => {
  await using database = await databaseNamed('sqlite').open()
  const clock = new ManualClock()
  await using _service = await createService({
    database: database.url,
    models: { pet: { ...pet, on: { created: job('mail', () => {}) } } },
    clock,
    runJobs: true,
  })
  using program = new DatabaseSync(database.url.replace('sqlite:', ''))
  const until = () => Number(program.prepare('select lease_until from keelson_jobs').get()?.lease_until)
  await eventually(() => until() > clock.now())
  clock.advance(-day)
  await within(clock, 6_000, () => until() < clock.now() + minute)
})

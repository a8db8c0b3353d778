import assert from 'node:assert/strict'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { action, createService, type EventJobContext, job, schedule } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { Config } from '../../src/service/config/config.ts'
import { databaseNamed, databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'

const attributes = { createdAt: false, updatedAt: false } as const
const petAttributes = { name: { type: 'string', required: true, unique: true }, age: { type: 'number' } } as const

interface Run {
  readonly verb: string
  readonly record: JsonObject
  readonly previous?: JsonObject | undefined
  readonly attempt: number
}

/** A job that records its runs, and fails if the test says so. */
function remembering(shouldFail: (run: Run) => boolean = () => false) {
  const runs: Run[] = []
  const remember = async (record: JsonObject, { event, attempt }: EventJobContext) => {
    const run: Run = { verb: event.verb, record, attempt, ...(event.previous && { previous: event.previous }) }
    runs.push(run)
    await undefined
    if (shouldFail(run)) throw new Error('no mail today')
  }
  return { runs, remember }
}

const quiet = { onError: () => {} }

async function open(database: string, jobs: Parameters<typeof petsWith>[0], config: Partial<Config> = {}) {
  return createService({ ...petsWith(jobs), database, attributes, runJobs: true, ...quiet, ...config } as Config)
}

const petsWith = (on: object) => ({ models: { pet: { attributes: petAttributes, on } } })

const petsOf = (service: Awaited<ReturnType<typeof open>>) =>
  service.system.records.pet as NonNullable<typeof service.system.records.pet>

const sqlite = databaseNamed('sqlite')

test('a start of the jobs that has failed is tried again', { skip: sqlite.missing ?? false }, async () => {
  await using database = await sqlite.open()
  const { runs, remember } = remembering()
  const config = { ...petsWith({ created: job('all', remember) }), database: database.url, attributes, ...quiet }
  await (await createService({ ...petsWith({}), database: database.url, attributes } as Config)).close()
  await using service = await createService({ ...config, migrate: 'safe' } as Config)
  await assert.rejects(service.listen(0), /Jobs need the tables/)
  await (await createService({ ...config, runJobs: true } as Config)).close()
  await service.listen(0)
  await petsOf(service).create({ name: 'Rex' })
  await eventually(() => runs.length === 1)
})

test('when the service is closed, runs end while requests are still answered', async () => {
  const ended = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const waits = async (_: unknown, { signal }: EventJobContext) => {
    began.resolve()
    await once(signal, 'abort')
    ended.resolve()
  }
  let isAsked = false
  const run = async () => {
    isAsked = true
    await ended.promise
    return 'answered'
  }
  const service = await createService({
    ...petsWith({ created: job('waits', waits) }),
    database: 'sqlite::memory:',
    attributes,
    actions: { last: action({ on: 'service', access: true, transaction: false, run }) },
  } as Config)
  const { url } = await service.listen(0)
  await petsOf(service).create({ name: 'Rex' })
  await began.promise
  const answer = fetch(`${url}/last`, { method: 'POST' })
  await eventually(() => isAsked)
  await service.close()
  assert.equal(await (await answer).json(), 'answered')
})

for (const { name, missing, open: openDatabase } of databases) {
  describe(`jobs on ${name}`, { skip: missing ?? false }, () => {
    test('run after the commit of what they are declared for, in the order of each record', async () => {
      await using database = await openDatabase()
      const { runs, remember } = remembering()
      const all = job('all', remember)
      await using service = await open(database.url, { created: all, updated: [all], destroyed: all })
      const pets = petsOf(service)
      await pets.create({ id: 1, name: 'Rex' })
      await pets.update(1, { age: 3 })
      await assert.rejects(pets.create({ id: 2, name: 'Rex' }))
      await pets.destroy(1)
      await eventually(() => runs.length === 3)
      const rex = { id: 1, name: 'Rex', age: null }
      assert.deepEqual(runs, [
        { verb: 'created', record: rex, attempt: 1 },
        { verb: 'updated', record: { ...rex, age: 3 }, previous: rex, attempt: 1 },
        { verb: 'destroyed', record: { ...rex, age: 3 }, previous: { ...rex, age: 3 }, attempt: 1 },
      ])
    })

    test('a failed run is repeated later; meanwhile the record waits and others do not', async () => {
      await using database = await openDatabase()
      const clock = new ManualClock()
      const { runs, remember } = remembering(({ record, attempt }) => record.name === 'Rex' && attempt < 3)
      const all = job('all', remember)
      await using service = await open(database.url, { created: all, updated: all }, { clock })
      const pets = petsOf(service)
      await pets.create({ id: 1, name: 'Rex' })
      await pets.update(1, { name: 'Réx' })
      await pets.create({ id: 2, name: 'Tom' })
      const namesRun = () => runs.map(({ record, attempt }) => `${record.name} ${attempt}`)
      const waiting = async (count: number) => (await service.jobs.list())[0]?.waiting === count
      await eventually(() => waiting(2))
      await eventually(() => runs.length === 2)
      assert.deepEqual(namesRun(), ['Rex 1', 'Tom 1'])
      await eventually(() => {
        clock.advance(10_000)
        return runs.length === 5
      })
      assert.deepEqual(namesRun(), ['Rex 1', 'Tom 1', 'Rex 2', 'Rex 3', 'Réx 1'])
      await eventually(() => waiting(0))
    })

    test('after its last attempt an event is a dead letter, which can be retried and dropped', async () => {
      await using database = await openDatabase()
      const clock = new ManualClock()
      let fails = true
      const { runs, remember } = remembering(() => fails)
      await using service = await open(database.url, { created: job('mail', remember, { retry: 1 }) }, { clock })
      const pets = petsOf(service)
      await pets.create({ id: 1, name: 'Rex' })
      await pets.create({ id: 2, name: 'Tom' })
      const dead = async (count: number) => {
        clock.advance(10_000)
        return (await service.jobs.list())[0]?.deadLetters === count
      }
      await eventually(() => dead(2))
      const letters = await service.jobs.deadLetters({ name: 'mail' })
      assert.deepEqual(
        letters.map(({ job, attempts, error }) => ({ job, attempts, error })),
        [
          { job: 'mail', attempts: 2, error: 'no mail today' },
          { job: 'mail', attempts: 2, error: 'no mail today' },
        ],
      )
      assert.equal(letters[0]?.event.verb, 'created')
      fails = false
      assert.equal(await service.jobs.retry({ id: letters[0]?.id }), 1)
      await eventually(() => dead(1))
      await eventually(() => {
        clock.advance(10_000)
        return runs.length === 5
      })
      assert.deepEqual(runs.at(-1), { verb: 'created', record: { id: 1, name: 'Rex', age: null }, attempt: 1 })
      assert.equal(await service.jobs.drop({ id: 999 }), 0)
      // Ignored, each of these would drop all.
      for (const wrong of [{ job: 'mail' }, { id: undefined }, { name: undefined }, { id: '1' }, 1, 'mail', [], null])
        await assert.rejects(service.jobs.drop(wrong as never), { code: 'E_BAD_REQUEST' })
      assert.equal(await service.jobs.drop(), 1)
      assert.deepEqual(await service.jobs.deadLetters(), [])
    })

    test('whatever a run throws, its event becomes a dead letter and the next one runs', async () => {
      await using database = await openDatabase()
      const thrown = [
        new Error('no\0mail'),
        Object.assign(new Error('no mail'), { message: { code: 5 } }),
        Object.create(null),
        Symbol('no mail'),
        undefined,
      ]
      const runs: unknown[] = []
      const fail = async ({ id }: { id: number }) => {
        runs.push(id)
        throw thrown[id - 1]
      }
      await using service = await open(database.url, { created: job('mail', fail, { retry: 0 }) })
      for (const [index] of thrown.entries()) await petsOf(service).create({ id: index + 1, name: `Rex ${index}` })
      await eventually(async () => (await service.jobs.list())[0]?.deadLetters === thrown.length)
      assert.deepEqual(runs, [1, 2, 3, 4, 5])
      assert.deepEqual(
        (await service.jobs.deadLetters()).map(({ error }) => error),
        ['no\ufffdmail', '[object Object]', 'an object without a text', 'Symbol(no mail)', 'undefined'],
      )
    })

    test('a schedule runs when it is due; times that passed unseen count as one', async () => {
      await using database = await openDatabase()
      const clock = new ManualClock()
      const times: string[] = []
      const jobs = { report: schedule({ every: '10m' }, ({ scheduledAt }) => void times.push(scheduledAt)) }
      const models = { pet: { attributes: petAttributes } }
      await using service = await createService({
        models,
        jobs,
        database: database.url,
        clock,
        runJobs: true,
        ...quiet,
      })
      assert.equal((await service.jobs.list())[0]?.nextRunAt, '2026-01-05T12:10:00.000Z')
      const ran = (count: number) =>
        eventually(() => {
          clock.advance(0)
          return times.length === count
        })
      clock.advance(599_999)
      clock.advance(1)
      await ran(1)
      await eventually(async () => (await service.jobs.list())[0]?.waiting === 0)
      clock.advance(3_600_000)
      await ran(2)
      assert.deepEqual(times, ['2026-01-05T12:10:00.000Z', '2026-01-05T12:20:00.000Z'])
      await eventually(async () => (await service.jobs.list())[0]?.nextRunAt === '2026-01-05T13:20:00.000Z')
    })
  })
}

test('a schedule goes on after a dead letter, also after a retried one', async () => {
  await using database = await databaseNamed('memory').open()
  const clock = new ManualClock()
  let runs = 0
  let fails = true
  const tick = schedule(
    { every: '10m' },
    () => {
      runs++
      if (fails) throw new Error('no report today')
    },
    { retry: 1 },
  )
  const models = { pet: { attributes: petAttributes } }
  await using service = await createService({
    models,
    jobs: { tick },
    database: database.url,
    clock,
    runJobs: true,
    ...quiet,
  })
  const state = async () => (await service.jobs.list())[0]
  for (const deadLetters of [1, 2]) {
    clock.advance(600_000)
    await eventually(async () => {
      clock.advance(5_000)
      return (await state())?.deadLetters === deadLetters
    })
    assert.equal((await state())?.waiting, 0)
  }
  assert.equal(runs, 4)
  assert.equal(await service.jobs.retry({ id: (await service.jobs.deadLetters())[0]?.id }), 1)
  await eventually(async () => {
    clock.advance(5_000)
    return (await state())?.deadLetters === 2 && runs === 6
  })
  fails = false
  clock.advance(600_000)
  await eventually(() => {
    clock.advance(0)
    return runs === 7
  })
})

test('a job whose backlog became dead letters goes on with later events', async () => {
  await using database = await databaseNamed('memory').open()
  const clock = new ManualClock()
  let isAway = true
  const { runs, remember } = remembering(() => isAway)
  const mail = job('mail', remember, { retry: 1 })
  await using service = await open(database.url, { created: mail }, { clock, limits: { maxJobBacklog: 2 } })
  for (const name of ['Rex', 'Tom', 'Eva']) await petsOf(service).create({ name })
  await eventually(async () => {
    clock.advance(5_000)
    return (await service.jobs.list())[0]?.deadLetters === 3
  })
  isAway = false
  await petsOf(service).create({ name: 'Ada' })
  await eventually(() => {
    clock.advance(5_000)
    return runs.at(-1)?.record.name === 'Ada'
  })
})

test('a time limit longer than any timer of Node lets a run end', async () => {
  const { runs, remember } = remembering()
  const slow = async (record: JsonObject, context: EventJobContext) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    if (!context.signal.aborted) await remember(record, context)
  }
  const limits = { jobTimeoutMs: 2 ** 31 }
  await using service = await open('memory:', { created: job('mail', slow, { retry: 0 }) }, { limits })
  await petsOf(service).create({ name: 'Rex' })
  await eventually(async () => runs.length === 1 || (await service.jobs.list())[0]?.deadLetters === 1)
  assert.equal(runs.length, 1)
})

describe('the progress of a job', () => {
  for (const { name, missing, open: openDatabase } of databases.filter(({ name }) => name !== 'memory')) {
    test(`is stored: nothing is lost and nothing is repeated between two processes on ${name}`, {
      skip: missing ?? false,
    }, async () => {
      await using database = await openDatabase()
      const first = remembering()
      {
        await using service = await open(database.url, { created: job('mail', first.remember) })
        await petsOf(service).create({ id: 1, name: 'Rex' })
        await eventually(() => first.runs.length === 1)
      }
      {
        await using service = await open(database.url, { created: job('mail', first.remember) }, { runJobs: false })
        await petsOf(service).create({ id: 2, name: 'Tom' })
      }
      const second = remembering()
      const late = remembering()
      const early = remembering()
      const on = {
        created: [
          job('mail', second.remember),
          job('late', late.remember),
          job('early', early.remember, { from: 'beginning' }),
        ],
      }
      await using service = await open(database.url, on)
      await petsOf(service).create({ id: 3, name: 'Eva' })
      const ids = ({ runs }: typeof first) => runs.map(({ record }) => record.id)
      await eventually(() => second.runs.length === 2 && late.runs.length === 1 && early.runs.length === 3)
      assert.deepEqual([first, second, late, early].map(ids), [[1], [2, 3], [3], [1, 2, 3]])
    })
  }
})

test('progress that cannot be stored is reported once, until it was stored', async () => {
  await using database = await databaseNamed('sqlite').open()
  using program = new DatabaseSync(database.url.replace('sqlite:', ''))
  // Long enough for two attempts to store: the second follows a second after the first.
  const locking = job('mail', async () => {
    program.exec('begin immediate')
    setTimeout(() => program.exec('commit'), 1_500)
  })
  const reported: string[] = []
  const onError = (error: unknown) => reported.push(String(error))
  const limits = { busyTimeoutMs: 100, jobLeaseMs: 600_000 }
  await using service = await open(database.url, { created: locking }, { onError, limits })
  const position = () => program.prepare('select position from keelson_jobs').get()?.position
  const locked = 'Error: Job mail: database is locked'
  for (const outages of [[locked], [locked, locked]]) {
    const before = position()
    await petsOf(service).create({ name: `Rex ${outages.length}` })
    await eventually(() => !program.isTransaction && position() !== before)
    assert.deepEqual(reported, outages)
  }
})

describe('writes by other programs', () => {
  test('run jobs as well: SQLite', async () => {
    await using database = await databaseNamed('sqlite').open()
    const { runs, remember } = remembering()
    await using _service = await open(database.url, { created: job('mail', remember) })
    const program = new DatabaseSync(database.url.replace('sqlite:', ''))
    program.exec(`begin; insert into pet (name) values ('gone'); rollback; insert into pet (name) values ('Rex')`)
    program.close()
    await eventually(() => runs.length === 1)
    assert.deepEqual(runs[0]?.record, { id: 1, name: 'Rex', age: null })
  })
})

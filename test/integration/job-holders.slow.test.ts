import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createService, job } from '../../src/index.ts'
import { openService } from '../../src/service/open-service.ts'
import { SqlJobStore } from '../../src/storage/sql-job-store.ts'
import type { JobObservation } from '../../src/support/observation.ts'
import { Command, folder, root } from '../support/command.ts'
import { databases } from '../support/databases.ts'
import { startPostgres } from '../support/embedded-postgres.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { newFile } from '../support/sqlite.ts'

/* What a job does when its process loses it, is behind, or ends while it runs. */

const petAttributes = { createdAt: false, updatedAt: false, name: { type: 'string' } } as const

/** A job that remembers its runs; one of them may be held until the test goes on. */
class HeldJob {
  readonly runs: string[] = []
  readonly aborted: string[] = []
  #held: string | undefined
  #gate = Promise.withResolvers<void>()

  readonly run = async ({ name }: { name: string }, { signal }: { signal: AbortSignal }): Promise<void> => {
    this.runs.push(name)
    signal.addEventListener('abort', () => this.aborted.push(name))
    if (name === this.#held) await this.#gate.promise
  }

  /** The run of the record of this name ends when the test says so. */
  hold(name: string): PromiseWithResolvers<void> {
    this.#held = name
    this.#gate = Promise.withResolvers()
    return this.#gate
  }
}

const open = (database: string, held: HeldJob, config: object = {}) =>
  createService({
    database,
    runJobs: true,
    onError: () => {},
    models: { pet: { attributes: petAttributes, on: { created: job('mail', held.run) } } },
    limits: { jobLeaseMs: 300, ...('limits' in config ? (config.limits as object) : {}) },
    ...('clock' in config && { clock: config.clock as ManualClock }),
  })

/** The server processes that hold the lock of the jobs, of which there is at most one. */
const lockOf = `select pid from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`

const petsOf = (service: Awaited<ReturnType<typeof open>>) => service.system.records.pet

describe('a lock that is lost', { skip: missingPostgres ?? false }, () => {
  for (const notices of [true, false]) {
    const what = notices ? 'the first aborts its run' : 'what the first still stores is refused'
    test(`another process takes the job over, and ${what}`, async (t) => {
      await using database = await freshDatabase((await postgresForTests()).url)
      // Its clock stands still: it does not look at its lock by itself.
      const clock = new ManualClock()
      const first = new HeldJob()
      const second = new HeldJob()
      const gate = first.hold('Rex')
      await using losing = await open(database.url, first, { clock })
      await eventually(async () => (await database.query(lockOf)).length === 1)
      {
        await using other = await open(database.url, second)
        await petsOf(other).create({ name: 'Rex' })
        await eventually(() => first.runs.length === 1)
        const ended = await database.query(`select pg_terminate_backend(pid) from (${lockOf}) as holders`)
        assert.equal(ended.length, 1)
        await eventually(() => second.runs.length === 1)
        assert.deepEqual(first.aborted, [])
        if (notices) {
          await eventually(() => {
            clock.advance(1_000)
            return first.aborted.length === 1
          })
        }
        const { mock: saves } = t.mock.method(SqlJobStore.prototype, 'save')
        gate.resolve()
        // Until then it would run later events as well.
        const isRefused = async () => (await Promise.all(saves.calls.map(({ result }) => result))).includes('fenced')
        if (!notices) await eventually(isRefused)
        await petsOf(other).create({ name: 'Tom' })
        await eventually(() => second.runs.length === 2)
        for (let turn = 0; turn < 20; turn++) {
          clock.advance(1_000)
          await losing.jobs.list()
        }
        assert.deepEqual([first.runs, second.runs], [['Rex'], ['Rex', 'Tom']])
      }
      await petsOf(losing).create({ name: 'Eva' })
      await eventually(() => {
        clock.advance(1_000)
        return first.runs.length === 2
      })
      assert.deepEqual(first.runs, ['Rex', 'Eva'])
      assert.deepEqual(await losing.jobs.deadLetters(), [])
    })
  }
})

describe('a crash of PostgreSQL', { skip: missingPostgres ?? false }, () => {
  test('repeats nothing that was stored, and loses nothing', async (t) => {
    const own = await startPostgres().catch((error: Error) => error)
    if (own instanceof Error) return t.skip(own.message)
    try {
      await using database = await freshDatabase(own.url)
      const stored = () => database.query('select 1 from keelson_jobs where position <> $1', [began])
      let began = ''
      const held = new HeldJob()
      const crash = async () => {
        const otherProgram = await database.connect()
        const backend = (await otherProgram.query('select pg_backend_pid()'))[0]?.[0]
        process.kill(Number(backend), 'SIGKILL')
      }
      const create = (service: Awaited<ReturnType<typeof open>>, name: string) =>
        eventually(() =>
          petsOf(service)
            .create({ name })
            .catch(() => undefined),
        )
      {
        await using service = await open(database.url, held)
        began = String((await database.query('select position from keelson_jobs'))[0]?.[0])
        await create(service, 'Rex')
        await eventually(async () => held.runs.includes('Rex') && (await stored()).length === 1)
        await crash()
        await create(service, 'Tom')
        await eventually(() => held.runs.includes('Tom'))
        await create(service, 'Eva')
        await eventually(() => held.runs.includes('Eva'))
      }
      const stopped = held.runs.length
      await crash()
      await using service = await eventually(() => open(database.url, held).catch(() => undefined))
      await create(service, 'Bob')
      await eventually(() => held.runs.includes('Bob'))
      // What was run when the server crashed, and was not stored, is repeated.
      assert.deepEqual([...new Set(held.runs)], ['Rex', 'Tom', 'Eva', 'Bob'])
      assert.equal(held.runs.lastIndexOf('Rex'), 0)
      assert.ok(held.runs.lastIndexOf('Eva') < stopped)
      const otherProgram = await database.connect()
      assert.deepEqual(await otherProgram.query('select lost_at from keelson_jobs'), [[null]])
    } finally {
      own.stop()
    }
  })
})

test('a lease that could not be renewed in time is taken again once the database is free', async () => {
  const path = newFile()
  const held = new HeldJob()
  await using service = await open(`sqlite:${path}`, held, { limits: { busyTimeoutMs: 100 } })
  await petsOf(service).create({ name: 'Rex' })
  await eventually(() => held.runs.length === 1)
  {
    using other = new DatabaseSync(path)
    other.exec('begin immediate')
    await setTimeout(1_000) // a lease of 300 ms, and what waits for the lock
    other.exec('rollback')
  }
  await petsOf(service).create({ name: 'Tom' })
  await eventually(() => held.runs.includes('Tom'))
  // The first run is repeated when the lock was taken before its end was stored.
  assert.deepEqual([...new Set(held.runs)], ['Rex', 'Tom'])
})

describe('writes by other programs', { skip: missingPostgres ?? false }, () => {
  test('run jobs as well: PostgreSQL', async () => {
    await using database = await freshDatabase((await postgresForTests()).url)
    const seen = new HeldJob()
    await using _service = await open(database.url, seen)
    await database.query('begin')
    await database.query(`insert into pet (name) values ('gone')`)
    await database.query('rollback')
    await database.query(`insert into pet (name) values ('Rex'), ('Tom')`)
    await eventually(() => seen.runs.length === 2)
    assert.deepEqual(seen.runs, ['Rex', 'Tom'])
  })
})

for (const { name, missing, open: openDatabase } of databases.filter(({ name }) => name !== 'memory')) {
  describe(`a job that is behind on ${name}`, { skip: missing ?? false }, () => {
    test('holds the log up to bytes of its own; above them events are lost, which is said', async () => {
      await using database = await openDatabase()
      const held = new HeldJob()
      const gate = held.hold('first')
      await using service = await openService({
        database: database.url,
        runJobs: true,
        onError: () => {},
        models: { pet: { attributes: petAttributes, on: { created: job('mail', held.run) } } },
      })
      const { changes } = service
      const keep = { ageMs: 1e9, rows: 1e9 }
      const trim = (bytes: number) => changes.trim({ ...keep, bytes: 1_000, forJobs: { ...keep, bytes } })
      const isKept = async () => {
        const batch = await changes.read(await changes.tail(), 1_000)
        return batch !== 'reset' && batch.changes.some(({ after }) => after?.name === 'late 0')
      }
      await service.records.get('pet')?.create({ name: 'first' })
      await eventually(() => held.runs.length === 1)
      for (let list = 0; list < 6; list++)
        await service.records
          .get('pet')
          ?.createMany(Array.from({ length: 200 }, (_, index) => ({ name: `late ${list * 200 + index}` })))
      await trim(1e9)
      assert.ok(await isKept())
      await eventually(async () => {
        await trim(1_000)
        return !(await isKept())
      })
      gate.resolve()
      await eventually(async () => (await service.jobs.list())[0]?.lostAt)
    })

    test('holds the log up to a bound; above it events are lost, which is said', async () => {
      await using database = await openDatabase()
      const observed: JobObservation[] = []
      const held = new HeldJob()
      const gate = held.hold('first')
      const limits = { logKeepRows: 5, jobLogKeepRows: 30, logKeepMs: 1e9, jobLogKeepMs: 1e9 }
      const collect = (observation: unknown) => void observed.push(observation as JobObservation)
      await using service = await openService({
        database: database.url,
        runJobs: true,
        onError: () => {},
        logger: { debug() {}, info: collect, warn: collect, error: collect },
        models: { pet: { attributes: petAttributes, on: { created: job('mail', held.run) } } },
      })
      const { changes } = service
      const pets = service.records.get('pet')
      const trim = () =>
        changes.trim({
          ageMs: limits.logKeepMs,
          rows: limits.logKeepRows,
          forJobs: { ageMs: limits.jobLogKeepMs, rows: limits.jobLogKeepRows },
        })
      const create = async (prefix: string, count: number) => {
        for (let index = 0; index < count; index++) await pets?.create({ name: `${prefix} ${index}` })
      }
      const lost = async () => (await service.jobs.list())[0]?.lostAt

      await pets?.create({ name: 'first' })
      await eventually(() => held.runs.length === 1)
      await create('kept', 20)
      await trim()
      gate.resolve()
      await eventually(() => held.runs.length === 21)
      assert.equal(await lost(), undefined)

      const again = held.hold('second')
      await pets?.create({ name: 'second' })
      await eventually(() => held.runs.at(-1) === 'second')
      // More than a process reads ahead.
      for (let list = 0; list < 6; list++)
        await pets?.createMany(Array.from({ length: 200 }, (_, index) => ({ name: `late ${list * 200 + index}` })))
      await create('last', 30)
      // On PostgreSQL a transaction that runs on the server meanwhile delays it.
      await eventually(async () => {
        await trim()
        const batch = await changes.read(await changes.tail(), 100)
        return batch !== 'reset' && batch.changes.length === 30
      })
      again.resolve()
      await eventually(lost)
      await create('new', 1)
      await eventually(() => held.runs.at(-1) === 'new 0')
      const late = held.runs.flatMap((name) => (name.startsWith('late') ? [Number(name.slice(5))] : []))
      assert.deepEqual(
        late,
        [...new Set(late)].toSorted((a, b) => a - b),
      )
      assert.ok(late.length < 1_200, `all ${late.length} are left`)
      const last = held.runs.filter((name) => name.startsWith('last'))
      assert.deepEqual(
        last,
        Array.from({ length: 30 }, (_, index) => `last ${index}`),
      )
      assert.equal(observed.filter(({ outcome }) => outcome === 'eventsLost').length, 1)
    })
  })
}

for (const { name, missing, open: openDatabase } of databases.filter(({ name }) => name !== 'memory')) {
  describe(`a service that stops while a job runs on ${name}`, { skip: missing ?? false }, () => {
    test('waits for its end, and stores the position', async () => {
      await using database = await openDatabase()
      const held = new HeldJob()
      const gate = held.hold('Rex')
      const service = await open(database.url, held)
      await petsOf(service).create({ name: 'Rex' })
      await eventually(() => held.runs.length === 1)
      const closed = service.close()
      await eventually(() => held.aborted.length === 1)
      gate.resolve()
      await closed
      const next = new HeldJob()
      await using again = await open(database.url, next)
      await petsOf(again).create({ name: 'Tom' })
      await eventually(() => next.runs.includes('Tom'))
      assert.deepEqual(next.runs, ['Tom'])
    })

    test('waits no longer than its limit; what has not ended runs again', async () => {
      await using database = await openDatabase()
      const held = new HeldJob()
      held.hold('Rex')
      const service = await open(database.url, held, { limits: { stopTimeoutMs: 20 } })
      await petsOf(service).create({ name: 'Rex' })
      await eventually(() => held.runs.length === 1)
      await service.close()
      const next = new HeldJob()
      await using again = await open(database.url, next)
      await petsOf(again).create({ name: 'Tom' })
      await eventually(() => next.runs.includes('Tom'))
      assert.deepEqual(next.runs, ['Rex', 'Tom'])
    })
  })
}

test('a run that ignores its signal does not keep a process whose service has stopped', async () => {
  const source = JSON.stringify(join(root, 'src/index.ts'))
  const cwd = folder({
    'stopping.mjs': `import { createService, job } from ${source}
      const runs = Promise.withResolvers()
      const mail = job('mail', () => { runs.resolve(); return new Promise(() => {}) })
      const service = await createService({
        database: 'memory:', runJobs: true, limits: { stopTimeoutMs: 10 },
        models: { pet: { attributes: { name: { type: 'string' } }, on: { created: mail } } },
      })
      await service.system.records.pet.create({ name: 'Rex' })
      await runs.promise
      await service.close()
      console.log('closed')`,
  })
  const { code, stdout } = await Command.run([], { file: join(cwd, 'stopping.mjs') })
  assert.deepEqual([code, stdout], [0, 'closed\n'])
})

import assert from 'node:assert/strict'
import { after, describe, mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError } from '../../src/model/config-error.ts'
import type { EncodedJson } from '../../src/protocol/json.ts'
import type { ServiceRequest } from '../../src/protocol/request.ts'
import { system } from '../../src/protocol/requester.ts'
import { type OpenService, openService } from '../../src/service/open-service.ts'
import type { Driver } from '../../src/storage/driver.ts'
import { WriterLock } from '../../src/storage/postgres/writer-lock.ts'
import { SelfVersions } from '../../src/storage/self-versions.ts'
import { eventually } from '../support/eventually.ts'
import { type FreshDatabase, freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import { type UnreliableNetwork, unreliableNetwork } from '../support/unreliable-network.ts'

const models = {
  pet: { attributes: { createdAt: false, updatedAt: false, name: { type: 'string' }, turn: { type: 'number' } } },
} as const

/** Each committed change of the record has a larger number than the one before. */
const turns = `
  create sequence turns;
  create function take_turn() returns trigger language plpgsql as 'begin new.turn := nextval(''turns''); return new; end';
  create trigger take_turn before insert or update on pet for each row execute function take_turn();
`
/** A commit waits while another session has this lock. */
/** Not bound by the time for which a transaction waits for locks. */
const slowCommit = `
  create function wait_at_commit() returns trigger language plpgsql as 'begin
    set local lock_timeout = 0; perform pg_advisory_xact_lock(42); return null; end';
  create constraint trigger wait_at_commit after update on pet deferrable initially deferred for each row execute function wait_at_commit();
`
const waitsAtCommit = `select 1 from pg_locks where locktype = 'advisory' and objid = 42 and not granted`
const soleWriterLock = `select l.pid from pg_locks l where locktype = 'advisory' and classid = ${0x6b656c73} and objid = 1 and granted
  and database = (select oid from pg_database where datname = current_database())`

/** Ends half of the connections of the service. */
const ends = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name <> 'test' and backend_type = 'client backend' and random() < 0.5`

interface Opened extends AsyncDisposable {
  readonly database: FreshDatabase
  readonly network: UnreliableNetwork
  readonly service: OpenService
  readonly errors: Error[]
  /** The number that an answer has; undefined: it failed. */
  ask(path?: string): Promise<number | undefined>
  /** The number that is stored. */
  stored(): Promise<number>
  rename(name: string): Promise<number>
  /** Asks until an answer is given from memory. */
  keeps(): Promise<void>
}

const get = (path: string): ServiceRequest => ({ method: 'GET', path, query: '', headers: {}, site: 'none' })

/** Whether the answer to a question would be given from memory. */
function repeats(): Disposable & { readonly count: number } {
  const { of } = SelfVersions.prototype
  let count = 0
  const counted = mock.method(SelfVersions.prototype, 'of', function (this: SelfVersions, ...given) {
    const version = of.apply(this, given)
    if (version !== undefined) count++
    return version
  } satisfies typeof of)
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => counted.mock.restore(),
  }
}

describe('a service that is the only writer', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())

  async function open(): Promise<Opened> {
    const database = await freshDatabase(server?.url as string)
    const network = await unreliableNetwork(database.url)
    const errors: Error[] = []
    const config = {
      models,
      database: network.url,
      writers: 'self',
      onError: (error: unknown) => void errors.push(error as Error),
    } as const
    const service = await openService(config)
    await database.query(turns)
    await service.records.get('pet')?.create({ name: 'a' })
    const ask = async (path = '/pet/1') => {
      const { status, body } = await service.handle(get(path))
      if (status !== 200) return undefined
      const found = JSON.parse((body as EncodedJson).encoded)
      return [found].flat()[0].turn as number
    }
    return {
      database,
      network,
      service,
      errors,
      ask,
      stored: async () => Number((await database.query('select turn from pet where id = 1'))[0]?.[0]),
      rename: async (name) =>
        (await service.handle({ ...get('/pet/1'), method: 'PATCH', body: { name } as never })).status,
      async keeps() {
        using repeated = repeats()
        await eventually(async () => {
          const before = repeated.count
          await ask()
          return repeated.count > before
        })
        for (let count = 0; count < 3; count++) await ask()
      },
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]()
        await network[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }

  /** A write that is lost before its commit, and committed while it is asked for. */
  async function lateCommit(write: (opened: Opened) => Promise<unknown>): Promise<void> {
    await using opened = await open()
    const { database, network, ask, stored, keeps } = opened
    await database.query(slowCommit)
    await keeps()
    const before = await ask()
    const holder = await database.connect()
    await holder.query('select pg_advisory_lock(42)')
    const written = write(opened).catch(() => 'failed')
    // Past the limits of connections that are shared, where it would be ended by the server.
    await wait(600)
    await eventually(async () => (await database.query(waitsAtCommit)).length > 0)
    network.cut()
    assert.ok([503, 'failed'].includes((await written) as number))
    // Meanwhile the lock of the only writer is taken again.
    await eventually(async () => (await database.query(soleWriterLock)).length > 0)
    for (let count = 0; count < 20; count++) {
      await eventually(async () => (await ask()) === before)
      await wait(10)
    }
    await holder.query('select pg_advisory_unlock(42)')
    await eventually(async () => (await stored()) !== before)
    assert.equal(await ask(), await stored())
    await keeps()
    assert.equal(await ask(), await stored())
  }

  const lost = {
    'a write': ({ rename }: Opened) => rename('late'),
    'a transaction of the application': ({ service }: Opened) =>
      service.transaction(system, async (records) => {
        await records.get('pet')?.update(1, { name: 'late' } as never)
      }),
    'a batch': async ({ service }: Opened) => {
      const body = [{ method: 'PATCH', url: '/pet/1', body: { name: 'late' } }] as never
      return (await service.handle({ ...get('/batch'), method: 'POST', body })).status
    },
  }
  for (const [what, write] of Object.entries(lost))
    test(`shows the late commit of ${what} whose connection was lost`, () => lateCommit(write))

  /** A process whose connections are cut for good, as if it was killed, and one that is started in its place. */
  async function handOver(): Promise<void> {
    await using opened = await open()
    const { database, network, ask, stored, rename } = opened
    await database.query(slowCommit)
    const before = await ask()
    const holder = await database.connect()
    await holder.query('select pg_advisory_lock(42)')
    const written = rename('late')
    await wait(600)
    await eventually(async () => (await database.query(waitsAtCommit)).length > 0)
    await network.close()
    await written
    await using next = await openService({ models, database: database.url, writers: 'self' })
    const askNext = async () =>
      JSON.parse(((await next.handle(get('/pet/1'))).body as EncodedJson).encoded).turn as number
    for (let count = 0; count < 40; count++) {
      assert.equal(await askNext(), before)
      await wait(20)
    }
    await holder.query('select pg_advisory_unlock(42)')
    await eventually(async () => (await stored()) !== before)
    assert.equal(await askNext(), await stored())
  }

  test('shows the late commit of the process before it', handOver)

  test('would not, if it forgot the connection', async (t) => {
    t.after(() => mock.restoreAll())
    mock.method(WriterLock.prototype, 'forWriting', (connect: unknown) => connect)
    await assert.rejects(lateCommit(lost['a write']), { name: 'AssertionError' })
    await assert.rejects(handOver(), { name: 'AssertionError' })
  })

  /** Writes, reads, and connections that are cut or ended on the server: an answer is what was stored in the time of its request. */
  async function history(ms: number): Promise<number> {
    await using opened = await open()
    const { database, network, ask, rename } = opened
    const random = new Random(seed)
    using repeated = repeats()
    const failures: unknown[] = []
    let isOver = false
    const timer = setTimeout(() => (isOver = true), ms)
    const loop = async (work: () => Promise<unknown>) => {
      while (!isOver)
        await work().catch((error) => {
          failures.push(error)
          isOver = true
        })
    }
    const program = async () => {
      const connection = await database.connect()
      await connection.query(`set application_name = 'test'`)
      return connection
    }
    const reader = async () => {
      const { query } = await program()
      const stored = async () => Number((await query('select turn from pet where id = 1'))[0]?.[0])
      await loop(async () => {
        const before = await stored()
        const path = random.pick(['/pet/1', '/pet'])
        const told = await ask(path)
        const after = await stored()
        if (told !== undefined && (told < before || told > after))
          assert.fail(`${path} had ${told}, while ${before} to ${after} were stored`)
      })
    }
    const writer = async () =>
      loop(async () => {
        await rename(`${random.next()}`)
        await wait(random.below(60))
      })
    const breaker = async () => {
      const { query } = await program()
      await loop(async () => {
        await wait(300 + random.below(1_500))
        if (random.chance(0.5)) network.cut()
        else await query(ends)
      })
    }
    await Promise.all([reader(), reader(), reader(), writer(), writer(), breaker()])
    clearTimeout(timer)
    if (failures.length > 0) throw failures[0]
    return repeated.count
  }

  test('answers what was stored in the time of each request, while connections end', async () => {
    const repeated = await history(15_000)
    assert.ok(repeated > 100, `${repeated} questions could be answered from memory`)
  })

  test('would not, if writes counted when they end', async (t) => {
    t.after(() => mock.restoreAll())
    mock.method(SelfVersions.prototype, 'countWrites', function (this: SelfVersions, driver: Driver) {
      return {
        query: driver.query,
        read: driver.read.bind(driver),
        snapshot: driver.snapshot.bind(driver),
        write: (...given) => driver.write(...given).finally(this.count),
        transaction: driver.transaction.bind(driver),
        [Symbol.asyncDispose]: () => driver[Symbol.asyncDispose](),
      } satisfies Driver
    })
    await assert.rejects(history(15_000), { name: 'AssertionError' })
  })

  test('is refused beside another one, which is named', async () => {
    await using opened = await open()
    const { database, service } = opened
    const config = { models, database: database.url, writers: 'self' } as const
    await assert.rejects(openService(config), (error: ConfigError) => {
      assert.ok(error instanceof ConfigError)
      assert.match(error.problems.join(), new RegExp(`writers: 'self' needs one process.*process ${process.pid} on`))
      return true
    })
    // Without it, a service is not refused.
    await using _ = await openService({ ...config, cache: false })
    await service[Symbol.asyncDispose]()
    await using next = await openService(config)
    assert.equal(next.records.has('pet'), true)
  })

  test('keeps nothing behind a pooler of transactions, and warns', async () => {
    await using opened = await open()
    const database = `${opened.database.url}?pgbouncer=true`
    await using pooled = await openService({ models, database, writers: 'self' })
    assert.match(pooled.warnings.join('\n'), /writers: 'self' keeps no answers behind a pooler of transactions/)
    using repeated = repeats()
    for (let count = 0; count < 4; count++) await pooled.handle(get('/pet/1'))
    assert.equal(repeated.count, 0)
  })

  test('keeps nothing while another process has its lock, and says so once', async () => {
    await using opened = await open()
    const { database, errors, ask, keeps, stored } = opened
    await keeps()
    const rival = await database.connect()
    // Queued behind the lock, it has it as soon as the connection is lost.
    const taken = rival.query(`select pg_advisory_lock(${0x6b656c73}, 1)`)
    await database.query(`select pg_terminate_backend(pid) from (${soleWriterLock}) l`)
    await taken
    await eventually(() => errors.some(({ message }) => message.includes('has become the only writer')))
    using repeated = repeats()
    await database.query(`update pet set name = 'by the other'`)
    for (let count = 0; count < 5; count++) {
      assert.equal(await ask(), await stored())
      await wait(100)
    }
    assert.equal(repeated.count, 0)
    await rival.query(`select pg_advisory_unlock(${0x6b656c73}, 1)`)
    await keeps()
    assert.equal(errors.filter(({ message }) => message.includes('has become')).length, 1)
  })

  test('answers nothing from memory once the server has been silent for a second', async () => {
    await using opened = await open()
    await opened.keeps()
    opened.network.swallow()
    await wait(1_100)
    using repeated = repeats()
    void opened.ask().catch(() => {})
    await wait(50)
    assert.equal(repeated.count, 0)
    opened.network.cut()
  })

  test('says which model another program has written, once, and shows it', async () => {
    await using opened = await open()
    const { database, errors, ask, keeps, stored } = opened
    await keeps()
    for (let count = 0; count < 3; count++) {
      await database.query(`update pet set name = 'by another program'`)
      await eventually(async () => (await ask()) === (await stored()))
    }
    await eventually(() => errors.length > 0)
    await opened.rename('own')
    await wait(600)
    assert.deepEqual(
      errors.map(({ message }) => /is not true of the table "pet"/.test(message)),
      [true],
    )
  })
})

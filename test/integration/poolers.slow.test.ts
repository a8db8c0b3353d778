import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createService, job } from '../../src/index.ts'
import { connector } from '../../src/storage/postgres/client/connect.ts'
import { poolsTransactions } from '../../src/storage/postgres/client/detect-pooling.ts'
import { PostgresDriver } from '../../src/storage/postgres/client/driver.ts'
import { postgresError } from '../../src/storage/postgres/errors.ts'
import { defaultLimits, type Limits } from '../../src/support/limits.ts'
import { Command, folder, root } from '../support/command.ts'
import { eventually } from '../support/eventually.ts'
import { connected, type FreshDatabase, freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { openTestStore, summarize } from '../support/postgres-store.ts'
import { serve, writeAcross } from './brokers/across.ts'
import { missingProgram, nats, pgBouncer, redis } from './brokers/servers.ts'

/* Services behind a real PgBouncer. */

const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())
const missing = missingPostgres ?? missingProgram('pgbouncer')
const missingRedis = missing ?? missingProgram('redis-server')
const missingNats = missing ?? missingProgram('nats-server')
const fresh = () => freshDatabase(server?.url as string)

const petModels = { pet: { attributes: { name: { type: 'string' }, age: { type: 'number' } } } } as const
const isOk = async (url: string) => {
  const response = await fetch(url)
  await response.text()
  return response.status === 200
}

describe('PgBouncer in session mode', { skip: missing ?? false }, () => {
  test('notifications arrive without a broker', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'session')
    const printed = await writeAcross(bouncer.url, {})
    assert.doesNotMatch(printed, /pooler/)
  })
})

describe('PgBouncer in statement mode', { skip: missing ?? false }, () => {
  test('a start is refused', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'statement')
    const { code, stderr } = await serve(bouncer.url).ended
    assert.equal(code, 78)
    assert.match(stderr, /the pooler in front of PostgreSQL pools statements, so that no transaction is possible/)
  })
})

describe('PgBouncer in transaction mode', { skip: missing ?? false }, () => {
  describe('it is recognized', () => {
    const poolings = async (url: string) =>
      poolsTransactions(url, await connector(url, (error) => postgresError(error)))

    for (const [poolSize, roundRobin] of [
      [1, false],
      [20, false],
      [2, true],
      [3, true],
      [20, true],
    ] as const) {
      test(`with ${poolSize} processes${roundRobin ? ' that are used by turns' : ''}`, async () => {
        await using database = await fresh()
        await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize, roundRobin })
        // As many processes as there may be are idle.
        const clients = await Promise.all(Array.from({ length: poolSize }, () => connected(bouncer.url)))
        for (const client of clients) await client.query('begin')
        for (const client of clients) await client.query('rollback')
        for (const client of clients) await client[Symbol.asyncDispose]()
        assert.equal(await poolings(bouncer.url), true)
      })
    }

    test('and a session, and no pooler, are distinguished from it; a URL may say so as well', async () => {
      await using database = await fresh()
      await using bouncer = await pgBouncer(database.url, 'session')
      assert.equal(await poolings(bouncer.url), false)
      assert.equal(await poolings(database.url), false)
      assert.equal(await poolings(`${database.url}?pgbouncer=true`), true)
    })
  })

  for (const { name, skip, start, scheme } of [
    { name: 'Redis', skip: missingRedis, start: redis, scheme: 'redis' },
    { name: 'NATS', skip: missingNats, start: nats, scheme: 'nats' },
  ])
    test(`events of another process arrive through ${name}`, { skip: skip ?? false, timeout: 120_000 }, async () => {
      await using database = await fresh()
      await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 6 })
      await using broker = await start()
      const printed = await writeAcross(bouncer.url, { BROKER: `${scheme}://127.0.0.1:${broker.port}` })
      assert.match(printed, /behind a pooler of transactions.* are found at once by the broker/)
      assert.deepEqual(await traces(database), [])
    })

  test('without a broker, events of another process arrive by a poll, which the start says', {
    timeout: 120_000,
  }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 6 })
    const printed = await writeAcross(bouncer.url, { POLL: '1' })
    assert.match(printed, /behind a pooler of transactions.* are found by a poll every 1 s; with a "broker"/)
  })

  test('statements of many connections find their own rows, settings and origins', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 3 })
    await using store = await openTestStore(bouncer.url, {
      pet: {
        attributes: {
          name: { type: 'string' },
          born: { type: 'string', columnType: 'timestamptz' },
          photo: { type: 'ref', columnType: 'bytea' },
        },
      },
    })
    await spoil(bouncer.url)
    const position = await store.head()
    const born = '2020-01-02T03:04:05.678Z'
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, n) => store.insert('pet', { name: `pet ${n}`, born, photo: 'AQID' }, `peer ${n}`)),
    )
    for (const [n, pet] of made.entries()) assert.equal(pet.name, `pet ${n}`)
    const failed = Array.from({ length: 20 }, () => assert.rejects(store.insert('pet', { born: 'never' })))
    const read = await Promise.all(made.map(({ id }) => store.one('pet', id as number)))
    await Promise.all(failed)
    assert.deepEqual(read, made)
    for (const pet of read) assert.deepEqual([pet?.born, pet?.photo], [made[0]?.born, 'AQID'])
    const changes = await store.changesAfter(position)
    assert.deepEqual(
      changes.map(({ origin, after }) => [origin, after?.name, after?.born]).toSorted(),
      made.map(({ name, born }, n) => [`peer ${n}`, name, born]).toSorted(),
    )
    const [stored] = await database.query(`select count(*) from pet where born = '${born}'`)
    assert.deepEqual(stored, ['60'])
    assert.deepEqual(await traces(database), [])
  })

  test('a long statement does not mix with those around it', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 3 })
    await using driver = await driverOf(bouncer.url)
    const lengths = Array.from({ length: 400 }, (_, n) => (n % 4 === 3 ? 300_000 : 10) + n)
    const rows = await Promise.all(lengths.map((length) => driver.query('select length($1)', ['x'.repeat(length)])))
    assert.deepEqual(
      rows.map(([row]) => Number(row?.[0])),
      lengths,
    )
  })

  test('nothing that a service sets stays with a process of the server', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 1 })
    await using client = await connected(bouncer.url)
    // PgBouncer itself passes on the name of the client; extensions add settings when they are loaded.
    const settings = `select name, setting from pg_settings where name <> 'application_name' and name not like '%.%' order by name`
    const before = await client.query(settings)
    {
      await using store = await openTestStore(bouncer.url, petModels)
      using _ = store.store.changes.onChange(() => {})
      const { id } = await store.insert('pet', { name: 'Rex' })
      await store.transaction((inside) => inside.update('pet', id as number, { age: 3 }))
      await assert.rejects(store.transaction((inside) => inside.insert('pet', { age: 'old' })))
      assert.equal((await store.find('pet')).length, 1)
    }
    assert.deepEqual(await client.query(settings), before)
    assert.deepEqual(await client.query('select name from pg_prepared_statements'), [])
    assert.deepEqual(await client.query('select pg_listening_channels()'), [])
    assert.deepEqual(await traces(database), [])
  })

  test('transactions are whole, more of them than there are processes', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 2 })
    await using service = await createService({ database: bouncer.url, models: petModels })
    const pets = service.system.records.pet
    const counter = await pets.create({ name: 'counter', age: 0 })
    const work = (fails: boolean) =>
      service.system.transaction(async ({ pet }) => {
        const { age } = (await pet.findOne(counter.id)) ?? assert.fail()
        await pet.create({ name: fails ? 'failed' : 'written' })
        await pet.update(counter.id, { age: (age ?? 0) + 1 })
        if (fails) throw new Error('undone')
      })
    const outcomes = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => work(n % 3 === 0)))
    const written = outcomes.filter(({ status }) => status === 'fulfilled').length
    assert.equal(written, 8)
    assert.equal((await pets.findOne(counter.id))?.age, 8)
    assert.equal(await pets.count({ where: { name: 'written' } }), 8)
    assert.equal(await pets.count({ where: { name: 'failed' } }), 0)
  })

  test('processes that start at once update the schema one after the other', { timeout: 120_000 }, async () => {
    await using database = await fresh()
    await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 4 })
    const stores = await Promise.all(Array.from({ length: 4 }, () => openTestStore(bouncer.url, petModels)))
    const creating = stores.filter(({ opened }) => opened.steps.some(({ kind }) => kind === 'createTable'))
    assert.equal(creating.length, 1)
    const [first, last] = [stores[0], stores[3]]
    const position = (await first?.head()) as string
    await last?.insert('pet', { name: 'Rex' })
    assert.deepEqual(summarize((await first?.changesAfter(position)) ?? []), ['pet 1 created'])
    for (const store of stores) await store[Symbol.asyncDispose]()
  })

  describe('a statement that takes long', () => {
    const sleeping = `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'select pg_sleep(6_)'`

    test('ends at its limit, and its process serves others without one', { timeout: 120_000 }, async () => {
      await using database = await fresh()
      await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 2 })
      await using driver = await driverOf(bouncer.url, { statementTimeoutMs: 300 })
      const text = 'select pg_sleep(60)'
      await assert.rejects(async () => driver.query(text, []), { reason: { kind: 'timeout' } })
      await assert.rejects(
        driver.transaction((query) => query(text, []), undefined),
        { reason: { kind: 'timeout' } },
      )
      await assert.rejects(async () => driver.snapshot(({ read }) => read({ text, values: [], access: 'filter' })), {
        reason: { kind: 'timeout' },
      })
      await using client = await connected(bouncer.url)
      assert.deepEqual(await client.query('select pg_sleep(0.5) is not null'), [['t']])
      assert.deepEqual(await database.query(sleeping), [])
    })

    for (const isTls of [false, true])
      test(`is cancelled when its reader has gone${isTls ? ', with TLS' : ''}`, { timeout: 120_000 }, async () => {
        await using database = await fresh()
        await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 6, isTls })
        await using driver = await driverOf(bouncer.url, { statementTimeoutMs: 100_000 })
        await using other = await driverOf(bouncer.url)
        // Statements of other clients are not cancelled: its connections have been served by processes that others use by now.
        await Promise.all(Array.from({ length: 8 }, (_, n) => driver.read(statement(`select ${n}`))))
        const others = Promise.all(
          Array.from({ length: 3 }, () => other.read(statement('select pg_sleep(2) is not null'))),
        )
        const gone = new AbortController()
        const reads = [1, 2].map((n) => driver.read(statement(`select pg_sleep(6${n})`), { signal: gone.signal }))
        await eventually(async () => (await database.query(sleeping)).length === 2)
        gone.abort()
        for (const { status } of await Promise.allSettled(reads)) assert.equal(status, 'rejected')
        await eventually(async () => (await database.query(sleeping)).length === 0)
        assert.deepEqual(await others, Array(3).fill([['t']]))
      })
  })

  describe('what ends', () => {
    test('processes of the server: reads are repeated, and no write is lost or doubled', {
      timeout: 120_000,
    }, async () => {
      await using database = await fresh()
      await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 4 })
      await using store = await openTestStore(bouncer.url, petModels)
      const position = await store.head()
      const { id } = await store.insert('pet', { name: 'Rex', age: 0 })
      let written = 0
      let unknown = 0
      for (let round = 0; round < 5; round++) {
        const reads = Array.from({ length: 10 }, () => store.one('pet', id as number))
        const writes = Array.from({ length: 10 }, (_, n) =>
          store.insert('pet', { name: `${round} ${n}` }).then(
            () => written++,
            () => unknown++,
          ),
        )
        await database.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
        )
        const found = await Promise.allSettled(reads)
        await Promise.all(writes)
        for (const each of found) if (each.status === 'fulfilled') assert.equal(each.value?.name, 'Rex')
        await eventually(() => store.one('pet', id as number).then(Boolean, () => false))
      }
      const stored = (await store.find('pet')).length - 1
      assert.ok(stored >= written && stored <= written + unknown, `${written} <= ${stored} <= ${written + unknown}`)
      assert.equal((await store.changesAfter(position)).length, stored + 1)
    })

    test('PgBouncer: requests are refused until it is back, and events go on', { timeout: 120_000 }, async () => {
      await using database = await fresh()
      const bouncer = await pgBouncer(database.url, 'transaction')
      const errors: unknown[] = []
      await using service = await createService({
        database: bouncer.url,
        models: petModels,
        onError: (error) => errors.push(error),
      })
      const { url } = await service.listen(0)
      await service.system.records.pet.create({ name: 'Rex' })
      assert.ok(await isOk(`${url}/pet/1`))
      await bouncer[Symbol.asyncDispose]()
      const { status, headers } = await fetch(`${url}/pet/1`)
      assert.equal(status, 503)
      assert.ok(headers.has('retry-after'))
      await using _again = await pgBouncer(database.url, 'transaction', { port: bouncer.port })
      await eventually(() => isOk(`${url}/pet/1`))
      await service.system.records.pet.create({ name: 'Tom' })
      assert.equal(await service.system.records.pet.count(), 2)
    })
  })

  describe('jobs', () => {
    const open = (database: string, runs: string[], by: string) =>
      createService({
        database,
        runJobs: true,
        onError: () => {},
        models: {
          pet: {
            attributes: { name: { type: 'string' } },
            on: { created: job('mail', async ({ name }) => void runs.push(`${by} ${name}`)) },
          },
        },
        limits: { jobLeaseMs: 2_000 },
      })
    const owners = (database: FreshDatabase) => database.query('select owner, fence from keelson_jobs')
    /** Long enough for a lease to end that is not renewed, and for the other process to ask several times. */
    const whileOthersAsk = () => new Promise((resolve) => setTimeout(resolve, 3_000))

    for (const [what, firstIsPooled, secondIsPooled] of [
      ['both behind the pooler', true, true],
      ['the first behind the pooler, the second not', true, false],
      ['the second behind the pooler, the first not', false, true],
    ] as const) {
      test(`of two processes one runs them, until it ends: ${what}`, { timeout: 120_000 }, async () => {
        await using database = await fresh()
        await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 6 })
        const runs: string[] = []
        const urlOf = (isPooled: boolean) => (isPooled ? bouncer.url : database.url)
        const first = await open(urlOf(firstIsPooled), runs, 'first')
        const held = await eventually(async () => (await owners(database)).find(([owner]) => owner !== null))
        await using second = await open(urlOf(secondIsPooled), runs, 'second')
        await whileOthersAsk()
        assert.deepEqual(await owners(database), [held], 'the holder is the same')
        await second.system.records.pet.create({ name: 'Rex' })
        await eventually(() => runs.length === 1)
        await first.close()
        await second.system.records.pet.create({ name: 'Tom' })
        await eventually(() => runs.length === 2)
        assert.deepEqual(runs, ['first Rex', 'second Tom'])
      })
    }

    test('when the process is killed, another runs what had not ended', { timeout: 120_000 }, async () => {
      await using database = await fresh()
      await using bouncer = await pgBouncer(database.url, 'transaction', { poolSize: 6 })
      const cwd = folder({
        'holder.mjs': `import { createService, job } from ${JSON.stringify(join(root, 'src/index.ts'))}
          const mail = job('mail', () => { console.log('running'); return new Promise(() => {}) })
          const service = await createService({
            database: ${JSON.stringify(bouncer.url)}, runJobs: true,
            models: { pet: { attributes: { name: { type: 'string' } }, on: { created: mail } } },
            limits: { jobLeaseMs: 2_000 },
          })
          await service.system.records.pet.create({ name: 'Rex' })`,
      })
      const holder = new Command([], { file: join(cwd, 'holder.mjs') })
      await holder.until(/running/)
      holder.kill('SIGKILL')
      await holder.ended
      const runs: string[] = []
      await using _service = await open(bouncer.url, runs, 'second')
      await eventually(() => runs.length === 1)
      assert.deepEqual(runs, ['second Rex'])
    })
  })
})

const statement = (text: string) => ({ text, values: [], access: 'filter' }) as const

async function driverOf(url: string, limits: Partial<Limits> = {}): Promise<PostgresDriver> {
  const connect = await connector(url, (error) => postgresError(error), true)
  return new PostgresDriver({ connect, isPooled: true, limits: { ...defaultLimits, ...limits }, committed: () => {} })
}

/** Another program sets what a session would keep, in the processes of the pooler. */
async function spoil(url: string): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 3 }, () => connected(url)))
  for (const client of clients) await client.query('begin')
  for (const client of clients)
    await client.query(`set intervalstyle = 'sql_standard'; set bytea_output = 'escape'; set extra_float_digits = -5;
      set timezone = 'Asia/Tokyo'; set datestyle = 'German'; set statement_timeout = 5; commit`)
  for (const client of clients) await client[Symbol.asyncDispose]()
}

/** What sessions of the server keep of others: advisory locks. */
const traces = (database: FreshDatabase) =>
  database.query(
    `select locktype from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  )

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import {
  byKey,
  increment,
  kindOf,
  sessions,
  statement,
  testPostgresDriver,
} from '../../../../test/support/postgres-driver.ts'
import type { Access, Row, Statement } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { Connection } from './connection.ts'
import type { PostgresDriver } from './driver.ts'
import { QueryPlans } from './query-plans.ts'

testPostgresDriver((open) => {
  describe('slow statements', () => {
    const slow = 'select n, pg_sleep(0.4) from t where id = $1::int8'

    test('run in the pool at first, are repeated there once, and go there at once from then on', async () => {
      await using given = await open()
      const { driver, database } = given
      const read = async (id: string) => (await driver.read(statement(slow, [id])))[0]?.[0]
      assert.equal(await read('1'), '0', 'its plan is not known')
      assert.equal((await sessions(database)).length, 1)
      const isShared = async () => (await read('2')) === '0' && (await sessions(database)).length === 2
      await eventually(async () => (await isShared()) || undefined, 'its plan is known, and is that of a lookup')
      const cancelled = async () => {
        const [row] = await database.query(
          `select sum(xact_rollback) from pg_stat_database where datname = current_database()`,
        )
        return row?.[0]
      }
      const before = await cancelled()
      assert.deepEqual(await Promise.all([read('3'), read('4'), driver.query(byKey, ['5'])]), ['0', '0', [['5', '0']]])
      assert.equal((await sessions(database)).length, 3, 'one for lookups, two in the pool')
      assert.equal(await cancelled(), before)
    })

    const plans: readonly (readonly [what: string, text: string, access: Access, isScan: boolean])[] = [
      ['a filter without an index', 'select id from pets where name = $1', 'filter', true],
      ['a filter on a small table', 'select id from t where n = $1::int', 'filter', false],
      ['a filter with an index', 'select id from pets where owner = $1::int', 'filter', false],
      ['a page in the order of the key', 'select id from pets order by id limit 31', 'page', false],
      [
        'a page that a condition leaves full',
        'select id from pets where owner > $1::int order by id limit 31',
        'filter',
        false,
      ],
      [
        'a page that a condition empties',
        'select id from pets where owner > $1::int and name = $1::int::text order by id limit 31',
        'filter',
        true,
      ],
      ['a page in another order', 'select id from pets order by name limit 31', 'page', true],
      ['a count of all rows', 'select count(*) from pets', 'filter', true],
    ]
    test('are recognized by their plan', async () => {
      const scans: string[] = []
      await using given = await open({}, { onScan: ({ text }) => scans.push(text) })
      const { driver, database } = given
      await database.query(`create table pets (id int primary key, name text, owner int);
        insert into pets select i, repeat('x', 100) || i, i from generate_series(1, 30000) i;
        create index on pets (owner); analyze pets`)
      for (const [, text, access] of plans) {
        await driver.read({ text, values: text.includes('$1') ? ['1'] : [], access })
      }
      const expected = plans.flatMap(([, text, , isScan]) => (isScan ? text : []))
      await eventually(() => scans.length >= expected.length || undefined, 'all plans are known')
      assert.deepEqual(scans.toSorted(), expected.toSorted())
    })

    test('pages that a condition filters on the way share connections that lookups do not use', async () => {
      await using given = await open()
      const { driver, database } = given
      await database.query(`create table pets (id int primary key, name text);
        insert into pets select i, repeat('x', 100) || i from generate_series(1, 30000) i; analyze pets`)
      const page = statement('select id from pets where name <> $1 order by id limit 1', ['y'])
      assert.deepEqual(await driver.read(page), [['1']])
      const isShared = async () => (await driver.read(page)).length === 1 && (await sessions(database)).length === 2
      await eventually(async () => (await isShared()) || undefined, 'its plan is known')
      await Promise.all(Array.from({ length: 20 }, () => driver.read(page)))
      assert.equal((await sessions(database)).length, 3, 'one in the pool, two for such pages')
      assert.deepEqual(await driver.query(byKey, ['5']), [['5', '0']])
      assert.equal((await sessions(database)).length, 4)
    })

    const sleep = (seconds: number) => statement(`select pg_sleep(${seconds})`, [])
    const sleeping = `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`
    const reads: readonly [
      string,
      (driver: PostgresDriver, seconds: number, signal?: AbortSignal) => Promise<readonly Row[]>,
    ][] = [
      ['reads', (driver, seconds, signal) => driver.read(sleep(seconds), { signal })],
      ['snapshots', (driver, seconds, signal) => driver.snapshot(({ read }) => read(sleep(seconds)), { signal })],
    ]
    for (const [name, read] of reads)
      test(`${name} end when the client has disconnected, also while they wait`, async () => {
        await using given = await open({ statementTimeoutMs: 120_000 })
        const { driver, database } = given
        const controllers = Array.from({ length: 6 }, () => new AbortController())
        const outcomes = Promise.allSettled(controllers.map(({ signal }) => read(driver, 60, signal)))
        await eventually(async () => (await database.query(sleeping)).length === 4 || undefined, 'four are running')
        for (const controller of controllers) controller.abort()
        await eventually(async () => (await database.query(sleeping)).length === 0 || undefined, 'none is running')
        assert.ok((await outcomes).every(({ status }) => status === 'rejected'))
      })

    for (const [name, read] of reads)
      test(`a request to cancel that arrives after its end cancels nothing else, ${name}`, async (t) => {
        await using given = await open({ maxServerScans: 1 })
        const { driver } = given
        const { query } = driver
        const { cancel } = Connection.prototype
        const late = () => new Promise((resolve) => setTimeout(resolve, 100))
        Object.assign(driver, { query: (...parts: Parameters<typeof query>) => late().then(() => query(...parts)) })
        t.mock.method(Connection.prototype, 'cancel', function (this: Connection) {
          return late().then(() => cancel.call(this))
        })
        await read(driver, 0) // the connection is open
        const controller = new AbortController()
        const ending = Promise.allSettled([read(driver, 0.05, controller.signal)])
        await new Promise((resolve) => setTimeout(resolve, 10))
        controller.abort()
        await ending
        assert.deepEqual(await read(driver, 0.2), [['']])
      })

    for (const [name, read] of reads)
      test(`a request to cancel that the server has forgotten is repeated, ${name}`, async (t) => {
        await using given = await open({ statementTimeoutMs: 120_000 })
        const { driver, database } = given
        const { query } = driver
        const { cancel } = Connection.prototype
        let requests = 0
        const isForgotten = () => ++requests === 1
        Object.assign(driver, {
          query: (...parts: Parameters<typeof query>) => (isForgotten() ? Promise.resolve([]) : query(...parts)),
        })
        t.mock.method(Connection.prototype, 'cancel', function (this: Connection) {
          return isForgotten() ? Promise.resolve() : cancel.call(this)
        })
        const controller = new AbortController()
        const ending = Promise.allSettled([read(driver, 60, controller.signal)])
        await eventually(async () => (await database.query(sleeping)).length === 1 || undefined, 'it is running')
        controller.abort()
        await eventually(async () => (await database.query(sleeping)).length === 0 || undefined, 'it has ended')
        await ending
        assert.ok(requests > 1)
      })

    const scanning = `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'select pg_sleep(60) from%'`
    const longScan = statement('select pg_sleep(60) from t a, t b, t c, t d', [])
    const shortScan = statement('select a.id from t a, t b, t c, t d, t e where a.id = -1', [])
    const snapshotOf = (driver: PostgresDriver, read: Statement, options?: ReadOptions) =>
      driver.snapshot((reader) => reader.read(read, options), options)

    test('scans of reads and of snapshots together are at most maxServerScans', async () => {
      await using given = await open({ maxServerScans: 2, statementTimeoutMs: 30_000 })
      const { driver, database } = given
      const controller = new AbortController()
      const outcomes = Promise.allSettled(
        Array.from({ length: 8 }, (_, index) =>
          index % 2 === 0 ? driver.read(longScan, controller) : snapshotOf(driver, longScan, controller),
        ),
      )
      const running = async () => (await database.query(scanning)).length
      await eventually(async () => (await running()) === 2 || undefined, 'two are running')
      for (let index = 0; index < 20; index++) {
        assert.deepEqual(await driver.query(byKey, ['5']), [['5', '0']])
        assert.equal(await running(), 2)
      }
      controller.abort()
      await eventually(async () => (await running()) === 0 || undefined, 'none is running')
      assert.ok((await outcomes).every(({ status }) => status === 'rejected'))
    })

    test('while all scans that may run do, others fail as busy, and a new statement by index is answered', async () => {
      await using given = await open({ maxServerScans: 1, busyTimeoutMs: 300 })
      const { driver, database } = given
      const controller = new AbortController()
      const long = Promise.allSettled([driver.read(longScan, controller)])
      await eventually(async () => (await database.query(scanning)).length === 1 || undefined, 'it is running')
      await assert.rejects(driver.read(shortScan), kindOf('busy'))
      await assert.rejects(snapshotOf(driver, shortScan), kindOf('busy'))
      const byIndex = (n: number) => statement(`select ${n}, name from t where id = $1::int8`, ['5'])
      assert.deepEqual(await driver.read(byIndex(1)), [['1', 'name 5']])
      assert.deepEqual(await snapshotOf(driver, byIndex(2)), [['2', 'name 5']])
      controller.abort()
      await long
      assert.deepEqual(await driver.read(shortScan), [])
    })

    test('statements of the service that take longer wait for no scan, and end when their client has disconnected', async () => {
      await using given = await open({ maxServerScans: 1, statementTimeoutMs: 30_000 })
      const { driver, database } = given
      const running = async () => (await database.query(scanning)).length
      const controllers = [new AbortController(), new AbortController()]
      const [first, second] = controllers as [AbortController, AbortController]
      const scan = Promise.allSettled([driver.read(longScan, first)])
      await eventually(async () => (await running()) === 1 || undefined, 'a scan is running')
      assert.deepEqual(await driver.query(slow, ['5']), [['0', '']])
      const own = Promise.allSettled([driver.query(longScan.text, [], second)])
      await eventually(async () => (await running()) === 2 || undefined, 'a statement of the service is running')
      for (const controller of controllers) controller.abort()
      await eventually(async () => (await running()) === 0 || undefined, 'none is running')
      await Promise.all([scan, own])
    })

    test('the scans of one snapshot do not wait in front of those of others', async () => {
      await using given = await open({ maxServerScans: 1 })
      const { driver } = given
      for (let index = 0; index < 2; index++) await driver.read(shortScan) // its plan is known
      const order: string[] = []
      await driver.snapshot(async (reader) => {
        const own = [1, 2, 3].map(async (index) => {
          await reader.read(shortScan)
          order.push(`own ${index}`)
        })
        await new Promise(setImmediate)
        await driver.read(shortScan)
        order.push('other')
        await Promise.all(own)
      })
      assert.deepEqual(order, ['own 1', 'other', 'own 2', 'own 3'])
    })

    test('end in a timeout', async () => {
      await using given = await open({ statementTimeoutMs: 500 })
      const { driver } = given
      await assert.rejects(driver.read({ text: 'select pg_sleep(5)', values: [], access: 'filter' }), kindOf('timeout'))
      await assert.rejects(driver.query('select pg_sleep(6)', []), kindOf('timeout'))
      await assert.rejects(
        driver.write('update t set n = 1 where pg_sleep(5) is not null', [], undefined),
        kindOf('timeout'),
      )
      await assert.rejects(
        driver.transaction((query) => query('select pg_sleep(5)', []), undefined),
        kindOf('timeout'),
      )
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '0']])
    })

    test('a write that waits for a lock delays no other statement and is executed once', async () => {
      await using given = await open()
      const { driver, database } = given
      const otherProgram = await database.connect()
      await otherProgram.query('begin')
      await otherProgram.query('update t set n = 10 where id = 1')
      const waiting = Array.from({ length: 5 }, () => driver.write(increment, ['1'], 'peer-1'))
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, index) => driver.write(increment, [String(index + 2)], undefined)),
      )
      assert.ok(others.every(([row]) => row?.[0] === '1'))
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '0']])
      await otherProgram.query('commit')
      const numbers = (await Promise.all(waiting)).map(([row]) => Number(row?.[0]))
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        [11, 12, 13, 14, 15],
      )
    })

    test('a row that another program holds keeps waiting what writes this row, however many want it', async () => {
      await using given = await open()
      const { driver, database } = given
      const otherProgram = await database.connect()
      const write = (id: string) => driver.write(increment, [id], undefined, `t ${id}`)
      await otherProgram.query('begin')
      await otherProgram.query('update t set n = 10 where id = 1')
      const waiting = Array.from({ length: 100 }, () => write('1'))
      const isWaiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      for (let id = 2; id < 20; id++) {
        assert.deepEqual(await write(String(id)), [['1']])
        await driver.transaction((query) => query(increment, [String(id)]), undefined)
        assert.ok((await database.query(isWaiting)).length <= 2, 'one that waits, and one that may begin to')
      }
      await otherProgram.query('commit')
      const numbers = (await Promise.all(waiting)).map(([row]) => Number(row?.[0]))
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        Array.from({ length: 100 }, (_, index) => index + 11),
      )
    })

    test('a table that another program has locked keeps waiting what reads this table', async () => {
      await using given = await open({ maxServerScans: 1 })
      const { driver, database } = given
      await database.query('create table other as select * from t')
      await driver.read({ text: byKey, values: ['1'], access: 'key' })
      const otherProgram = await database.connect()
      await otherProgram.query('begin')
      await otherProgram.query('lock table t')
      const lookups = Array.from({ length: 100 }, () => driver.read({ text: byKey, values: ['1'], access: 'key' }))
      const scan = driver.read(statement('select count(*) from t where n < $1::int', ['100']))
      const snapshots = Array.from({ length: 8 }, () => driver.snapshot(({ read }) => read(statement(byKey, ['1']))))
      const ended: string[] = []
      const reads = [...lookups, scan, ...snapshots]
      for (const read of reads) void read.then(() => ended.push('locked'))
      const others = 'select id, n from other where id = $1::int8'
      for (let id = 1; id < 10; id++) {
        assert.deepEqual(await driver.read({ text: others, values: [String(id)], access: 'key' }), [[String(id), '0']])
        assert.deepEqual(await driver.read(statement('select count(*) from other where n < $1::int', ['1'])), [['100']])
        assert.deepEqual(await driver.snapshot(({ read }) => read(statement(others, ['1']))), [['1', '0']])
      }
      assert.deepEqual(ended, [])
      await otherProgram.query('commit')
      const found = await Promise.all(reads)
      assert.deepEqual(found[0], [['1', '0']])
      assert.deepEqual(found[100], [['100']])
      assert.deepEqual(found[101], [['1', '0']])
    })

    test('of those that were taken for lookups, others wait for few', async (t) => {
      await using given = await open({ maxServerScans: 1, statementTimeoutMs: 1_000, busyTimeoutMs: 300 })
      const { driver, database } = given
      const read = (id: number) => driver.read(statement('select pg_sleep(n) from t where id = $1::int8', [String(id)]))
      const isShared = async () => (await read(1)).length === 1 && (await sessions(database)).length >= 2
      await eventually(async () => (await isShared()) || undefined, 'its plan is known')
      await database.query('update t set n = 20 where id = 2')
      const demoted = t.mock.method(QueryPlans.prototype, 'demote').mock
      const slow = Promise.allSettled(Array.from({ length: 200 }, () => read(2)))
      await Promise.all(Array.from({ length: 50 }, () => driver.query(byKey, ['5'])))
      assert.ok(demoted.callCount() < 50, `${demoted.callCount()} of 200 slow statements ran before them`)
      await slow
    })
  })
})

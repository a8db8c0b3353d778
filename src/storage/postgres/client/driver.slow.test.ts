import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  type FreshDatabase,
  freshDatabase,
  missingPostgres,
  postgresForTests,
} from '../../../../test/support/postgres.ts'
import { eventually } from '../../../../test/support/postgres-store.ts'
import { type UnreliableNetwork, unreliableNetwork } from '../../../../test/support/unreliable-network.ts'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import { defaultLimits, type Limits } from '../../../support/limits.ts'
import { type Access, DatabaseError, type DatabaseErrorKind, type Row, type Statement } from '../../driver.ts'
import { postgresError } from '../errors.ts'
import { connector } from './connect.ts'
import { type DriverParts, PostgresDriver } from './driver.ts'

interface Given extends AsyncDisposable {
  readonly database: FreshDatabase
  readonly network: UnreliableNetwork
  readonly driver: PostgresDriver
  readonly commits: () => number
}

const table = `create table t (id int primary key, n int not null default 0, name text unique);
  insert into t (id, name) select i, 'name ' || i from generate_series(1, 100) i`
const byKey = 'select id, n from t where id = $1::int8'
const increment = 'update t set n = n + 1 where id = $1::int8 returning n'

const kindOf = (kind: DatabaseErrorKind['kind']) => (error: unknown) => {
  assert.ok(error instanceof DatabaseError, String(error))
  assert.equal(error.reason.kind, kind, String(error.cause))
  return true
}

const statement = (text: string, values: readonly unknown[]): Statement => ({ text, values, access: 'filter' })

const server = missingPostgres ? undefined : await postgresForTests()
after(() => server?.stop())

describe('PostgresDriver', { skip: missingPostgres ?? false }, () => suite(false))
// Without a pooler: what such connections do is right with every process of the server, so with one as well.
describe('PostgresDriver for a pooler of transactions', { skip: missingPostgres ?? false }, () => suite(true))

function suite(isPooled: boolean): void {
  const open = async (
    limits: Partial<Limits> = {},
    parts: Partial<Pick<DriverParts, 'watchdogTiming' | 'onScan'>> = {},
  ): Promise<Given> => {
    const database = await freshDatabase(server?.url as string)
    await database.query(table)
    const network = await unreliableNetwork(database.url)
    const connect = await connector(network.url, (error) => postgresError(error), isPooled)
    let commits = 0
    const driver = new PostgresDriver({
      connect,
      isPooled,
      limits: { ...defaultLimits, ...limits },
      committed: () => commits++,
      ...parts,
    })
    return {
      database,
      network,
      driver,
      commits: () => commits,
      async [Symbol.asyncDispose]() {
        await driver[Symbol.asyncDispose]()
        await network[Symbol.asyncDispose]()
        await database[Symbol.asyncDispose]()
      },
    }
  }
  const sessions = (database: FreshDatabase) =>
    database.query(
      `select pid, query from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
    )

  describe('single statements', () => {
    test('a scan takes one process of the server', async () => {
      await using given = await open()
      const text = 'show max_parallel_workers_per_gather'
      assert.deepEqual(await given.driver.read(statement(text, [])), [['0']])
    })

    test('each receive their own rows, with many pending', async () => {
      await using given = await open()
      const { driver } = given
      const rows = await Promise.all(
        Array.from({ length: 2000 }, (_, index) => driver.query(byKey, [String((index % 100) + 1)])),
      )
      for (const [index, found] of rows.entries()) assert.deepEqual(found, [[String((index % 100) + 1), '0']])
      assert.equal((await sessions(given.database)).length, isPooled ? 6 : 2)
    })

    test('of one record by its key do not wait for the rows of others', async () => {
      await using given = await open()
      const { driver } = given
      const ended: string[] = []
      const many = 'select repeat($1::text, 1000) from generate_series(1, 5000)'
      await driver.read({ text: byKey, values: ['1'], access: 'key' })
      await Promise.all([
        ...Array.from({ length: 20 }, () => driver.query(many, ['x']).then(() => ended.push('rows'))),
        driver.read({ text: byKey, values: ['2'], access: 'key' }).then(() => ended.push('record')),
      ])
      assert.equal(ended[0], 'record')
    })

    test('with many rows are read in several turns of the event loop, once one is used', async () => {
      await using given = await open()
      let turns = 0
      const take = (): void => {
        turns++
        for (eventLoopTurn.usedMs; eventLoopTurn.usedMs < 10; );
        immediate = setImmediate(take)
      }
      await given.driver.query('select 1', [])
      let immediate = setImmediate(take)
      const rows = await given.driver.query('select repeat($1::text, 1000) from generate_series(1, 5000)', ['x'])
      clearImmediate(immediate)
      assert.equal(rows.length, 5000)
      assert.ok(turns > 30, `${turns} turns for 5 MB`)
    })

    test('that fail do not affect others on the connection', async () => {
      await using given = await open()
      const { driver } = given
      const results = await Promise.allSettled(
        Array.from({ length: 300 }, (_, index): Promise<readonly Row[]> => {
          if (index % 3 === 0) return driver.query(byKey, [String(index)])
          if (index % 3 === 1) return driver.query(byKey, ['not a number'])
          return driver.query('select wrong from t', [])
        }),
      )
      results.forEach((result, index) => {
        if (index % 3 === 0) assert.equal(result.status, 'fulfilled')
        else assert.ok(result.status === 'rejected' && kindOf(index % 3 === 1 ? 'value' : 'unknown')(result.reason))
      })
      assert.deepEqual(await driver.query('select 1', []), [['1']])
    })

    test('null, text of any kind, and many rows', async () => {
      await using given = await open()
      const { driver } = given
      const value = 'é🐕"\'\\ \n$1'
      assert.deepEqual(await driver.query('select $1::text, $2::text, $3::int', [value, null, 5]), [[value, null, '5']])
      const many = await driver.query('select i, repeat($1, 100) from generate_series(1, 20000) i', ['x'])
      assert.equal(many.length, 20_000)
      assert.equal(many[19_999]?.[0], '20000')
    })

    test('writes are separate transactions with an origin', async () => {
      await using given = await open()
      const { driver, commits } = given
      const text = `insert into t (id, name) values ($1::int8, nullif(current_setting('keelson.origin', true), '')) returning name`
      const origins = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? `peer ' \\ ${index}` : undefined))
      const rows = await Promise.all(origins.map((origin, index) => driver.write(text, [String(1000 + index)], origin)))
      assert.deepEqual(
        rows.map(([row]) => row?.[0]),
        origins.map((origin) => origin ?? null),
      )
      assert.equal(commits(), 50)
      await assert.rejects(driver.write(text, ['1000'], 'again'), kindOf('unique'))
      assert.equal(commits(), 50)
    })

    test('the number of prepared statements on the server is bounded', { skip: isPooled }, async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 1200; index++) {
        assert.deepEqual(await driver.query(`select ${index}::int as kept`, []), [[String(index)]])
      }
      assert.deepEqual(await driver.query('select 3::int as kept', []), [['3']], 'one that was let go')
      const [[kept] = []] = await driver.query('select count(*) from pg_prepared_statements', [])
      assert.ok(Number(kept) > 400 && Number(kept) <= 501, `${kept}`)
    })

    test('a statement that always fails does not accumulate prepared statements', async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 50; index++) {
        await assert.rejects(driver.query('select 1 / ($1::int8 - 1)', ['1']), kindOf('value'))
        await assert.rejects(driver.query('select nonsense from t', []), kindOf('unknown'))
      }
      const [[kept] = []] = await driver.query('select count(*) from pg_prepared_statements', [])
      assert.ok(Number(kept) <= 3, `${kept}`)
    })

    test('a table altered meanwhile is read in its new form', async () => {
      await using given = await open()
      const { driver, database } = given
      assert.deepEqual(await driver.query('select n from t where id = 1', []), [['0']])
      await driver.write(increment, ['2'], undefined)
      await driver.transaction((query) => query(increment, ['3']), undefined)
      await database.query('alter table t alter column n type text')
      assert.deepEqual(await driver.query('select n from t where id = 1', []), [['0']])
      await database.query('alter table t alter column n type bigint using n::bigint')
      assert.deepEqual(await driver.query('select n from t where id = 1', []), [['0']])
      assert.deepEqual(await driver.write(increment, ['2'], undefined), [['2']])
      assert.deepEqual(await driver.transaction((query) => query(increment, ['3']), undefined), [['2']])
    })
  })

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

    test('end when the client has disconnected, also while they wait', async () => {
      await using given = await open()
      const { driver, database } = given
      const controllers = Array.from({ length: 5 }, () => new AbortController())
      const reads = controllers.map(({ signal }) => driver.read(statement('select pg_sleep(60)', []), { signal }))
      const running = `select 1 from pg_stat_activity where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`
      await eventually(async () => (await database.query(running)).length === 4 || undefined, 'four are running')
      for (const controller of controllers) controller.abort()
      const outcomes = await Promise.allSettled(reads)
      assert.ok(outcomes.every(({ status }) => status === 'rejected'))
      await eventually(async () => (await database.query(running)).length === 0 || undefined, 'none is running')
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
  })

  describe('transactions', () => {
    test('are atomic', async () => {
      await using given = await open()
      const { driver, commits } = given
      await driver.transaction(async (query) => {
        await query(increment, ['1'])
        await query(increment, ['2'])
      }, undefined)
      await assert.rejects(
        driver.transaction(async (query) => {
          await query(increment, ['1'])
          throw new Error('no')
        }, undefined),
        /^Error: no$/,
      )
      assert.deepEqual(await driver.query('select n from t where id < 3 order by id', []), [['1'], ['1']])
      assert.equal(commits(), 1)
    })

    test('an error that `work` catches still rolls the transaction back', async () => {
      await using given = await open()
      const { driver } = given
      await assert.rejects(
        driver.transaction(async (query) => {
          await query(increment, ['1'])
          await Promise.resolve(query('insert into t (id) values (1)', [])).catch(() => {})
          return 'done'
        }, undefined),
        kindOf('unique'),
      )
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '0']])
    })

    test('a deferred constraint fails at the commit', async () => {
      await using given = await open()
      const { driver, database } = given
      await database.query('alter table t add constraint c unique (n, id) deferrable initially deferred')
      await database.query('create table u (t int references t deferrable initially deferred)')
      await assert.rejects(
        driver.transaction((query) => query('insert into u values (12345)', []), undefined),
        kindOf('foreignKey'),
      )
      assert.deepEqual(await driver.query('select count(*) from u', []), [['0']])
    })

    test('two conflicting transactions run one after the other', async () => {
      await using given = await open()
      const { driver } = given
      let runs = 0
      let holding = 0
      const bothHoldTheirFirst = Promise.withResolvers<void>()
      const both = (first: string, second: string) =>
        driver.transaction(async (query) => {
          runs++
          await query(increment, [first])
          if (++holding === 2) bothHoldTheirFirst.resolve()
          await bothHoldTheirFirst.promise
          await query(increment, [second])
        }, undefined)
      await Promise.all([both('1', '2'), both('2', '1')])
      assert.deepEqual(await driver.query('select n from t where id < 3 order by id', []), [['2'], ['2']])
      assert.ok(runs > 2, 'they met')
    })

    test('the origin applies to the transaction only', async () => {
      await using given = await open()
      const { driver } = given
      const asked = `select coalesce(current_setting('keelson.origin', true), '')`
      const origin = (name: string | undefined) =>
        driver.transaction(async (query) => (await query(asked, []))[0]?.[0], name)
      for (const name of ['a', undefined, `b'\\`, undefined]) assert.equal(await origin(name), name ?? '')
    })

    test('above the pool size they wait, and fail as busy after the limit', async () => {
      await using given = await open({ busyTimeoutMs: 300 })
      const { driver, database } = given
      const release = Promise.withResolvers<void>()
      const held = Array.from({ length: 8 }, (_, index) =>
        driver.transaction(async (query) => {
          await query(increment, [String(index + 1)])
          await release.promise
        }, undefined),
      )
      await eventually(async () => (await sessions(database)).length === 8 || undefined, 'all of them are in use')
      await assert.rejects(
        driver.transaction((query) => query(increment, ['50']), undefined),
        kindOf('busy'),
      )
      const waiting = Array.from({ length: 10 }, () =>
        driver.transaction((query) => query(increment, ['51']), undefined),
      )
      release.resolve()
      await Promise.all([...held, ...waiting])
      assert.deepEqual(await driver.query(byKey, ['51']), [['51', '10']])
      assert.equal((await sessions(database)).length, 9)
    })

    test('a snapshot is consistent and read-only', async () => {
      await using given = await open()
      const { driver } = given
      const seen = await driver.snapshot(async ({ read }) => {
        const before = await read(statement('select sum(n) from t', []))
        await driver.write(increment, ['1'], undefined)
        return [before, await read(statement('select sum(n) from t', []))]
      })
      assert.deepEqual(seen, [[['0']], [['0']]])
      await assert.rejects(
        driver.snapshot(({ read }) => read(statement(increment, ['1']))),
        kindOf('refused'),
      )
      await assert.rejects(
        driver.snapshot(() => Promise.reject(new Error('no'))),
        /^Error: no$/,
      )
      assert.deepEqual(await driver.snapshot(({ read }) => read(statement(byKey, ['1']))), [['1', '1']])
    })
  })

  describe('lost connections', () => {
    const terminate = (database: FreshDatabase) =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
      )

    test('that were idle cause no error', async () => {
      await using given = await open()
      const { driver, database, network } = given
      for (const end of [() => terminate(database), async () => network.cut()]) {
        await Promise.all([
          driver.query(byKey, ['1']),
          driver.read({ text: byKey, values: ['1'], access: 'filter' }),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
        ])
        await end()
        await eventually(() => network.connections === 0 || undefined, 'all have ended')
        await driver.query(byKey, ['1'])
        await driver.read({ text: byKey, values: ['1'], access: 'filter' })
        await driver.write(increment, ['1'], undefined)
        await driver.transaction((query) => query(increment, ['1']), undefined)
        await driver.snapshot(({ read }) => read(statement(byKey, ['1'])))
      }
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '8']])
    })

    test('that are detected at their next use are replaced', async () => {
      await using given = await open()
      const { driver, network } = given
      const all = () => [
        driver.query(byKey, ['1']),
        driver.read({ text: byKey, values: ['1'], access: 'filter' }),
        driver.transaction((query) => query(byKey, ['1']), undefined),
        driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
      ]
      for (let round = 0; round < 3; round++) {
        await Promise.all([all(), all(), all()].flat())
        network.cut()
        const found = await Promise.all(all())
        for (const rows of found) assert.deepEqual(rows, [['1', '0']])
      }
    })

    test('a pending read is repeated; a write is not', async () => {
      await using given = await open()
      const { driver, database } = given
      const otherProgram = await database.connect()
      await otherProgram.query('begin; lock table t in access exclusive mode')
      const reads = [driver.query(byKey, ['1']), driver.read({ text: byKey, values: ['2'], access: 'filter' })]
      const writes = Promise.allSettled([
        driver.write(increment, ['1'], undefined),
        driver.transaction((query) => query(increment, ['2']), undefined),
      ])
      // Longer than the lock limit of pipelined connections: what still waits is in the pool.
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and clock_timestamp() - query_start > interval '200 milliseconds'`
      await eventually(async () => (await database.query(waiting)).length === 4 || undefined, 'all are under way')
      await terminate(database)
      for (const outcome of await writes) {
        assert.ok(outcome.status === 'rejected' && kindOf('lost')(outcome.reason))
      }
      await otherProgram.query('rollback')
      assert.deepEqual(await Promise.all(reads), [[['1', '0']], [['2', '0']]])
    })

    test('while the server is down every request fails, and afterwards all succeed', async () => {
      await using given = await open()
      const { driver, network } = given
      await driver.query(byKey, ['1'])
      await network.close()
      for (let round = 0; round < 3; round++) {
        const all = await Promise.allSettled([
          ...Array.from({ length: 20 }, () => driver.query(byKey, ['1'])),
          driver.read({ text: byKey, values: ['1'], access: 'filter' }),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot(({ read }) => read(statement(byKey, ['1']))),
        ])
        for (const outcome of all) assert.ok(outcome.status === 'rejected' && kindOf('lost')(outcome.reason))
      }
      await network.open()
      const works = (work: () => Promise<unknown>) =>
        eventually(
          () =>
            work().then(
              () => true,
              () => undefined,
            ),
          'it works again',
        )
      await works(() => driver.query(byKey, ['1']))
      await works(() => driver.write(increment, ['1'], undefined))
      await works(() => driver.transaction((query) => query(increment, ['1']), undefined))
      assert.deepEqual(await driver.read({ text: byKey, values: ['1'], access: 'filter' }), [['1', '2']])
    })

    test('a silent network connection is destroyed', async () => {
      await using given = await open({ statementTimeoutMs: 100 }, { watchdogTiming: { checkMs: 50, graceMs: 200 } })
      const { driver, network } = given
      await driver.query(byKey, ['1'])
      network.swallow()
      assert.deepEqual(await driver.query(byKey, ['1']), [['1', '0']], 'asked again over another connection')
    })

    test('a read that is not answered is sent again long before a statement may have ended', {
      timeout: 30_000,
    }, async (t) => {
      if (isPooled) return t.skip('a statement may wait in the pooler')
      await using given = await open({ statementTimeoutMs: 60_000 }, { watchdogTiming: { checkMs: 50, graceMs: 200 } })
      const { driver, network } = given
      const read = { text: byKey, values: ['1'], access: 'key' } as const
      await driver.read(read)
      network.swallow()
      assert.deepEqual(await driver.read(read), [['1', '0']])
    })

    test('close() awaits queries that were just sent', async () => {
      await using given = await open()
      const { driver } = given
      const asked = [
        driver.query(byKey, ['1']),
        driver.read({ text: byKey, values: ['1'], access: 'filter' }),
        driver.write(`${increment}, 1`, ['1'], undefined),
        driver.transaction((query) => query(byKey, ['2']), undefined),
        driver.snapshot(({ read }) => read(statement(byKey, ['3']))),
      ]
      await driver[Symbol.asyncDispose]()
      assert.equal((await Promise.all(asked)).length, 5)
    })

    test('close() awaits pending queries and rejects later ones', async () => {
      await using given = await open()
      const { driver, network } = given
      const last = [
        driver.query('select pg_sleep(0.02), 1', []),
        driver.write('update t set n = 5 where id = 1 and pg_sleep(0.1) is not null returning n', [], undefined),
        driver.transaction(async (query) => {
          await query(increment, ['2'])
          await new Promise((resolve) => setTimeout(resolve, 100))
          return query(increment, ['2'])
        }, undefined),
      ]
      await eventually(() => network.connections >= 3 || undefined, 'all are under way')
      await driver[Symbol.asyncDispose]()
      assert.deepEqual(
        (await Promise.all(last)).map(([row]) => row?.at(-1)),
        ['1', '5', '2'],
      )
      await assert.rejects(driver.query(byKey, ['1']), kindOf('lost'))
      await assert.rejects(
        driver.transaction((query) => query(increment, ['1']), undefined),
        kindOf('lost'),
      )
      await eventually(() => network.connections === 0 || undefined, 'all have ended')
    })
  })
}

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type FreshDatabase, freshDatabase, missingPostgres, postgresForTests } from '../../../test/postgres.ts'
import { eventually } from '../../../test/postgres-store.ts'
import { type UnreliableNetwork, unreliableNetwork } from '../../../test/unreliable-network.ts'
import { defaultLimits, type Limits } from '../../support/limits.ts'
import { DatabaseError, type Fault, type Row } from '../driver.ts'
import { connector } from './connect.ts'
import { PostgresDriver } from './driver.ts'
import { postgresError } from './errors.ts'
import type { Silence } from './watch.ts'

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

const kindOf = (kind: Fault['kind']) => (error: unknown) => {
  assert.ok(error instanceof DatabaseError, String(error))
  assert.equal(error.fault.kind, kind, String(error.cause))
  return true
}

describe('the driver of PostgreSQL', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())

  const open = async (limits: Partial<Limits> = {}, silence?: Silence): Promise<Given> => {
    const database = await freshDatabase(server?.url as string)
    await database.query(table)
    const network = await unreliableNetwork(database.url)
    const connect = await connector(network.url, (error) => postgresError(error))
    let commits = 0
    const driver = new PostgresDriver({
      connect,
      limits: { ...defaultLimits, ...limits },
      committed: () => commits++,
      ...(silence && { silence }),
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
    test('are answered each with its own rows, however many are under way', async () => {
      await using given = await open()
      const { driver } = given
      const rows = await Promise.all(
        Array.from({ length: 2000 }, (_, index) => driver.read(byKey, [String((index % 100) + 1)], 'short')),
      )
      for (const [index, found] of rows.entries()) assert.deepEqual(found, [[String((index % 100) + 1), '0']])
      assert.equal((await sessions(given.database)).length, 2)
    })

    test('that fail leave those around them alone', async () => {
      await using given = await open()
      const { driver } = given
      const results = await Promise.allSettled(
        Array.from({ length: 300 }, (_, index): Promise<readonly Row[]> => {
          if (index % 3 === 0) return driver.read(byKey, [String(index)], 'short')
          if (index % 3 === 1) return driver.read(byKey, ['not a number'], 'short')
          return driver.read('select wrong from t', [], 'short')
        }),
      )
      results.forEach((result, index) => {
        if (index % 3 === 0) assert.equal(result.status, 'fulfilled')
        else assert.ok(result.status === 'rejected' && kindOf(index % 3 === 1 ? 'value' : 'unknown')(result.reason))
      })
      assert.deepEqual(await driver.read('select 1', [], 'short'), [['1']])
    })

    test('null, text of any kind, and many rows', async () => {
      await using given = await open()
      const { driver } = given
      const value = 'é🐕"\'\\ \n$1'
      assert.deepEqual(await driver.read('select $1::text, $2::text, $3::int', [value, null, 5], 'short'), [
        [value, null, '5'],
      ])
      const many = await driver.read('select i, repeat($1, 100) from generate_series(1, 20000) i', ['x'], 'short')
      assert.equal(many.length, 20_000)
      assert.equal(many[19_999]?.[0], '20000')
    })

    test('writes are each a transaction of their own, and say who caused them', async () => {
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

    test('as many as there are, the server keeps a bounded number prepared', async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 1200; index++) {
        assert.deepEqual(await driver.read(`select ${index}::int as kept`, [], 'short'), [[String(index)]])
      }
      assert.deepEqual(await driver.read('select 3::int as kept', [], 'short'), [['3']], 'one that was let go')
      const [[kept] = []] = await driver.read('select count(*) from pg_prepared_statements', [], 'short')
      assert.ok(Number(kept) > 400 && Number(kept) <= 501, `${kept}`)
    })

    test('one that always fails is not kept again and again', async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 50; index++) {
        await assert.rejects(driver.read('select 1 / ($1::int8 - 1)', ['1'], 'short'), kindOf('value'))
        await assert.rejects(driver.read('select nonsense from t', [], 'short'), kindOf('unknown'))
      }
      const [[kept] = []] = await driver.read('select count(*) from pg_prepared_statements', [], 'short')
      assert.ok(Number(kept) <= 3, `${kept}`)
    })

    test('a table that is altered meanwhile is read as it is now', async () => {
      await using given = await open()
      const { driver, database } = given
      assert.deepEqual(await driver.read('select n from t where id = 1', [], 'short'), [['0']])
      await driver.write(increment, ['2'], undefined)
      await driver.transaction((query) => query(increment, ['3']), undefined)
      await database.query('alter table t alter column n type text')
      assert.deepEqual(await driver.read('select n from t where id = 1', [], 'short'), [['0']])
      await database.query('alter table t alter column n type bigint using n::bigint')
      assert.deepEqual(await driver.read('select n from t where id = 1', [], 'short'), [['0']])
      assert.deepEqual(await driver.write(increment, ['2'], undefined), [['2']])
      assert.deepEqual(await driver.transaction((query) => query(increment, ['3']), undefined), [['2']])
    })
  })

  describe('what takes long', () => {
    const slow = 'select n, pg_sleep(0.4) from t where id = $1::int8'

    test('is asked again elsewhere, and there at once the next time', async () => {
      await using given = await open()
      const { driver, database } = given
      assert.deepEqual(await driver.read(slow, ['1'], 'short'), [['0', '']])
      assert.equal((await sessions(database)).length, 2)
      const cancelled = async () =>
        (
          await database.query(`select sum(xact_rollback) from pg_stat_database where datname = current_database()`)
        )[0]?.[0]
      const both = await Promise.all([
        driver.read(slow, ['2'], 'short'),
        driver.read(slow, ['3'], 'short'),
        driver.read(byKey, ['4'], 'short'),
      ])
      assert.deepEqual(
        both.map(([row]) => row?.[0]),
        ['0', '0', '4'],
      )
      assert.equal((await sessions(database)).length, 3, 'one for short reads, two for the long ones')
      assert.ok(await cancelled())
    })

    test('ends in a timeout', async () => {
      await using given = await open({ statementTimeoutMs: 500 })
      const { driver } = given
      await assert.rejects(driver.read('select pg_sleep(5)', [], 'long'), kindOf('timeout'))
      await assert.rejects(driver.read('select pg_sleep(6)', [], 'short'), kindOf('timeout'))
      await assert.rejects(
        driver.write('update t set n = 1 where pg_sleep(5) is not null', [], undefined),
        kindOf('timeout'),
      )
      await assert.rejects(
        driver.transaction((query) => query('select pg_sleep(5)', []), undefined),
        kindOf('timeout'),
      )
      assert.deepEqual(await driver.read(byKey, ['1'], 'short'), [['1', '0']])
    })

    test('a write that waits for a lock holds up neither other writes nor reads, and is done once', async () => {
      await using given = await open()
      const { driver, database } = given
      const stranger = await database.connect()
      await stranger.query('begin')
      await stranger.query('update t set n = 10 where id = 1')
      const waiting = Array.from({ length: 5 }, () => driver.write(increment, ['1'], 'somebody'))
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, index) => driver.write(increment, [String(index + 2)], undefined)),
      )
      assert.ok(others.every(([row]) => row?.[0] === '1'))
      assert.deepEqual(await driver.read(byKey, ['1'], 'short'), [['1', '0']])
      await stranger.query('commit')
      const numbers = (await Promise.all(waiting)).map(([row]) => Number(row?.[0]))
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        [11, 12, 13, 14, 15],
      )
    })
  })

  describe('transactions', () => {
    test('happen wholly or not at all', async () => {
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
      assert.deepEqual(await driver.read('select n from t where id < 3 order by id', [], 'short'), [['1'], ['1']])
      assert.equal(commits(), 1)
    })

    test('a fault that the work does not mind undoes it all the same', async () => {
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
      assert.deepEqual(await driver.read(byKey, ['1'], 'short'), [['1', '0']])
    })

    test('a constraint that is checked at the end', async () => {
      await using given = await open()
      const { driver, database } = given
      await database.query('alter table t add constraint c unique (n, id) deferrable initially deferred')
      await database.query('create table u (t int references t deferrable initially deferred)')
      await assert.rejects(
        driver.transaction((query) => query('insert into u values (12345)', []), undefined),
        kindOf('foreignKey'),
      )
      assert.deepEqual(await driver.read('select count(*) from u', [], 'short'), [['0']])
    })

    test('two that are in each other’s way run one after the other', async () => {
      await using given = await open()
      const { driver } = given
      let runs = 0
      const both = (first: string, second: string) =>
        driver.transaction(async (query) => {
          runs++
          await query(increment, [first])
          await new Promise((resolve) => setTimeout(resolve, 50))
          await query(increment, [second])
        }, undefined)
      await Promise.all([both('1', '2'), both('2', '1')])
      assert.deepEqual(await driver.read('select n from t where id < 3 order by id', [], 'short'), [['2'], ['2']])
      assert.ok(runs > 2, 'they met')
    })

    test('say who caused them, and only they do', async () => {
      await using given = await open()
      const { driver } = given
      const asked = `select coalesce(current_setting('keelson.origin', true), '')`
      const origin = (name: string | undefined) =>
        driver.transaction(async (query) => (await query(asked, []))[0]?.[0], name)
      for (const name of ['a', undefined, `b'\\`, undefined]) assert.equal(await origin(name), name ?? '')
    })

    test('more than there are connections wait, and those that wait too long are told to come back', async () => {
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
      assert.deepEqual(await driver.read(byKey, ['51'], 'short'), [['51', '10']])
      assert.equal((await sessions(database)).length, 9)
    })

    test('a snapshot shows one moment, and changes nothing', async () => {
      await using given = await open()
      const { driver } = given
      const seen = await driver.snapshot(async (query) => {
        const before = await query('select sum(n) from t', [])
        await driver.write(increment, ['1'], undefined)
        return [before, await query('select sum(n) from t', [])]
      })
      assert.deepEqual(seen, [[['0']], [['0']]])
      await assert.rejects(
        driver.snapshot((query) => query(increment, ['1'])),
        kindOf('refused'),
      )
      await assert.rejects(
        driver.snapshot(() => Promise.reject(new Error('no'))),
        /^Error: no$/,
      )
      assert.deepEqual(await driver.snapshot((query) => query(byKey, ['1'])), [['1', '1']])
    })
  })

  describe('lost connections', () => {
    const terminate = (database: FreshDatabase) =>
      database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`,
      )

    test('that were idle are not noticed', async () => {
      await using given = await open()
      const { driver, database, network } = given
      for (const end of [() => terminate(database), async () => network.cut()]) {
        await Promise.all([
          driver.read(byKey, ['1'], 'short'),
          driver.read(byKey, ['1'], 'long'),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot((query) => query(byKey, ['1'])),
        ])
        await end()
        await eventually(() => network.connections === 0 || undefined, 'all have ended')
        await driver.read(byKey, ['1'], 'short')
        await driver.read(byKey, ['1'], 'long')
        await driver.write(increment, ['1'], undefined)
        await driver.transaction((query) => query(increment, ['1']), undefined)
        await driver.snapshot((query) => query(byKey, ['1']))
      }
      assert.deepEqual(await driver.read(byKey, ['1'], 'short'), [['1', '8']])
    })

    test('that are found lost only when they are used, are replaced', async () => {
      await using given = await open()
      const { driver, network } = given
      const all = () => [
        driver.read(byKey, ['1'], 'short'),
        driver.read(byKey, ['1'], 'long'),
        driver.transaction((query) => query(byKey, ['1']), undefined),
        driver.snapshot((query) => query(byKey, ['1'])),
      ]
      for (let round = 0; round < 3; round++) {
        await Promise.all([all(), all(), all()].flat())
        network.cut()
        const found = await Promise.all(all())
        for (const rows of found) assert.deepEqual(rows, [['1', '0']])
      }
    })

    test('a read that was under way is asked again; a write is not', async () => {
      await using given = await open()
      const { driver, database } = given
      const stranger = await database.connect()
      await stranger.query('begin; lock table t in access exclusive mode')
      const reads = [driver.read(byKey, ['1'], 'short'), driver.read(byKey, ['2'], 'long')]
      const writes = Promise.allSettled([
        driver.write(increment, ['1'], undefined),
        driver.transaction((query) => query(increment, ['2']), undefined),
      ])
      // Longer than a lane waits for a lock: whoever still waits is where nothing else interrupts it.
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and clock_timestamp() - query_start > interval '200 milliseconds'`
      await eventually(async () => (await database.query(waiting)).length === 4 || undefined, 'all are under way')
      await terminate(database)
      for (const outcome of await writes) {
        assert.ok(outcome.status === 'rejected' && kindOf('lost')(outcome.reason))
      }
      await stranger.query('rollback')
      assert.deepEqual(await Promise.all(reads), [[['1', '0']], [['2', '0']]])
    })

    test('while there is no server every request is told so, and when it is back all is well', async () => {
      await using given = await open()
      const { driver, network } = given
      await driver.read(byKey, ['1'], 'short')
      await network.close()
      for (let round = 0; round < 3; round++) {
        const all = await Promise.allSettled([
          ...Array.from({ length: 20 }, () => driver.read(byKey, ['1'], 'short')),
          driver.read(byKey, ['1'], 'long'),
          driver.write(increment, ['1'], undefined),
          driver.transaction((query) => query(increment, ['1']), undefined),
          driver.snapshot((query) => query(byKey, ['1'])),
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
      await works(() => driver.read(byKey, ['1'], 'short'))
      await works(() => driver.write(increment, ['1'], undefined))
      await works(() => driver.transaction((query) => query(increment, ['1']), undefined))
      assert.deepEqual(await driver.read(byKey, ['1'], 'long'), [['1', '2']])
    })

    test('a network that swallows everything is given up', async () => {
      await using given = await open({ statementTimeoutMs: 100 }, { lookMs: 50, graceMs: 200 })
      const { driver, network } = given
      await driver.read(byKey, ['1'], 'short')
      network.swallow()
      assert.deepEqual(await driver.read(byKey, ['1'], 'short'), [['1', '0']], 'asked again over another connection')
    })

    test('closing waits for what has only just been asked', async () => {
      await using given = await open()
      const { driver } = given
      const asked = [
        driver.read(byKey, ['1'], 'short'),
        driver.read(byKey, ['1'], 'long'),
        driver.write(`${increment}, 1`, ['1'], undefined),
        driver.transaction((query) => query(byKey, ['2']), undefined),
        driver.snapshot((query) => query(byKey, ['3'])),
      ]
      await driver[Symbol.asyncDispose]()
      assert.equal((await Promise.all(asked)).length, 5)
    })

    test('closing waits for what is under way, and refuses what comes after', async () => {
      await using given = await open()
      const { driver, network } = given
      const last = [
        driver.read('select pg_sleep(0.1), 1', [], 'short'),
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
      await assert.rejects(driver.read(byKey, ['1'], 'short'), kindOf('lost'))
      await assert.rejects(
        driver.transaction((query) => query(increment, ['1']), undefined),
        kindOf('lost'),
      )
      await eventually(() => network.connections === 0 || undefined, 'all have ended')
    })
  })
})

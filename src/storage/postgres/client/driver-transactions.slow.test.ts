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

testPostgresDriver((open) => {
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

    test('the loser of a deadlock leaves the other one the time for the rest of its locks', async () => {
      await using given = await open()
      const { driver } = given
      const keys = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']
      let runs = 0
      const bothHoldTheirFirst = Promise.withResolvers<void>()
      const all = (keys: readonly string[]) =>
        driver.transaction(async (query) => {
          runs++
          for (const key of keys) {
            await query(increment, [key])
            if (runs === 2) bothHoldTheirFirst.resolve()
            await bothHoldTheirFirst.promise
            await query('select pg_sleep(0.02)', [])
          }
        }, undefined)
      await Promise.all([all(keys), all(keys.toReversed())])
      assert.deepEqual(await driver.query('select distinct n from t where id <= 10', []), [['2']])
      assert.ok(runs > 2, 'they met')
    })

    test('of many serializable ones that want the same rows in other orders, each comes to its end', async () => {
      await using given = await open()
      const { driver } = given
      const keys = Array.from({ length: 20 }, (_, index) => String(index + 1))
      const all = (first: number) =>
        driver.transaction(
          async (query) => {
            for (const key of [...keys.slice(first), ...keys.slice(0, first)].toReversed())
              await query(increment, [key])
          },
          undefined,
          { isSerializable: true },
        )
      const repeated = async (client: number) => {
        for (let time = 0; time < 3; time++) await all(client * 2)
      }
      await Promise.all(keys.slice(0, 8).map((_, client) => repeated(client)))
      assert.deepEqual(await driver.query('select distinct n from t where id <= 20', []), [['24']])
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
      const waiting = Array.from({ length: 10 }, (_, index) =>
        driver.transaction((query) => query(increment, [String(index + 51)]), undefined),
      )
      release.resolve()
      await Promise.all([...held, ...waiting])
      assert.deepEqual(await driver.query('select sum(n) from t where id > 50', []), [['10']])
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
})

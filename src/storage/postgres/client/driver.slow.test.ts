import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  byKey,
  increment,
  kindOf,
  sessions,
  statement,
  testPostgresDriver,
} from '../../../../test/support/postgres-driver.ts'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Row } from '../../driver.ts'

testPostgresDriver((open, isPooled) => {
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
      // Behind them it would be among the last; a loaded machine may let a few of them end before it.
      assert.ok(ended.indexOf('record') < 10, ended.join(' '))
    })

    test('of one record by its key are answered before what waits for a used turn is continued', async () => {
      await using given = await open()
      const { driver } = given
      await driver.read({ text: byKey, values: ['1'], access: 'key' })
      // A loaded server may take longer than what waits is delayed.
      let isFirst = false
      for (let attempt = 0; attempt < 100 && !isFirst; attempt++) {
        const ended: string[] = []
        for (eventLoopTurn.usedMs; eventLoopTurn.usedMs < 10; );
        const waiting = eventLoopTurn.next().then(() => ended.push('waiting'))
        const record = driver.read({ text: byKey, values: ['2'], access: 'key' }).then(() => ended.push('record'))
        await Promise.all([waiting, record])
        isFirst = ended[0] === 'record'
      }
      assert.ok(isFirst)
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
        else assert.ok(result.status === 'rejected' && kindOf(index % 3 === 1 ? 'value' : 'missing')(result.reason))
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

    test('the length of prepared statements on the server is bounded', { skip: isPooled }, async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 300; index++) {
        const text = `select ${index}::int as kept${' '.repeat(5_000)}`
        assert.deepEqual(await driver.query(text, []), [[String(index)]])
      }
      const [[kept] = []] = await driver.query('select sum(length(statement)) from pg_prepared_statements', [])
      assert.ok(Number(kept) > 300_000 && Number(kept) < 410_000, `${kept}`)
    })

    test('a statement that always fails does not accumulate prepared statements', async () => {
      await using given = await open()
      const { driver } = given
      for (let index = 0; index < 50; index++) {
        await assert.rejects(driver.query('select 1 / ($1::int8 - 1)', ['1']), kindOf('value'))
        await assert.rejects(driver.query('select nonsense from t', []), kindOf('missing'))
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
})

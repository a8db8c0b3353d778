import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../../test/support/eventually.ts'
import { keepAll, models, names, opened } from '../../../../test/support/postgres-changes.ts'
import { withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore } from '../../../../test/support/postgres-store.ts'
import { defaultLimits } from '../../../support/limits.ts'

describe('the change log: trimming', withPostgres, () => {
  test('deletes older changes and resets only positions before them', async () => {
    await using given = await opened()
    const { store, database } = given
    const before = await store.head()
    await store.insert('pet', { name: 'old' })
    const between = await eventually(async () => {
      await store.store.changes.trim(keepAll)
      const head = await store.head()
      await database.query(`update keelson_horizon set at = at - interval '2 days'`)
      await store.store.changes.trim(keepAll)
      const [[left] = []] = await database.query('select count(*) from keelson_log')
      return left === '0' ? head : undefined
    }, 'it is gone, as soon as no other test has a transaction open that is older')
    assert.equal(await store.read(before), 'reset')
    assert.deepEqual(await store.changesAfter(between), [])
    await store.insert('pet', { name: 'new' })
    assert.deepEqual(names(await store.changesAfter(between)), ['new'])
    assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['new'])
  })

  test('keeps recent changes', async () => {
    await using given = await opened()
    const { store } = given
    const head = await store.head()
    await store.insert('pet', { name: 'young' })
    await store.store.changes.trim(keepAll)
    await store.store.changes.trim(keepAll)
    assert.deepEqual(names(await store.changesAfter(head)), ['young'])
    assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['young'])
  })

  test('by age counts from visibility: a long transaction is recent when it ends', async () => {
    await using given = await opened()
    const { store, database } = given
    const long = await database.connect()
    await long.query('begin')
    await long.query(`insert into pet (name) values ('long')`)
    await store.store.changes.trim(keepAll)
    const head = await store.head()
    await store.insert('pet', { name: 'other' })
    await long.query('commit')
    await database.query(`update keelson_log set at = at - interval '2 days'`)
    await database.query(`update keelson_horizon set at = at - interval '2 days'`)
    await store.store.changes.trim(keepAll)
    assert.deepEqual(names(await store.changesAfter(head)).toSorted(), ['long', 'other'])
  })

  test('by number of rows, in whole operations', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    for (let index = 1; index <= 5; index++) {
      await database.query(`insert into pet (name) values ('a${index}'), ('b${index}')`)
    }
    const kept = (rows: number) =>
      eventually(async () => {
        await store.store.changes.trim({ ...keepAll, rows })
        const [[count] = []] = await database.query('select count(*) from keelson_log')
        return Number(count) <= rows || undefined
      }, `${rows} rows are left`)
    await kept(5)
    assert.equal(await store.read(head), 'reset')
    assert.deepEqual(names(await store.changesAfter(await store.store.changes.tail())), ['a4', 'b4', 'a5', 'b5'])
    await kept(0)
    assert.deepEqual(await store.changesAfter(await store.store.changes.tail()), [])
  })

  test('by bytes, however many rows there are', async () => {
    await using given = await opened()
    const { database } = given
    const operations = 6
    const rows = 20_000
    for (let index = 1; index <= operations; index++)
      await database.query(`insert into pet (name) select 'n' from generate_series(1, ${rows})`)
    const [[bytes] = []] = await database.query('select sum(100 + pg_column_size(after)) / $1::int from keelson_log', [
      operations,
    ])
    // Enough for each statement, and not for one that computes the size of the table with every row.
    const limits = { ...defaultLimits, statementTimeoutMs: 2_000 }
    await using impatient = await openTestStore(database.url, models, { limits })
    for (const kept of [4, 2, 0]) {
      const isTrimmed = async () => {
        await impatient.store.changes.trim({ ...keepAll, bytes: Math.round((kept + 0.5) * Number(bytes)) })
        const [[count] = []] = await database.query('select count(*) from keelson_log')
        return Number(count) <= kept * rows || undefined
      }
      await eventually(isTrimmed, `${kept} operations are left`)
      const left = await database.query('select count(*) from keelson_log group by tx')
      assert.deepEqual(left, Array(kept).fill([String(rows)]))
    }
  })

  test('by number of rows keeps unfinished transactions', async () => {
    await using given = await opened()
    const { store, database } = given
    const long = await database.connect()
    await long.query('begin')
    await long.query(`insert into pet (name) values ('long')`)
    await store.insert('pet', { name: 'other' })
    await store.store.changes.trim({ ...keepAll, rows: 0 })
    const head = await store.head()
    await long.query('commit')
    assert.deepEqual(names(await store.changesAfter(head)), ['long'])
  })

  test('a position inside a trimmed batch is reset, in every process', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
    const batch = await store.read(head, 2)
    assert.ok(batch !== 'reset')
    await eventually(async () => {
      await store.store.changes.trim({ ...keepAll, rows: 0 })
      const [[count] = []] = await database.query('select count(*) from keelson_log')
      return count === '0' || undefined
    }, 'it is gone')
    await using other = await openTestStore(database.url, models)
    assert.equal(await other.read(batch.position, 2), 'reset')
    assert.equal(await store.read(batch.position, 2), 'reset')
  })
})

import assert from 'node:assert/strict'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { newFile } from '../../../../test/support/sqlite.ts'
import { ByteBudget } from '../../byte-budget.ts'
import { DatabaseError } from '../../driver.ts'
import { Connection } from './connection.ts'
import { BudgetExceeded, RowGuard } from './row-guard.ts'

const maxAnswerBytes = 100_000
const canFinalize = Symbol.dispose in StatementSync.prototype
/** Rows of 10,000 characters, and of 10. */
const schema = `create table long (id integer primary key, text text); create table short (id integer primary key, text text);
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 50)
  insert into long select i, replace(hex(zeroblob(5000)), '00', 'ab') from n;
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000) insert into short select i, 'abcdefghij' from n`

function open(): Connection {
  const connection = new Connection(':memory:', { readOnly: false })
  connection.exec(schema)
  return connection
}

const isLarge = (error: unknown) => error instanceof DatabaseError && error.reason.kind === 'large'

/** Each fails or has to be repeated while its rows are read one by one. */
const broken: readonly [name: string, text: string][] = [
  ['an integer beyond 2^53', 'select text, 1 << 60 from long'],
  ['more bytes than there may be', 'select text from long'],
  ['an error behind a row', 'select text, case when id = 2 then abs(-9223372036854775808) end from long order by id'],
  ['a value that is too long', 'select text, case when id = 2 then zeroblob(900000000) end from long order by id'],
]

describe('after a read', () => {
  for (const [name, text] of broken) {
    test(`of ${name}, the next one is of the present state`, () => {
      const path = newFile()
      using writer = new Connection(path, { readOnly: false })
      writer.exec(`pragma journal_mode = wal; ${schema}`)
      using reader = new Connection(path, { readOnly: true })
      for (let times = 0; times < 2; times++) {
        try {
          reader.read(text, [], new ByteBudget(maxAnswerBytes))
        } catch {
          // Whether it fails is not asked here.
        }
      }
      writer.exec('delete from short')
      assert.deepEqual(reader.read('select count(*) from short', []), [[0]])
    })
  }
})

test('after a record whose key is beyond 2^53, statements are prepared', () => {
  using connection = open()
  connection.exec("insert into short values (9007199254740993, 'a')")
  assert.deepEqual(connection.all('select count(*) from short', []), [[1001]])
})

describe('more statements than a connection keeps', () => {
  const many = Array.from({ length: 700 }, (_, index) => `select ${index}`)

  test('are finalized when they are no longer kept', {
    skip: !canFinalize && 'Node 24 cannot finalize a statement',
  }, (t) => {
    using connection = open()
    const prepare = t.mock.method(DatabaseSync.prototype, 'prepare')
    for (const text of many) connection.read(text, [])
    const prepared = prepare.mock.calls.map(({ result }) => result as StatementSync)
    for (const statement of prepared.slice(0, 200)) assert.throws(() => statement.all(), /finalized/)
    for (const statement of prepared.slice(200)) statement.all()
  })

  test('leave those usable that are run again, and those of others', () => {
    using connection = open()
    const own = connection.prepare('select -1')
    connection.all('select count(*) from short', [])
    for (const [value, text] of many.entries()) assert.deepEqual(connection.read(text, []), [[value]])
    assert.deepEqual(connection.all('select count(*) from short', []), [[1000]])
    assert.deepEqual(connection.read('select 0', []), [[0]])
    assert.deepEqual(own.all() as unknown, [[-1]])
  })
})

describe('a read within a budget', () => {
  test('returns what a read returns, and counts long values', () => {
    const connection = open()
    for (const text of ['select * from short', 'select * from long limit 15', 'select * from long limit 0']) {
      const budget = new ByteBudget(maxAnswerBytes)
      const before = budget.left
      const rows = connection.read(text, [], budget)
      assert.deepEqual(rows, connection.read(text, []))
      assert.equal(before - budget.left, text.includes('15') ? 150_000 : text.includes('short') ? 10_000 : 0)
    }
  })

  test('ends when the rows have more bytes, and later reads are not affected', () => {
    const connection = open()
    for (let times = 0; times < 2; times++)
      assert.throws(() => connection.read('select * from long', [], new ByteBudget(maxAnswerBytes)), isLarge)
    const short = new ByteBudget(1_000)
    assert.throws(() => connection.read('select * from short', [], short), isLarge)
    assert.equal(connection.read('select * from long', []).length, 50)
    assert.equal(connection.all('select max(text) from long', []).length, 1)
  })

  test('several reads share it', () => {
    const connection = open()
    const budget = new ByteBudget(maxAnswerBytes)
    connection.read('select * from long where id <= 15', [], budget)
    assert.throws(() => connection.read('select * from long where id > 40', [], budget), isLarge)
  })

  test('binds long values, and reads integers beyond 2^53', () => {
    const connection = open()
    const long = 'é'.repeat(5_000)
    assert.deepEqual(connection.read('select ?', [long], new ByteBudget(maxAnswerBytes)), [[long]])
    const text = 'select 9007199254740993, text from long limit 1'
    for (let times = 0; times < 2; times++)
      assert.equal(connection.read(text, [], new ByteBudget(maxAnswerBytes))[0]?.[0], 9007199254740993n)
  })

  test('exceeds its time with long values as with short ones', async () => {
    const connection = open()
    const guard = new RowGuard()
    guard.install(connection)
    for (const table of ['short', 'long']) {
      const text = `select * from ${table} where keelson_guard() limit 5`
      assert.equal(connection.read(text, [], new ByteBudget(maxAnswerBytes)).length, 5)
      const run = () => guard.limit(-1, () => connection.read(text, [], new ByteBudget(maxAnswerBytes)))
      assert.throws(run, BudgetExceeded)
      await pause(1)
      assert.equal(guard.limit(60_000, () => connection.read(text, [], new ByteBudget(maxAnswerBytes))).length, 5)
    }
  })

  test('exceeds its time between the patterns of one row', () => {
    const connection = open()
    const guard = new RowGuard()
    guard.install(connection)
    const text = `select 1 where keelson_like('abc', '%x%y%') or keelson_like('abc', '%a%c%')`
    assert.throws(() => guard.limit(-1, () => connection.read(text, [])), BudgetExceeded)
    assert.deepEqual(
      guard.limit(60_000, () => connection.read(text, [])),
      [[1]],
    )
  })

  test('does not begin to match a pattern that would take longer than the time that is left', () => {
    const connection = open()
    const guard = new RowGuard()
    guard.install(connection)
    const values = ['é'.repeat(1_000_000), `%${'é_'.repeat(400)}b%`]
    const match = (maxCpuMs?: number) => () =>
      guard.limit(25, () => connection.read('select keelson_like(?, ?)', values), maxCpuMs)
    for (const maxCpuMs of [undefined, 12.5]) assert.throws(match(maxCpuMs), BudgetExceeded)
    assert.deepEqual(
      guard.limit(60_000, () => connection.read('select keelson_like(?, ?)', values)),
      [[0]],
    )
  })

  test('does not begin to compare a JSON value that would take longer than the time that is left', (t) => {
    t.mock.method(performance, 'now', () => 0)
    const connection = open()
    const guard = new RowGuard()
    guard.install(connection)
    const text = `[${'1,'.repeat(300_000)}1]`
    const compare = (canonical: string, budgetMs: number) => () =>
      guard.limit(budgetMs, () => connection.read('select keelson_same_json(?, ?)', [text, canonical]))
    assert.throws(compare('[1]', 25), BudgetExceeded)
    assert.deepEqual(compare(text, 25)(), [[1]])
    assert.deepEqual(compare('[1]', 60_000)(), [[0]])
    assert.deepEqual(connection.read('select keelson_same_json(null, ?)', [text]), [[null]])
  })
})

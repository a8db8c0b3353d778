import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { models, names, opened } from '../../../../test/support/postgres-changes.ts'
import { emptyDatabase, withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore, summarize } from '../../../../test/support/postgres-store.ts'
import { unreliableNetwork } from '../../../../test/support/unreliable-network.ts'
import type { Change } from '../../../protocol/change.ts'

describe('the change log: what is read', withPostgres, () => {
  test('what the models of a reader do not include is not sent to it', async () => {
    await using database = await emptyDatabase()
    await using network = await unreliableNetwork(database.url)
    await using store = await openTestStore(network.url, models)
    const { changes } = store.store
    const head = await store.head()
    await store.insert('owner', { name: 'x'.repeat(1_000_000) })
    await store.insert('pet', { name: 'first' })
    await store.changesAfter(head)
    const before = network.receivedBytes
    for (const limit of [1, 500]) {
      const batch = await changes.read(head, limit, (model) => model === 'pet')
      assert.deepEqual(batch !== 'reset' && names(batch.changes), ['first'])
    }
    assert.ok(network.receivedBytes - before < 100_000, `${network.receivedBytes - before} bytes`)
  })

  test('of large changes fewer are read at once', async () => {
    await using given = await opened()
    const { changes } = given.store.store
    const head = await given.store.head()
    for (let index = 0; index < 40; index++)
      await given.store.insert('owner', { name: `${index}${'x'.repeat(1_000_000)}` })
    const sizes: number[] = []
    const read: Change[] = []
    for (let position = head; ; ) {
      const batch = await changes.read(position, 500)
      assert.ok(batch !== 'reset')
      if (batch.changes.length === 0) break
      sizes.push(batch.changes.length)
      read.push(...batch.changes)
      position = batch.position
    }
    assert.deepEqual(
      read.map(({ after }) => Number.parseInt(after?.name as string, 10)),
      Array.from({ length: 40 }, (_, index) => index),
    )
    assert.ok(Math.max(...sizes) <= 16, `${sizes}`)
  })

  test('what is wanted since the log was asked is asked for again', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, models)
    const { changes } = store.store
    const head = await store.head()
    await store.insert('owner', { name: 'Ann' })
    await store.insert('pet', { name: 'Rex' })
    await store.changesAfter(head)
    for (const limit of [1, 500]) {
      let wanted: readonly string[] = ['pet']
      const reading = changes.read(head, limit, (model) => wanted.includes(model))
      wanted = ['pet', 'owner']
      const batch = await reading
      assert.ok(batch !== 'reset')
      assert.deepEqual(names(batch.changes), ['Ann', 'Rex'].slice(0, limit))
    }
  })
})

describe('the change log: order', withPostgres, () => {
  test('two transactions change one row: the changes come in the order of the writes, not of the beginnings', async () => {
    await using given = await opened()
    const { store, database } = given
    await store.insert('pet', { name: 'first' })
    await store.insert('pet', { name: 'other' })
    const head = await store.head()

    const open = await database.connect()
    await open.query('begin')
    await open.query(`insert into tag default values`) // has a number, and stays open
    const early = await database.connect()
    await early.query('begin')
    await early.query(`update pet set name = 'early, elsewhere' where id = 2`)
    const late = await database.connect()
    await late.query(`update pet set name = 'late' where id = 1`)
    const between = await store.read(head)
    assert.ok(between !== 'reset')
    await early.query(`update pet set name = 'early' where id = 1`)
    await early.query('commit')

    const all = await store.changesAfter(head)
    assert.deepEqual(names(all.filter(({ id }) => id === 1)), ['late', 'early'])
    assert.deepEqual(names(between.changes), ['late'], 'nothing waits for the one that is still open')
    const rest = await store.changesAfter(between.position)
    assert.deepEqual(names(rest), ['early, elsewhere', 'early'])
    await open.query('commit')
    const last = await store.changesAfter(between.position)
    assert.deepEqual(summarize(last).toSorted(), ['pet 1 updated', 'pet 2 updated', 'tag 1 created'])
  })

  test('the rows of one operation come together, after those of an operation that ended meanwhile', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    const outer = await database.connect()
    await outer.query('begin')
    await outer.query(`insert into pet (name) values ('outer 1')`)
    await database.query(`insert into pet (name) values ('inner')`)
    await outer.query(`insert into pet (name) values ('outer 2')`)
    await outer.query('commit')
    const changes = await store.changesAfter(head)
    assert.deepEqual(names(changes), ['inner', 'outer 1', 'outer 2'])
    assert.equal(new Set(changes.map(({ operation }) => operation)).size, 2)
    // Resumed behind the first, the whole of the second follows.
    assert.deepEqual(names(await store.changesAfter(changes[0]?.position as string)), ['outer 1', 'outer 2'])
  })

  test('a rolled back change is never read', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    await database.query('begin')
    await database.query(`insert into pet (name) values ('no')`)
    await database.query('rollback')
    await assert.rejects(
      store.transaction(async (transaction) => {
        await transaction.insert('pet', { name: 'no' })
        throw new Error('changed my mind')
      }),
      /changed my mind/,
    )
    await store.insert('pet', { name: 'yes' })
    assert.deepEqual(names(await store.changesAfter(head)), ['yes'])
  })

  test('an idle transaction in another database delays no change', async () => {
    await using given = await opened()
    const { store } = given
    await using elsewhere = await emptyDatabase()
    const idle = await elsewhere.connect()
    await idle.query('begin')
    await idle.query('create table t ()')
    const head = await store.head()
    await store.insert('pet', { name: 'Rex' })
    const batch = await store.read(head)
    assert.ok(batch !== 'reset')
    assert.deepEqual(names(batch.changes), ['Rex'])
    assert.deepEqual(names(await store.changesAfter(batch.position)), [], 'not read twice')
    await idle.query('rollback')
    assert.deepEqual(names(await store.changesAfter(batch.position)), [])
  })
})

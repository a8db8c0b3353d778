import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { models, names, opened } from '../../../../test/support/postgres-changes.ts'
import { withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore, summarize } from '../../../../test/support/postgres-store.ts'
import type { Change, Position } from '../../../protocol/change.ts'
import { SingleReads } from '../client/single-reads.ts'

describe('the change log: batches', withPostgres, () => {
  for (const limit of [1, 2, 3, 7, 100]) {
    test(`of about ${limit} are whole operations without gaps or repetitions`, async () => {
      await using given = await opened()
      const { store, database } = given
      const head = await store.head()
      for (let index = 0; index < 10; index++) {
        await database.query(`insert into pet (name) select 'n' || i from generate_series(1, ${1 + (index % 4)}) i`)
      }
      const long = await database.connect()
      await long.query('begin')
      await long.query(`insert into owner (name) values ('long')`)
      const operations: string[] = []
      let position = head
      for (let turn = 0; ; turn++) {
        // Others go on writing while the backlog is read.
        if (turn === 2) await database.query(`insert into pet (name) values ('later')`)
        if (turn === 3) await long.query('commit')
        const batch = await store.read(position, limit)
        assert.ok(batch !== 'reset')
        if (batch.changes.length === 0 && turn > 4) break
        const inBatch = [...Map.groupBy(batch.changes, ({ operation }) => operation)]
        for (const [operation, changes] of inBatch) {
          assert.ok(!operations.includes(operation), 'an operation was split, or came twice')
          assert.ok(
            batch.changes.indexOf(changes.at(-1) as Change) - batch.changes.indexOf(changes[0] as Change) ===
              changes.length - 1,
          )
          operations.push(operation)
        }
        assert.ok(batch.changes.length <= limit + 3)
        position = batch.position
      }
      assert.equal(operations.length, 12)
      assert.equal(new Set(summarize(await store.changesAfter(head, limit))).size, 23 + 2)
    })
  }

  test('reading resumes from every position', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
    for (const limit of [2, 100]) {
      const changes = await store.changesAfter(head, limit)
      for (const [index, { position }] of changes.entries()) {
        assert.deepEqual(names(await store.changesAfter(position)), names(changes.slice(index + 1)))
      }
    }
  })

  test('readers at different positions, which take turns, each have the order of their operations from one statement', async (t) => {
    await using given = await opened()
    const { store, database } = given
    const readers = 20
    const heads: Position[] = []
    for (let index = 0; index < 2 * readers; index++) {
      if (index < readers) heads.push(await store.head())
      await database.query(`insert into pet (name) values ('n${index}')`)
    }
    const queries = t.mock.method(SingleReads.prototype, 'query')
    const read = heads.map(() => 0)
    for (let positions = heads; read.some((count, index) => count < 2 * readers - index); ) {
      const batches = await Promise.all(positions.map((position) => store.read(position, 3)))
      positions = batches.map((batch, index) => {
        assert.ok(batch !== 'reset')
        read[index] = (read[index] ?? 0) + batch.changes.length
        return batch.position
      })
    }
    const ordered = queries.mock.calls.filter(({ arguments: [text] }) => text.includes('group by tx'))
    assert.equal(ordered.length, readers)
  })

  test('a position inside a batch is valid in another process, and later', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    const long = await database.connect()
    await long.query('begin')
    await long.query(`insert into pet (name) values ('long')`)
    for (let index = 1; index <= 6; index++) await database.query(`insert into pet (name) values ('n${index}')`)
    const first = await store.read(head, 2)
    assert.ok(first !== 'reset')
    await long.query(`insert into pet (name) values ('long, still')`)
    await long.query('commit')
    await database.query(`insert into pet (name) values ('last')`)
    await using other = await openTestStore(database.url, models)
    const rest = ['n3', 'n4', 'n5', 'n6']
    for (const limit of [1, 2, 100]) {
      assert.deepEqual(names(await other.changesAfter(first.position, limit)), [...rest, 'long', 'long, still', 'last'])
    }
  })

  test('changes of models of another process are skipped, and later ones are read', async () => {
    await using given = await opened()
    const { store, database } = given
    await using narrow = await openTestStore(database.url, { owner: models.owner })
    const head = await narrow.head()
    for (let index = 1; index <= 6; index++) await store.insert('pet', { name: `n${index}` })
    await store.insert('owner', { name: 'Ann' })
    for (let index = 1; index <= 6; index++) await store.insert('pet', { name: `n${index}` })
    for (const limit of [1, 2, 6, 100]) {
      assert.deepEqual(summarize(await narrow.changesAfter(head, limit)), ['owner 1 created'], `about ${limit}`)
    }
  })

  test('a snapshot includes what it shows, and nothing else', async () => {
    await using given = await opened()
    const { store, database } = given
    const head = await store.head()
    const open = await database.connect()
    await open.query('begin')
    await open.query(`insert into pet (name) values ('open')`)
    await store.insert('pet', { name: 'before' })
    const { value, position } = await store.store.snapshot((reads) =>
      reads.count(store.model('pet'), { kind: 'and', conditions: [] }),
    )
    await store.insert('pet', { name: 'after' })
    await open.query('commit')
    assert.equal(value, 1)
    const changes = await store.changesAfter(head)
    const covered = changes.filter((change) => store.store.changes.includes(position, change))
    assert.deepEqual(names(covered), ['before'])
    assert.deepEqual(names(await store.changesAfter(position)), ['open', 'after'].toSorted(byPlace(changes)))
  })
})

const byPlace = (changes: readonly Change[]) => (a: string, b: string) =>
  names(changes).indexOf(a) - names(changes).indexOf(b)

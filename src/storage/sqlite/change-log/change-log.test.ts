import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesAfter, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { batchOf, models, summarize } from '../../../../test/support/sqlite-changes.ts'

describe('reading', () => {
  test('continues after the last batch, in whole operations', async () => {
    await using sqlite = await SqliteForTest.open(models)
    await sqlite.create('owner', { name: 'Ann' })
    for (let pet = 0; pet < 10; pet++) await sqlite.create('pet', { owner: 1 })
    const head = await sqlite.changes.head()
    assert.equal((await sqlite.ask('DELETE', '/owner/1')).status, 200)
    await sqlite.create('pet', {})
    const first = batchOf(await sqlite.changes.read(head, 3))
    assert.equal(first.changes.length, 11, 'an operation is never cut')
    const second = batchOf(await sqlite.changes.read(first.position, 3))
    assert.deepEqual(summarize(second.changes), ['pet 11 created'])
    const third = batchOf(await sqlite.changes.read(second.position, 3))
    assert.deepEqual(third, { changes: [], position: second.position })
    assert.equal(second.position, await sqlite.changes.head())
  })

  test('from the position of any change returns the following ones', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    for (const name of ['a', 'b', 'c']) await sqlite.create('owner', { name })
    const changes = await changesAfter(sqlite.changes, head)
    for (const [index, { position }] of changes.entries()) {
      assert.deepEqual(await changesAfter(sqlite.changes, position), changes.slice(index + 1))
    }
  })

  test('returns time, before image and after image of every change', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    const earliest = Date.now()
    await sqlite.create('owner', { name: 'Ann' })
    await sqlite.ask('PATCH', '/owner/1', { name: 'Bea' })
    await sqlite.ask('DELETE', '/owner/1')
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(
      changes.map(({ before, after }) => [before, after]),
      [
        [undefined, { id: 1, name: 'Ann' }],
        [
          { id: 1, name: 'Ann' },
          { id: 1, name: 'Bea' },
        ],
        [{ id: 1, name: 'Bea' }, undefined],
      ],
    )
    for (const { at } of changes) assert.ok(Date.parse(at) >= earliest - 1 && Date.parse(at) <= Date.now() + 1, at)
  })

  test('notifies of commits of this process and of other programs', async () => {
    await using sqlite = await SqliteForTest.open(models)
    let woken = Promise.withResolvers<void>()
    using _ = sqlite.changes.onChange(() => woken.resolve())
    await sqlite.create('owner', { name: 'Ann' })
    await woken.promise
    await new Promise((resolve) => setTimeout(resolve, 500)) // pending notifications of the first write
    woken = Promise.withResolvers<void>()
    sqlite.otherProgram.exec(`insert into owner (name) values ('Bea')`)
    await woken.promise
  })
})

test('numbers are never reused, also after the log was emptied and the file reopened', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(models, { path })
  const { id } = await first.create('owner', { name: 'Ann' })
  await first.ask('DELETE', `/owner/${id}`)
  await first.changes.trim({ ageMs: 1e9, rows: 0 })
  const emptied = await first.changes.head()
  await first[Symbol.asyncDispose]()

  await using second = await SqliteForTest.open(models, { path })
  assert.equal(await second.changes.head(), emptied)
  assert.deepEqual(await second.create('owner', { name: 'Bea' }), { id: 2, name: 'Bea' })
  assert.deepEqual(
    (await changesAfter(second.changes, emptied)).map(({ operation }) => operation),
    ['3'],
  )
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changesAfter, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { models, summarize, write } from '../../../../test/support/sqlite-changes.ts'

describe('an operation', () => {
  test('has one number and one origin for all its rows', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    await write(sqlite, 'POST', '/owner', { name: 'Ann' }, 'peer-1')
    await write(sqlite, 'POST', '/pet', { name: 'Rex', owner: 1 })
    await write(sqlite, 'POST', '/pet', { name: 'Max', owner: 1 }, 'peer-2')
    await write(sqlite, 'DELETE', '/owner/1', undefined, 'peer-1')
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(summarize(changes), [
      'owner 1 created',
      'pet 1 created',
      'pet 2 created',
      'pet 1 updated',
      'pet 2 updated',
      'owner 1 destroyed',
    ])
    assert.deepEqual(
      changes.map(({ origin }) => origin),
      ['peer-1', undefined, 'peer-2', 'peer-1', 'peer-1', 'peer-1'],
    )
    const numbers = changes.map(({ operation }) => operation)
    assert.equal(new Set(numbers).size, 4)
    assert.equal(new Set(numbers.slice(3)).size, 1)
  })

  test('keeps its number and origin in a shared commit', async () => {
    await using sqlite = await SqliteForTest.open(models)
    for (const name of ['a', 'b', 'c']) {
      const { id } = await sqlite.create('owner', { name })
      await sqlite.create('pet', { name, owner: id as number })
    }
    const head = await sqlite.changes.head()
    await Promise.all([
      ...[1, 2, 3].map((id) => write(sqlite, 'DELETE', `/owner/${id}`, undefined, id === 2 ? undefined : `peer-${id}`)),
      write(sqlite, 'POST', '/owner', { name: 'd' }, 'peer-4'),
    ])
    const changes = await changesAfter(sqlite.changes, head)
    const byOperation = [...Map.groupBy(changes, ({ operation }) => operation).values()]
    assert.deepEqual(
      byOperation.map((rows) => [rows.map(({ origin }) => origin ?? 'none').join(), ...summarize(rows)]).sort(),
      [
        ['none,none', 'pet 2 updated', 'owner 2 destroyed'],
        ['peer-1,peer-1', 'pet 1 updated', 'owner 1 destroyed'],
        ['peer-3,peer-3', 'pet 3 updated', 'owner 3 destroyed'],
        ['peer-4', 'owner 4 created'],
      ],
    )
  })

  test('of another program is one row without an origin', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    sqlite.otherProgram.exec(
      `begin; insert into owner (name) values ('a'), ('b'); insert into pet (name) values ('c'); commit`,
    )
    const changes = await changesAfter(sqlite.changes, head)
    assert.equal(new Set(changes.map(({ operation }) => operation)).size, 3)
    assert.deepEqual(
      changes.filter(({ origin }) => origin !== undefined),
      [],
    )
  })

  test('that fails adds nothing to the log', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    const answers = await Promise.all([
      sqlite.ask('POST', '/pet', { owner: 9 }),
      sqlite.ask('POST', '/pet', { name: 'Rex' }),
    ])
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400, 201],
    )
    assert.equal((await changesAfter(sqlite.changes, head)).length, 1)
  })
})

test('an operation of thousands of rows is read whole, by any limit', async () => {
  await using sqlite = await SqliteForTest.open(models)
  const head = await sqlite.changes.head()
  const numbers = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 2300)'
  sqlite.otherProgram.exec(`insert into owner (name) ${numbers} select 'Owner ' || i from n;
    insert into keelson_operation values (1, 2300, null); insert into owner (name) values ('last')`)
  for (const limit of [1, 499, 500, 3000]) {
    const batch = await sqlite.changes.read(head, limit)
    assert.ok(batch !== 'reset')
    assert.equal(batch.changes.length, limit === 3000 ? 2301 : 2300, `limit ${limit}`)
    const rest = await changesAfter(sqlite.changes, batch.position)
    assert.equal(rest.length, limit === 3000 ? 0 : 1)
  }
})

import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { changesAfter, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { defineModels } from '../../../model/define.ts'
import type { Change } from '../../../protocol/change.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { defaultLimits } from '../../../support/limits.ts'
import type { ChangeBatch } from '../../change-log.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import type { Driver } from '../../driver.ts'
import { SqliteDriver } from '../client/driver.ts'
import { SqliteChangeLog } from './change-log.ts'

const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const

const verbs = (changes: readonly Change[]) => changes.map(({ model, verb, id }) => `${model} ${id} ${verb}`)
const batchOf = (batch: ChangeBatch | 'reset'): ChangeBatch => {
  assert.ok(batch !== 'reset')
  return batch
}

/** A write with an origin, or without one. */
async function write(
  sqlite: SqliteForTest,
  method: string,
  path: string,
  body: JsonObject | undefined,
  origin?: string,
  query = '',
) {
  const peer = origin === undefined ? undefined : { id: origin, mirror: false, send: () => true, reset: () => {} }
  const { status } = await sqlite.service.handle({ method, path, query, body, headers: {}, site: 'none', peer })
  assert.ok(status < 300, `${method} ${path}: ${status}`)
}

describe('an operation', () => {
  test('has one number and one origin for all its rows', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    await write(sqlite, 'POST', '/owner', { name: 'Ann' }, 'peer-1')
    await write(sqlite, 'POST', '/pet', { name: 'Rex', owner: 1 })
    await write(sqlite, 'POST', '/pet', { name: 'Max', owner: 1 }, 'peer-2')
    await write(sqlite, 'DELETE', '/owner/1', undefined, 'peer-1')
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(verbs(changes), [
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
      byOperation.map((rows) => [rows.map(({ origin }) => origin ?? 'none').join(), ...verbs(rows)]).sort(),
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
    assert.deepEqual(verbs(second.changes), ['pet 11 created'])
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

describe('a position that was trimmed or belongs to another history', () => {
  test('is answered with reset, in any form', async () => {
    await using sqlite = await SqliteForTest.open(models)
    await sqlite.create('owner', { name: 'Ann' })
    await using other = await SqliteForTest.open(models)
    await other.create('owner', { name: 'Ann' })
    const head = await sqlite.changes.head()
    const [nonce, seq, at] = head.split('.')
    const places = [
      await other.changes.head(),
      '',
      'x',
      '..',
      `${nonce}`,
      `${nonce}..${at}`,
      `${nonce}.${seq}.`,
      `${nonce}.${seq}.${at}0`,
      `${nonce}.-1.${at}`,
      `${nonce}.zzzzzz.${at}`,
      `other.${seq}.${at}`,
    ]
    for (const place of places) assert.equal(await sqlite.changes.read(place, 10), 'reset', place)
  })

  test('is answered with reset after a trim, and a later position is not', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const places = [await sqlite.changes.head()]
    for (let index = 0; index < 10; index++) {
      await sqlite.create('owner', { name: `${index}` })
      places.push(await sqlite.changes.head())
    }
    await sqlite.changes.trim({ ageMs: 1e9, rows: 4 })
    for (const [index, place] of places.entries()) {
      const batch = await sqlite.changes.read(place, 100)
      assert.equal(batch === 'reset' ? batch : batch.changes.length, index < 6 ? 'reset' : 10 - index, `place ${index}`)
    }
  })

  test('by age, and when the log is empty', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const start = await sqlite.changes.head()
    await sqlite.create('owner', { name: 'Ann' })
    const head = await sqlite.changes.head()
    await sqlite.changes.trim({ ageMs: 1e9, rows: 1000 })
    assert.equal((await changesAfter(sqlite.changes, start)).length, 1, 'a young change stays')
    sqlite.otherProgram.exec('update keelson_log set at = at - 5000')
    await sqlite.changes.trim({ ageMs: 1000, rows: 1000 })
    assert.equal(sqlite.otherProgram.prepare('select count(*) as n from keelson_log').get()?.n, 0)
    assert.equal(await sqlite.changes.read(start, 10), 'reset')
    assert.equal(await sqlite.changes.read(head, 10), 'reset', 'its time was changed, so it is another row')
    const emptied = await sqlite.changes.head()
    await sqlite.create('owner', { name: 'Bea' })
    assert.deepEqual(verbs(await changesAfter(sqlite.changes, emptied)), ['owner 2 created'])
  })

  test('after a trim in several steps', async () => {
    await using sqlite = await SqliteForTest.open(models)
    sqlite.otherProgram.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) insert into owner (name) select i from n`,
    )
    await sqlite.changes.trim({ ageMs: 1e9, rows: 10 })
    assert.deepEqual(
      { ...sqlite.otherProgram.prepare('select count(*) n, min(seq) first from keelson_log').get() },
      { n: 10, first: 4991 },
    )
  })

  test('after a trim of rows of some megabytes, which are read and deleted a few at a time', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const start = await sqlite.changes.head()
    const ids = `with recursive n (i) as (select 1 union all select i + 1 from n where i < 12)`
    sqlite.otherProgram.exec(`${ids} insert into owner (name) select hex(zeroblob(500000)) from n`)
    await write(sqlite, 'PATCH', '/owner', { name: 'short' }, undefined, 'where={"id":{">":0}}')
    const alone = batchOf(await sqlite.changes.read(start, 500))
    assert.deepEqual(verbs(alone.changes), ['owner 1 created'])
    const all = await changesAfter(sqlite.changes, start)
    assert.equal(all.length, 24)
    assert.equal(new Set(all.slice(12).map(({ position }) => position)).size, 1, 'one operation')
    await sqlite.changes.trim({ ageMs: 1e9, rows: 2 })
    assert.deepEqual(
      { ...sqlite.otherProgram.prepare('select count(*) n, min(seq) first from keelson_log').get() },
      { n: 2, first: 23 },
    )
  })

  test('a restored backup: before it has caught up, and after', async () => {
    const path = newFile()
    const backup = newFile()
    const first = await SqliteForTest.open(models, { path })
    await first.create('owner', { name: 'Ann' })
    const shared = await first.changes.head()
    await first[Symbol.asyncDispose]()
    copyFileSync(path, backup)

    const second = await SqliteForTest.open(models, { path })
    await second.create('owner', { name: 'lost' })
    const lost = await second.changes.head()
    await second[Symbol.asyncDispose]()
    copyFileSync(backup, path)

    await new Promise((resolve) => setTimeout(resolve, 5)) // a position consists of a number and a time in milliseconds
    await using restored = await SqliteForTest.open(models, { path })
    assert.equal(await restored.changes.read(lost, 10), 'reset')
    await restored.create('owner', { name: 'another' })
    assert.equal(await restored.changes.read(lost, 10), 'reset', 'the number is taken again, by another change')
    assert.deepEqual(verbs(await changesAfter(restored.changes, shared)), ['owner 2 created'])
  })

  for (const [what, statements, limit] of [
    ['its place', 1, 10],
    ['its changes', 2, 10],
    ['the rest of an operation', 2, 1],
  ] as const) {
    test(`trimmed during a read, just before ${what}: no change is skipped silently`, async () => {
      const path = newFile()
      await using sqlite = await SqliteForTest.open(models, { path })
      await sqlite.create('owner', { name: 'Ann' })
      const nonce = sqlite.otherProgram.prepare(`select value from keelson_meta where name = 'nonce'`).get()?.value
      const driver = new SqliteDriver({ path, limits: defaultLimits, notifier: new ChangeNotifier() })
      let reads = 0
      const slowed = new Proxy<Driver>(driver, {
        get: (target, name) => (name === 'query' ? query : Reflect.get(target, name).bind(target)),
      })
      const query: Driver['query'] = async (...statement) => {
        if (++reads === statements) await sqlite.changes.trim({ ageMs: 1e9, rows: 1 })
        return driver.query(...statement)
      }
      const place = await sqlite.changes.head()
      sqlite.otherProgram.exec(
        `insert into owner (name) values ('a'), ('b'), ('c'); insert into keelson_operation values (2, 4, null)`,
      )
      const log = new SqliteChangeLog({
        driver: slowed,
        models: defineModels(models),
        nonce: nonce as string,
        notifier: new ChangeNotifier(),
      })
      const batch = await log.read(place, limit)
      await driver[Symbol.asyncDispose]()
      if (batch !== 'reset')
        assert.deepEqual(verbs(batch.changes), ['owner 2 created', 'owner 3 created', 'owner 4 created'])
    })
  }
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

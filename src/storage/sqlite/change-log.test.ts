import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { changesAfter, newFile, SqliteForTest } from '../../../test/sqlite.ts'
import { defineModels } from '../../model/define.ts'
import type { Change } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'
import type { ChangeBatch } from '../change-log.ts'
import type { Driver } from '../driver.ts'
import { Wake } from '../wake.ts'
import { SqliteChangeLog } from './change-log.ts'
import { SqliteDriver } from './driver.ts'

const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const

const verbs = (changes: readonly Change[]) => changes.map(({ model, verb, id }) => `${model} ${id} ${verb}`)
const batchOf = (batch: ChangeBatch | 'reset'): ChangeBatch => {
  assert.ok(batch !== 'reset')
  return batch
}

/** A write of somebody who listens, or of nobody. */
async function write(
  sqlite: SqliteForTest,
  method: string,
  path: string,
  body: JsonObject | undefined,
  origin?: string,
) {
  const peer = origin === undefined ? undefined : { id: origin, mirror: false, send: () => true, reset: () => {} }
  const { status } = await sqlite.service.handle({ method, path, query: '', body, headers: {}, peer })
  assert.ok(status < 300, `${method} ${path}: ${status}`)
}

describe('an operation', () => {
  test('has one number for all its rows, and names who caused it', async () => {
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

  test('keeps its number and origin among others in the same commit', async () => {
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
      byOperation.map((rows) => [rows.map(({ origin }) => origin ?? 'nobody').join(), ...verbs(rows)]).sort(),
      [
        ['nobody,nobody', 'pet 2 updated', 'owner 2 destroyed'],
        ['peer-1,peer-1', 'pet 1 updated', 'owner 1 destroyed'],
        ['peer-3,peer-3', 'pet 3 updated', 'owner 3 destroyed'],
        ['peer-4', 'owner 4 created'],
      ],
    )
  })

  test('of a stranger is each row on its own, and nobody’s', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    sqlite.stranger.exec(
      `begin; insert into owner (name) values ('a'), ('b'); insert into pet (name) values ('c'); commit`,
    )
    const changes = await changesAfter(sqlite.changes, head)
    assert.equal(new Set(changes.map(({ operation }) => operation)).size, 3)
    assert.deepEqual(
      changes.filter(({ origin }) => origin !== undefined),
      [],
    )
  })

  test('that fails leaves nothing in the log', async () => {
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
  test('goes on where it ended, whole operations at a time', async () => {
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

  test('from the place of any change gives those after it', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const head = await sqlite.changes.head()
    for (const name of ['a', 'b', 'c']) await sqlite.create('owner', { name })
    const changes = await changesAfter(sqlite.changes, head)
    for (const [index, { position }] of changes.entries()) {
      assert.deepEqual(await changesAfter(sqlite.changes, position), changes.slice(index + 1))
    }
  })

  test('says of every change when it was, what it was before and after', async () => {
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

  test('wakes up for our own commits and for strangers’', async () => {
    await using sqlite = await SqliteForTest.open(models)
    let woken = Promise.withResolvers<void>()
    using _ = sqlite.changes.onWake(() => woken.resolve())
    await sqlite.create('owner', { name: 'Ann' })
    await woken.promise
    await new Promise((resolve) => setTimeout(resolve, 500)) // what is still to be told of the first
    woken = Promise.withResolvers<void>()
    sqlite.stranger.exec(`insert into owner (name) values ('Bea')`)
    await woken.promise
  })
})

describe('a place that is gone, or belongs to another history', () => {
  test('is answered with reset, whatever it looks like', async () => {
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

  test('is answered with reset after a trim, and a place that is left is not', async () => {
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

  test('by age, and when nothing at all is left', async () => {
    await using sqlite = await SqliteForTest.open(models)
    const start = await sqlite.changes.head()
    await sqlite.create('owner', { name: 'Ann' })
    const head = await sqlite.changes.head()
    await sqlite.changes.trim({ ageMs: 1e9, rows: 1000 })
    assert.equal((await changesAfter(sqlite.changes, start)).length, 1, 'a young change stays')
    sqlite.stranger.exec('update keelson_log set at = at - 5000')
    await sqlite.changes.trim({ ageMs: 1000, rows: 1000 })
    assert.equal(sqlite.stranger.prepare('select count(*) as n from keelson_log').get()?.n, 0)
    assert.equal(await sqlite.changes.read(start, 10), 'reset')
    assert.equal(await sqlite.changes.read(head, 10), 'reset', 'its time was changed, so it is another row')
    const emptied = await sqlite.changes.head()
    await sqlite.create('owner', { name: 'Bea' })
    assert.deepEqual(verbs(await changesAfter(sqlite.changes, emptied)), ['owner 2 created'])
  })

  test('more than one step of a trim deletes', async () => {
    await using sqlite = await SqliteForTest.open(models)
    sqlite.stranger.exec(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) insert into owner (name) select i from n`,
    )
    await sqlite.changes.trim({ ageMs: 1e9, rows: 10 })
    assert.deepEqual(
      { ...sqlite.stranger.prepare('select count(*) n, min(seq) first from keelson_log').get() },
      { n: 10, first: 4991 },
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

    await new Promise((resolve) => setTimeout(resolve, 5)) // a place is a number and a millisecond
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
    test(`while it is read, just before ${what}: nothing is skipped in silence`, async () => {
      const path = newFile()
      await using sqlite = await SqliteForTest.open(models, { path })
      await sqlite.create('owner', { name: 'Ann' })
      const nonce = sqlite.stranger.prepare(`select value from keelson_meta where name = 'nonce'`).get()?.value
      const driver = new SqliteDriver(path, defaultLimits, new Wake())
      let reads = 0
      const slowed = new Proxy<Driver>(driver, {
        get: (target, name) => (name === 'read' ? read : Reflect.get(target, name).bind(target)),
      })
      const read: Driver['read'] = async (...statement) => {
        if (++reads === statements) await sqlite.changes.trim({ ageMs: 1e9, rows: 1 })
        return driver.read(...statement)
      }
      const place = await sqlite.changes.head()
      sqlite.stranger.exec(`insert into owner (name) values ('a'), ('b'), ('c'); update keelson_log set operation = 2`)
      const log = new SqliteChangeLog({
        driver: slowed,
        models: defineModels(models),
        nonce: nonce as string,
        wake: new Wake(),
      })
      const batch = await log.read(place, limit)
      await driver[Symbol.asyncDispose]()
      if (batch !== 'reset')
        assert.deepEqual(verbs(batch.changes), ['owner 2 created', 'owner 3 created', 'owner 4 created'])
    })
  }
})

test('numbers are never used twice, also when the log was emptied and the file opened anew', async () => {
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

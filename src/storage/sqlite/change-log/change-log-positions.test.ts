import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { changesAfter, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import { batchOf, models, summarize, write } from '../../../../test/support/sqlite-changes.ts'
import { defineModels } from '../../../model/define.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { ChangeNotifier } from '../../change-notifier.ts'
import type { Driver } from '../../driver.ts'
import { SqliteDriver } from '../client/driver.ts'
import { SqliteChangeLog } from './change-log.ts'

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
    assert.deepEqual(summarize(await changesAfter(sqlite.changes, emptied)), ['owner 2 created'])
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
    assert.deepEqual(summarize(alone.changes), ['owner 1 created'])
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
    assert.deepEqual(summarize(await changesAfter(restored.changes, shared)), ['owner 2 created'])
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
        assert.deepEqual(summarize(batch.changes), ['owner 2 created', 'owner 3 created', 'owner 4 created'])
    })
  }
})

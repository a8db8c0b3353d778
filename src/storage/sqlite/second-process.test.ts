import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { openWith } from '../../../test/support/schema-databases.ts'
import { asOtherProgram, changesAfter, newFile, SqliteForTest } from '../../../test/support/sqlite.ts'
import type { ModelDefinitions } from '../../model/definition.ts'
import type { Change } from '../../protocol/change.ts'
import type { Json } from '../../protocol/json.ts'
import { describeDatabase } from '../stores.ts'

const text = { type: 'string' } as const
const small: ModelDefinitions = { pet: { attributes: { name: text } } }
const wide: ModelDefinitions = { pet: { attributes: { name: text, breed: text } }, toy: { attributes: { name: text } } }

/** Counts every change of the schema, as SQLite itself does. */
const schemaVersion = (sqlite: SqliteForTest): unknown =>
  sqlite.otherProgram.prepare('pragma schema_version').get()?.schema_version

describe('two processes on one file', () => {
  for (const [what, first, second] of [
    ['knows less', wide, small],
    ['knows more', small, wide],
  ] as const) {
    test(`a second one that ${what} does not affect the changes that the first one reads`, async () => {
      const path = newFile()
      await using one = await SqliteForTest.open(first, { path })
      await using two = await SqliteForTest.open(second, { path })
      for (const [writer, reader] of [
        [one, two],
        [two, one],
      ] as const) {
        const head = await reader.changes.head()
        const record = await writer.create('pet', { name: 'Rex' })
        asOtherProgram(path, `update pet set name = 'Max', breed = 'mixed' where id = ${record.id}`)
        const [created, updated] = await changesAfter(reader.changes, head)
        assert.equal(created?.verb, 'created')
        const knowsBreed = reader.service.models.get('pet')?.attributes.has('breed')
        assert.deepEqual(updated?.after, { id: record.id, name: 'Max', ...(knowsBreed && { breed: 'mixed' }) })
      }
    })
  }

  test('changes of a model that a process does not know are skipped there', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(wide, { path })
    await using two = await SqliteForTest.open(small, { path })
    const head = await two.changes.head()
    await one.create('toy', { name: 'ball' })
    const batch = await two.changes.read(head, 10)
    assert.ok(batch !== 'reset')
    assert.deepEqual(batch.changes, [])
    assert.notEqual(batch.position, head)
    assert.deepEqual(await changesAfter(two.changes, batch.position), [])
  })

  test('opening with the same models changes nothing', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(wide, { path })
    const before = schemaVersion(one)
    await using two = await SqliteForTest.open(wide, { path })
    assert.equal(schemaVersion(one), before)
    assert.deepEqual(two.service.database.steps, [])
  })

  const typed: ModelDefinitions = {
    pet: { attributes: { name: { ...text, unique: true }, notes: { type: 'json' }, chip: { type: 'bigint' } } },
  }
  /** The same table in another service: another name, another key, another type. */
  const seenOtherwise: ModelDefinitions = {
    animal: {
      tableName: 'pet',
      primaryKey: 'name',
      attributes: { name: text, notes: { type: 'json' }, chip: { type: 'number', isInteger: true } },
    },
  }
  for (const [what, first, second] of [
    ['know more and less', wide, small],
    ['see a table otherwise', typed, seenOtherwise],
  ] as const) {
    test(`that ${what}, started repeatedly, stop changing the schema`, async () => {
      const path = newFile()
      await using one = await SqliteForTest.open(first, { path })
      await using two = await SqliteForTest.open(second, { path })
      const before = schemaVersion(one)
      await using again = await SqliteForTest.open(first, { path })
      await using further = await SqliteForTest.open(second, { path })
      assert.equal(schemaVersion(again), before)
      assert.deepEqual([two.reported, further.reported], [[], []])
    })
  }

  test('with different models of one table read the same changes, each in its own model', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(typed, { path })
    await using two = await SqliteForTest.open(seenOtherwise, { path })
    const [head, otherHead] = [await one.changes.head(), await two.changes.head()]
    await one.create('pet', { name: 'Rex', notes: { fur: 'red' }, chip: '9007199254740993' })
    asOtherProgram(path, `update pet set name = 'Max'`)
    const summary = (changes: readonly Change[]) =>
      changes.map(({ model, verb, id, after }) => ({ model, verb, id, after }))
    const pet = { id: 1, notes: { fur: 'red' }, chip: '9007199254740993' }
    assert.deepEqual(summary(await changesAfter(one.changes, head)), [
      { model: 'pet', verb: 'created', id: 1, after: { ...pet, name: 'Rex' } },
      { model: 'pet', verb: 'updated', id: 1, after: { ...pet, name: 'Max' } },
    ])
    const animal = { notes: { fur: 'red' }, chip: 9007199254740992 }
    assert.deepEqual(summary(await changesAfter(two.changes, otherHead)), [
      { model: 'animal', verb: 'created', id: 'Rex', after: { ...animal, name: 'Rex' } },
      { model: 'animal', verb: 'destroyed', id: 'Rex', after: undefined },
      { model: 'animal', verb: 'created', id: 'Max', after: { ...animal, name: 'Max' } },
    ])
  })

  test('a second one with fewer attributes keeps the capture of the other columns', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(typed, { path })
    await using two = await SqliteForTest.open(small, { path })
    const head = await one.changes.head()
    const pet = await one.create('pet', { name: 'Rex', notes: { fur: 'red' }, chip: '9007199254740993' })
    const [created] = await changesAfter(one.changes, head)
    assert.deepEqual(created?.after, pet)
    assert.deepEqual(await two.all('pet'), [{ id: 1, name: 'Rex' }])
  })

  test('notifier each other', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(small, { path })
    await using two = await SqliteForTest.open(small, { path })
    const woken = Promise.withResolvers<void>()
    using _ = two.changes.onChange(() => woken.resolve())
    await new Promise((resolve) => setTimeout(resolve, 500)) // its first look has passed
    const head = await two.changes.head()
    await one.create('pet', { name: 'Rex' })
    await woken.promise
    assert.equal((await changesAfter(two.changes, head)).length, 1)
  })

  test('write at once, and every write is executed', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(small, { path })
    await using two = await SqliteForTest.open(small, { path })
    const head = await one.changes.head()
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        [one, two, one, two].map((sqlite, index) => sqlite.create('pet', { name: `${round} ${index}` })),
      )
    }
    const changes = await changesAfter(two.changes, head)
    assert.deepEqual(
      changes.map(({ id }) => id),
      Array.from({ length: 80 }, (_, index) => index + 1),
    )
  })

  test('start at the same time on a new file', async () => {
    const path = newFile()
    const services = await Promise.all([wide, small, wide].map((models) => SqliteForTest.open(models, { path })))
    for (const service of services) await service.create('pet', { name: 'Rex' })
    for (const service of services) {
      assert.equal(((await service.all('pet')) as Json[]).length, 3)
      await service[Symbol.asyncDispose]()
    }
  })
})

describe('a file that another program has locked', () => {
  test('is opened at once when its schema is up to date', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(small, { path })
    one.otherProgram.exec('begin immediate')
    await using two = await SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 0 } })
    assert.deepEqual(two.service.database.steps, [])
    one.otherProgram.exec('commit')
  })

  for (const [what, before] of [
    ['for its schema', 'pragma journal_mode = wal'],
    ['for the way it is written', 'create table other (id integer)'],
  ] as const) {
    test(`is awaited, ${what}, without blocking the event loop`, async () => {
      const path = newFile()
      asOtherProgram(path, before)
      using otherProgram = new DatabaseSync(path)
      otherProgram.exec('begin immediate')
      // If the event loop were blocked, the timer that releases the lock could not fire in time.
      setTimeout(() => otherProgram.exec('commit'), 30)
      await using sqlite = await SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 1000 } })
      assert.deepEqual(sqlite.service.database.steps, [{ kind: 'createTable', table: 'pet' }])
    })
  }

  test('against readers too is waited for, also by what only reads its tables', async () => {
    const path = newFile()
    asOtherProgram(path, 'create table pet (id integer primary key)')
    using otherProgram = new DatabaseSync(path)
    for (const open of [
      async () => (await describeDatabase(`sqlite:${path}`)).tables.size,
      async () => (await openWith(`sqlite:${path}`, small)).store[Symbol.asyncDispose](),
    ]) {
      otherProgram.exec('begin exclusive')
      setTimeout(() => otherProgram.exec('commit'), 30)
      await open()
    }
  })

  test('from the moment that it was found to be readable is waited for', async (t) => {
    const path = newFile()
    asOtherProgram(path, 'create table toy (id integer primary key)')
    using otherProgram = new DatabaseSync(path)
    const dispose = Object.getOwnPropertyDescriptor(DatabaseSync.prototype, Symbol.dispose) as PropertyDescriptor
    let locks = 0
    const disposeAndLock = function (this: DatabaseSync) {
      dispose.value.call(this)
      if (locks++ > 0) return
      otherProgram.exec('begin exclusive')
      setTimeout(() => otherProgram.exec('commit'), 30)
    }
    Object.defineProperty(DatabaseSync.prototype, Symbol.dispose, { ...dispose, value: disposeAndLock })
    t.after(() => Object.defineProperty(DatabaseSync.prototype, Symbol.dispose, dispose))
    await using sqlite = await SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 1000 } })
    assert.deepEqual(sqlite.service.database.steps, [{ kind: 'createTable', table: 'pet' }])
    assert.ok(locks > 0)
  })

  for (const lock of ['immediate', 'exclusive'])
    test(`beyond the limit is not opened, and the error names it: ${lock}`, async () => {
      const path = newFile()
      using otherProgram = new DatabaseSync(path)
      otherProgram.exec(`create table toy (id integer primary key); begin ${lock}`)
      await assert.rejects(SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 20 } }), {
        name: 'DatabaseError',
        message: `${path} has been locked by another program for 20 ms`,
      })
    })
})

test('a closed service no longer watches for writes of others', async () => {
  const failures: unknown[] = []
  const listener = (error: unknown) => void failures.push(error)
  process.on('unhandledRejection', listener)
  try {
    const sqlite = await SqliteForTest.open(small)
    sqlite.changes.onChange(() => {})
    await sqlite[Symbol.asyncDispose]()
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.deepEqual(failures, [])
  } finally {
    process.off('unhandledRejection', listener)
  }
})

test('a column added later is captured from the next start', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  await first[Symbol.asyncDispose]()
  asOtherProgram(path, `alter table pet add column breed text`)
  await using second = await SqliteForTest.open(wide, { path })
  assert.deepEqual(second.service.database.steps, [{ kind: 'createTable', table: 'toy' }])
  const head = await second.changes.head()
  await second.create('pet', { name: 'Rex', breed: 'mixed' })
  assert.deepEqual((await changesAfter(second.changes, head))[0]?.after, { id: 1, name: 'Rex', breed: 'mixed' })
})

test('dropped triggers are restored at the next start', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  const triggers = first.otherProgram.prepare("select name from sqlite_schema where type = 'trigger'").all()
  first.otherProgram.exec(`drop trigger "${triggers[0]?.name}"`)
  await first[Symbol.asyncDispose]()
  await using second = await SqliteForTest.open(small, { path })
  assert.deepEqual(second.otherProgram.prepare("select name from sqlite_schema where type = 'trigger'").all(), triggers)
})

test('a log of an earlier format is deleted, so that its rows are not decoded wrongly', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  await first.create('pet', { name: 'Rex' })
  const place = await first.changes.tail()
  const triggers = "select name from sqlite_schema where type = 'trigger' order by name"
  const now = first.otherProgram.prepare(triggers).all()
  await first[Symbol.asyncDispose]()
  for (const { name } of now) asOtherProgram(path, `drop trigger "${name}"`)
  asOtherProgram(
    path,
    `update keelson_capture set columns = '["id","name","old"]', version = '0123456789';
     create trigger keelson_pet_insert_0123456789 after insert on pet begin
       insert into keelson_log (model, verb, id, after) values ('pet', 'created', json_array(new.id), json_object('id', new.id));
     end;
     insert into pet (name) values ('Max')`,
  )

  await using second = await SqliteForTest.open(small, { path })
  assert.deepEqual(second.otherProgram.prepare(triggers).all(), now)
  assert.equal(await second.changes.read(place, 10), 'reset')
  const head = await second.changes.head()
  const pet = await second.create('pet', { name: 'Ann' })
  assert.deepEqual(
    (await changesAfter(second.changes, head)).map(({ after }) => after),
    [pet],
  )
})

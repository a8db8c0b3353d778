import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { changesAfter, newFile, SqliteForTest, strangely } from '../../../test/sqlite.ts'
import type { ModelDefinitions } from '../../model/definition.ts'
import type { Change } from '../../protocol/change.ts'
import type { Json } from '../../protocol/json.ts'

const text = { type: 'string' } as const
const small: ModelDefinitions = { pet: { attributes: { name: text } } }
const wide: ModelDefinitions = { pet: { attributes: { name: text, breed: text } }, toy: { attributes: { name: text } } }

/** Counts every change of the schema, as SQLite itself does. */
const schemaVersion = (sqlite: SqliteForTest): unknown =>
  sqlite.stranger.prepare('pragma schema_version').get()?.schema_version

describe('two processes on one file', () => {
  for (const [what, first, second] of [
    ['knows less', wide, small],
    ['knows more', small, wide],
  ] as const) {
    test(`a second one that ${what} changes nothing of what the first one hears`, async () => {
      const path = newFile()
      await using one = await SqliteForTest.open(first, { path })
      await using two = await SqliteForTest.open(second, { path })
      for (const [writer, reader] of [
        [one, two],
        [two, one],
      ] as const) {
        const head = await reader.changes.head()
        const record = await writer.create('pet', { name: 'Rex' })
        strangely(path, `update pet set name = 'Max', breed = 'mixed' where id = ${record.id}`)
        const [created, updated] = await changesAfter(reader.changes, head)
        assert.equal(created?.verb, 'created')
        const knowsBreed = reader.service.models.get('pet')?.attributes.has('breed')
        assert.deepEqual(updated?.after, { id: record.id, name: 'Max', ...(knowsBreed && { breed: 'mixed' }) })
      }
    })
  }

  test('a model that one of them does not know is passed over there', async () => {
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
    pet: { attributes: { name: text, notes: { type: 'json' }, chip: { type: 'bigint' } } },
  }
  /** The same table to somebody else: another name, another key, other types. */
  const seenOtherwise: ModelDefinitions = {
    animal: {
      tableName: 'pet',
      primaryKey: 'name',
      attributes: { name: text, notes: text, chip: { type: 'number', isInteger: true } },
    },
  }
  for (const [what, first, second] of [
    ['know more and less', wide, small],
    ['see a table otherwise', typed, seenOtherwise],
  ] as const) {
    test(`that ${what}, started again and again, come to rest`, async () => {
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

  test('that see a table otherwise hear of the same changes, each in its own terms', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(typed, { path })
    await using two = await SqliteForTest.open(seenOtherwise, { path })
    const [head, otherHead] = [await one.changes.head(), await two.changes.head()]
    await one.create('pet', { name: 'Rex', notes: { fur: 'red' }, chip: '9007199254740993' })
    strangely(path, `update pet set name = 'Max'`)
    const told = (changes: readonly Change[]) =>
      changes.map(({ model, verb, id, after }) => ({ model, verb, id, after }))
    const pet = { id: 1, notes: { fur: 'red' }, chip: '9007199254740993' }
    assert.deepEqual(told(await changesAfter(one.changes, head)), [
      { model: 'pet', verb: 'created', id: 1, after: { ...pet, name: 'Rex' } },
      { model: 'pet', verb: 'updated', id: 1, after: { ...pet, name: 'Max' } },
    ])
    const animal = { notes: '{"fur":"red"}', chip: 9007199254740992 }
    assert.deepEqual(told(await changesAfter(two.changes, otherHead)), [
      { model: 'animal', verb: 'created', id: 'Rex', after: { ...animal, name: 'Rex' } },
      { model: 'animal', verb: 'destroyed', id: 'Rex', after: undefined },
      { model: 'animal', verb: 'created', id: 'Max', after: { ...animal, name: 'Max' } },
    ])
  })

  test('a second one that knows less keeps the types of columns it does not know', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(typed, { path })
    await using two = await SqliteForTest.open(small, { path })
    const head = await one.changes.head()
    const pet = await one.create('pet', { name: 'Rex', notes: { fur: 'red' }, chip: '9007199254740993' })
    const [created] = await changesAfter(one.changes, head)
    assert.deepEqual(created?.after, pet)
    assert.deepEqual(await two.all('pet'), [{ id: 1, name: 'Rex' }])
  })

  test('wake each other', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(small, { path })
    await using two = await SqliteForTest.open(small, { path })
    const woken = Promise.withResolvers<void>()
    using _ = two.changes.onWake(() => woken.resolve())
    await new Promise((resolve) => setTimeout(resolve, 500)) // its first look has passed
    const head = await two.changes.head()
    await one.create('pet', { name: 'Rex' })
    await woken.promise
    assert.equal((await changesAfter(two.changes, head)).length, 1)
  })

  test('both write at once, and every write is done', async () => {
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

  test('start together on a file that is not there yet', async () => {
    const path = newFile()
    const services = await Promise.all([wide, small, wide].map((models) => SqliteForTest.open(models, { path })))
    for (const service of services) await service.create('pet', { name: 'Rex' })
    for (const service of services) {
      assert.equal(((await service.all('pet')) as Json[]).length, 3)
      await service[Symbol.asyncDispose]()
    }
  })
})

describe('a file that another program holds', () => {
  test('is opened at once when nothing is to be done in it', async () => {
    const path = newFile()
    await using one = await SqliteForTest.open(small, { path })
    one.stranger.exec('begin immediate')
    await using two = await SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 0 } })
    assert.deepEqual(two.service.database.steps, [])
    one.stranger.exec('commit')
  })

  for (const [what, before] of [
    ['for its schema', 'pragma journal_mode = wal'],
    ['for the way it is written', 'create table other (id integer)'],
  ] as const) {
    test(`is waited for, ${what}, while this process goes on`, async () => {
      const path = newFile()
      strangely(path, before)
      using stranger = new DatabaseSync(path)
      stranger.exec('begin immediate')
      // Were this process held up by the waiting, the timer that ends it could not go off in time.
      setTimeout(() => stranger.exec('commit'), 30)
      await using sqlite = await SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 1000 } })
      assert.deepEqual(sqlite.service.database.steps, ['created table pet'])
    })
  }

  test('for too long cannot be opened, and is named', async () => {
    const path = newFile()
    using stranger = new DatabaseSync(path)
    stranger.exec('begin immediate')
    await assert.rejects(SqliteForTest.open(small, { path, limits: { busyTimeoutMs: 20 } }), {
      name: 'DatabaseError',
      message: `${path} is held by another program, for 20 ms now`,
    })
  })
})

test('a service that is closed looks no more for what others write', async () => {
  const failures: unknown[] = []
  const listener = (error: unknown) => void failures.push(error)
  process.on('unhandledRejection', listener)
  try {
    const sqlite = await SqliteForTest.open(small)
    sqlite.changes.onWake(() => {})
    await sqlite[Symbol.asyncDispose]()
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.deepEqual(failures, [])
  } finally {
    process.off('unhandledRejection', listener)
  }
})

test('a column that came later is logged from the next start', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  await first[Symbol.asyncDispose]()
  strangely(path, `alter table pet add column breed text`)
  await using second = await SqliteForTest.open(wide, { path })
  assert.deepEqual(second.service.database.steps, ['created table toy'])
  const head = await second.changes.head()
  await second.create('pet', { name: 'Rex', breed: 'mixed' })
  assert.deepEqual((await changesAfter(second.changes, head))[0]?.after, { id: 1, name: 'Rex', breed: 'mixed' })
})

test('triggers that somebody dropped are there again after the next start', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  const triggers = first.stranger.prepare("select name from sqlite_schema where type = 'trigger'").all()
  first.stranger.exec(`drop trigger "${triggers[0]?.name}"`)
  await first[Symbol.asyncDispose]()
  await using second = await SqliteForTest.open(small, { path })
  assert.deepEqual(second.stranger.prepare("select name from sqlite_schema where type = 'trigger'").all(), triggers)
})

test('a log of the format before is begun anew: what was written in it is not misread', async () => {
  const path = newFile()
  const first = await SqliteForTest.open(small, { path })
  await first.create('pet', { name: 'Rex' })
  const place = await first.changes.tail()
  const triggers = "select name from sqlite_schema where type = 'trigger' order by name"
  const now = first.stranger.prepare(triggers).all()
  await first[Symbol.asyncDispose]()
  for (const { name } of now) strangely(path, `drop trigger "${name}"`)
  strangely(
    path,
    `update keelson_capture set columns = '["id","name","old"]', version = '0123456789';
     create trigger keelson_pet_insert_0123456789 after insert on pet begin
       insert into keelson_log (model, verb, id, after) values ('pet', 'created', json_array(new.id), json_object('id', new.id));
     end;
     insert into pet (name) values ('Max')`,
  )

  await using second = await SqliteForTest.open(small, { path })
  assert.deepEqual(second.stranger.prepare(triggers).all(), now)
  assert.equal(await second.changes.read(place, 10), 'reset')
  const head = await second.changes.head()
  const pet = await second.create('pet', { name: 'Ann' })
  assert.deepEqual(
    (await changesAfter(second.changes, head)).map(({ after }) => after),
    [pet],
  )
})

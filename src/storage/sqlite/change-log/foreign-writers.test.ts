import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { asOtherProgram, changesAfter, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import type { ModelDefinition } from '../../../model/definition.ts'
import type { Json, JsonObject } from '../../../protocol/json.ts'
import { logSchema } from './change-log.ts'

/** A table of another program: SQLite accepts any value in any of its columns. */
const table = `create table thing (
  id integer primary key, text text, whole integer, big integer, real real, flag integer, json text, time text, bytes blob
)`
const thing: ModelDefinition = {
  attributes: {
    text: { type: 'string' },
    whole: { type: 'number', isInteger: true },
    big: { type: 'bigint' },
    real: { type: 'number' },
    flag: { type: 'boolean' },
    json: { type: 'json' },
    time: { type: 'datetime', columnType: 'text' },
    bytes: { type: 'ref', columnType: 'blob' },
  },
}

const blob = "x'ff007b'"

describe('values written by other programs are stored, and logged as they are returned', () => {
  const cases: readonly (readonly [what: string, column: string, value: string, answered: Json])[] = [
    ['text that is not JSON', 'json', `'{"a":'`, '{"a":'],
    ['an empty text for JSON', 'json', "''", ''],
    ['a number for JSON', 'json', '12', 12],
    ['a text with a character that ends texts in C', 'text', `'a' || char(0) || 'b'`, 'a\0b'],
    ['the result of a JSON function for a text', 'text', `json('{"a": 1}')`, '{"a":1}'],
    ['a list that a JSON function made for a text', 'text', `json('["61"]')`, '["61"]'],
    ['a number that a JSON function made for a whole number', 'whole', `json('12')`, 12],
    ['the result of a JSON function for JSON', 'json', `json('["61"]')`, ['61']],
    ['bytes that are no UTF-8 for a text', 'text', "cast(x'61ff62' as text)", 'a\ufffdb'],
    ['a number for a text', 'text', '12', '12'],
    ['a fraction for a whole number', 'whole', '1.5', 1.5],
    ['words for a whole number', 'whole', "'many'", 'many'],
    ['words for a big integer', 'big', `'a"b'`, 'a"b'],
    ['infinity for a whole number', 'whole', '9e999', null],
    ['infinity for a number', 'real', '-9e999', null],
    ['2 for true', 'flag', '2', true],
    ['a day for a time', 'time', "'2026-11-21'", '2026-11-21T00:00:00.000Z'],
    ['words for a time', 'time', "'tomorrow'", 'tomorrow'],
    [
      'what would end a text in JSON, in the form of a time',
      'time',
      `'2026-11-21T00:00:00."12Z'`,
      '2026-11-21T00:00:00."12Z',
    ],
    ['JSON that SQLite takes for valid up to its zero byte', 'json', `'{}' || char(0) || 'x'`, '{}\0x'],
    ['a blob for a text', 'text', blob, '\ufffd\0{'],
    ['a blob for a whole number', 'whole', blob, '\ufffd\0{'],
    ['a blob for a big integer', 'big', blob, '\ufffd\0{'],
    ['a blob for a number', 'real', blob, '\ufffd\0{'],
    ['a blob for a time', 'time', blob, '\ufffd\0{'],
    ['a blob for a boolean', 'flag', blob, '\ufffd\0{'],
    ['a word for true', 'flag', "'t'", 't'],
    ['a blob for JSON', 'json', blob, 'FF007B'],
    ['bytes', 'bytes', blob, '/wB7'],
  ]
  for (const [what, column, value, answered] of cases) {
    test(what, async () => {
      await using sqlite = await SqliteForTest.open({ thing }, { before: table })
      const head = await sqlite.changes.head()
      sqlite.otherProgram.exec(`insert into thing (id, ${column}) values (1, ${value})`)
      const changes = await changesAfter(sqlite.changes, head)
      assert.deepEqual(
        changes.map(({ verb, id }) => [verb, id]),
        [['created', 1]],
      )
      assert.deepEqual(changes[0]?.after?.[column], answered, 'logged')
      const [record] = (await sqlite.all('thing')) as JsonObject[]
      assert.deepEqual(record?.[column], answered, 'answered')
      assert.deepEqual(sqlite.reported, [])
    })
  }
})

/** Libraries before 3.43 write the numbers of JSON with 15 digits, and infinities as words. */
describe('numbers written by the library of the system', {
  skip: spawnSync('sqlite3', ['--version']).status !== 0,
}, () => {
  for (const value of [
    '0.1 + 0.2',
    '1 / 3.0',
    '1.5',
    '1e300',
    '1.7976931348623157e308',
    '9e999',
    '-9e999',
    '-0.5e-300',
  ])
    test(value, async () => {
      await using sqlite = await SqliteForTest.open({ thing }, { before: table })
      const head = await sqlite.changes.head()
      execFileSync('sqlite3', [sqlite.path, `insert into thing (id, real, whole) values (1, ${value}, ${value})`])
      const [change] = await changesAfter(sqlite.changes, head)
      const [record] = (await sqlite.all('thing')) as JsonObject[]
      assert.deepEqual([change?.after?.real, change?.after?.whole], [record?.real, record?.whole])
    })
})

test('JSON columns that Keelson creates reject invalid JSON', async () => {
  await using sqlite = await SqliteForTest.open({ thing })
  assert.throws(() => sqlite.otherProgram.exec(`insert into thing (json) values ('{"a":')`), /CHECK constraint failed/)
})

describe('a table of hundreds of columns', () => {
  for (const columns of [49, 50, 51, 150, 700]) {
    test(`${columns} columns are captured`, async () => {
      const names = Array.from({ length: columns }, (_, index) => `c${index}`)
      const attributes = Object.fromEntries(names.map((name) => [name, { type: 'string' } as const]))
      await using sqlite = await SqliteForTest.open({ wide: { attributes } })
      const head = await sqlite.changes.head()
      sqlite.otherProgram.exec(
        `insert into wide (${names.join(', ')}) values (${names.map((name) => `'{"${name}"}'`).join(', ')})`,
      )
      sqlite.otherProgram.exec(`update wide set c0 = 'new'`)
      const [created, updated] = await changesAfter(sqlite.changes, head)
      const written = { id: 1, ...Object.fromEntries(names.map((name) => [name, `{"${name}"}`])) }
      assert.deepEqual(created?.after, written)
      assert.deepEqual(updated?.before, written)
      assert.deepEqual(updated?.after, { ...written, c0: 'new' })
    })
  }
})

describe('capture of unusual statements', () => {
  const pet: ModelDefinition = { attributes: { name: { type: 'string', unique: true } } }
  const cases: readonly (readonly [what: string, statement: string, logged: readonly string[]])[] = [
    [
      'an upsert is an update',
      `insert into pet values (1, 'Rex') on conflict (id) do update set name = 'Max'`,
      ['updated 1'],
    ],
    ['an ignored insert is nothing', `insert or ignore into pet values (1, 'Rex')`, []],
    [
      'replacing a row logs no delete, which is documented',
      `insert or replace into pet values (2, 'Ann')`,
      ['created 2'],
    ],
    ['a changed key is a record that went and one that came', 'update pet set id = 5', ['destroyed 1', 'created 5']],
    ['an update of nothing is an update', 'update pet set id = id', ['updated 1']],
    [
      'a statement on several rows is several changes',
      `insert into pet values (2, 'a'), (3, 'b')`,
      ['created 2', 'created 3'],
    ],
    ['nothing of a transaction that was rolled back', `begin; delete from pet; rollback`, []],
  ]
  for (const [what, statement, logged] of cases) {
    test(what, async () => {
      await using sqlite = await SqliteForTest.open({ pet })
      await sqlite.create('pet', { name: 'Ann' })
      const head = await sqlite.changes.head()
      sqlite.otherProgram.exec(statement)
      const changes = await changesAfter(sqlite.changes, head)
      assert.deepEqual(
        changes.map(({ verb, id }) => `${verb} ${id}`),
        logged,
      )
    })
  }

  test('with recursive triggers a replaced row is logged as destroyed', async () => {
    await using sqlite = await SqliteForTest.open({ pet })
    await sqlite.create('pet', { name: 'Ann' })
    const head = await sqlite.changes.head()
    sqlite.otherProgram.exec(`pragma recursive_triggers = on; insert or replace into pet values (2, 'Ann')`)
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(
      changes.map(({ verb, id }) => `${verb} ${id}`),
      ['destroyed 1', 'created 2'],
    )
  })
})

describe('junction rows', () => {
  const models = {
    pet: { attributes: { tags: { collection: 'tag', via: 'pets' } } },
    tag: { attributes: { pets: { collection: 'pet', via: 'tags' } } },
  }

  test('are logged with both keys as their id', async () => {
    await using sqlite = await SqliteForTest.open(models)
    asOtherProgram(sqlite.path, 'insert into pet default values; insert into tag (id) values (7)')
    const head = await sqlite.changes.head()
    asOtherProgram(
      sqlite.path,
      'insert into pet_tags__tag_pets (pet_tags, tag_pets) values (1, 7); delete from pet_tags__tag_pets',
    )
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(
      changes.map(({ model, verb, id }) => [model, verb, id]),
      [
        ['pet_tags__tag_pets', 'created', [1, 7]],
        ['pet_tags__tag_pets', 'destroyed', [1, 7]],
      ],
    )
    assert.deepEqual(changes[0]?.after, { pet_tags: 1, tag_pets: 7 })
  })

  test('of an existing table', async () => {
    const through = { tableName: 'Pairs', from: 'PetId', to: 'TagId' }
    const pet = { attributes: { tags: { collection: 'tag', via: 'pets', through } } }
    const before = 'create table Pairs (TagId integer, PetId integer, primary key (TagId, PetId)) without rowid'
    await using sqlite = await SqliteForTest.open({ ...models, pet }, { before })
    const head = await sqlite.changes.head()
    asOtherProgram(sqlite.path, 'insert into Pairs values (7, 1); update Pairs set TagId = 8')
    const changes = await changesAfter(sqlite.changes, head)
    assert.deepEqual(
      changes.map(({ verb, id }) => [verb, id]),
      [
        ['created', [1, 7]],
        ['destroyed', [1, 7]],
        ['created', [1, 8]],
      ],
    )
  })
})

test('the log tables use no function newer than the SQLite of other programs', async () => {
  // 3.38 brought `unixepoch`, 3.42 its 'subsec': a default that needs them would make every write of an older program fail.
  const path = newFile()
  asOtherProgram(path, logSchema.join(';'))
  asOtherProgram(path, `insert into keelson_log (model, verb, id) values ('pet', 'created', '[1]')`)
  assert.doesNotMatch(logSchema.join(';'), /unixepoch|subsec/)
})

test('a change that another trigger makes of the same row is logged after the one that caused it, from the next start on', async () => {
  const path = newFile()
  const models = { pet: { attributes: { name: { type: 'string' }, age: { type: 'number' } } } } as const
  const first = await SqliteForTest.open(models, { path })
  await first.create('pet', { name: 'Rex', age: 3 })
  await first[Symbol.asyncDispose]()
  asOtherProgram(
    path,
    'create trigger touch after update of name on pet begin update pet set age = age + 1 where id = new.id; end',
  )
  await using second = await SqliteForTest.open(models, { path })
  const head = await second.changes.head()
  await second.ask('PATCH', '/pet/1', { name: 'Max' })
  assert.deepEqual(
    (await changesAfter(second.changes, head)).map(({ after }) => after?.age),
    [3, 4],
  )
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { missingPostgres } from '../../test/support/postgres.ts'
import { pets, problemsOf, schemaDatabases, start } from '../../test/support/schema-databases.ts'
import type { AttributeDefinition, ModelDefinitions } from '../model/definition.ts'

const string = { type: 'string' } as const
const types: Readonly<Record<string, AttributeDefinition>> = {
  string,
  number: { type: 'number' },
  integer: { type: 'number', isInteger: true },
  bigint: { type: 'bigint' },
  boolean: { type: 'boolean' },
  datetime: { type: 'datetime' },
  json: { type: 'json' },
  uuid: { type: 'string', isUUID: true },
  binary: { type: 'ref', columnType: 'bytea' },
}
const names = Object.keys(types)

for (const { name, missing, open } of schemaDatabases)
  test(`an attribute fits the column that was created for it on ${name}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    await start(database.url, pets(types))
    assert.deepEqual(await problemsOf(database.url, pets(types)), [])
  })

describe('types of columns on sqlite', () => {
  const [sqlite] = schemaDatabases
  const cases: readonly (readonly [column: string, fitting: string])[] = [
    ['text', 'string datetime json uuid binary'],
    ['varchar(80)', 'string datetime json uuid binary'],
    ['', 'string number integer bigint boolean datetime json uuid binary'],
    ['blob', 'string number integer bigint boolean datetime json uuid binary'],
    ['int', 'number integer bigint boolean datetime json uuid binary'],
    ['float', 'number integer boolean datetime json uuid binary'],
    ['decimal(10,2)', 'number integer bigint boolean datetime json uuid binary'],
    ['string', 'number integer bigint boolean datetime json uuid binary'],
    ['datetime', 'string number integer bigint boolean datetime json uuid binary'],
  ]
  const strict: typeof cases = [
    ['text', 'string datetime json uuid'],
    ['int', 'integer bigint boolean'],
    ['real', 'number integer boolean'],
    ['blob', 'binary'],
    ['any', 'string number integer bigint boolean datetime json uuid binary'],
  ]
  const tables = [...cases.map((row) => [...row, ''] as const), ...strict.map((row) => [...row, 'strict'] as const)]
  for (const [column, fitting, option] of tables) {
    test(`${column || 'no type'}${option && ` in a ${option} table`}: ${fitting}`, async () => {
      await using database = await sqlite.open()
      const columns = names.map((name) => `"${name}" ${column}`).join(', ')
      await database.execute(`create table pet (id integer primary key, ${columns}) ${option}`)
      const wrong = (await problemsOf(database.url, pets(types), 'safe')).map(
        (problem) => /^pet\.(\w+)/.exec(problem)?.[1],
      )
      assert.deepEqual(names.filter((name) => !wrong.includes(name)).join(' '), fitting)
    })
  }
})

describe('columns that a trigger of PostgreSQL fills', () => {
  const [, postgres] = schemaDatabases
  test('need no attribute', { skip: postgres.missing ?? false }, async () => {
    await using database = await postgres.open()
    await database.execute(`
      create table pet (id int primary key, name text, kind text not null);
      create function fill() returns trigger language plpgsql as $$ begin new.kind := 'cat'; return new; end $$;
      create trigger fill before insert on pet for each row execute function fill()`)
    assert.deepEqual(await problemsOf(database.url, pets({ name: string })), [])
  })
})

test('a foreign key of another type than the key on postgres', { skip: missingPostgres ?? false }, async () => {
  const [, postgres] = schemaDatabases
  await using database = await postgres.open()
  await database.execute(
    'create table owner (id uuid primary key); create table pet (id serial primary key, owner varchar(36), mother numeric)',
  )
  const models: ModelDefinitions = {
    owner: { attributes: { id: { type: 'string', isUUID: true } } },
    pet: { attributes: { owner: { model: 'owner' }, mother: { model: 'pet' } } },
  }
  assert.deepEqual(await problemsOf(database.url, models), [
    'pet.owner: the column "owner" has the type character varying(36), and the key "id" of owner the type uuid, which the database does not compare. Give them the same type',
  ])
})

test('text is not kept in a type of postgres that has no order', { skip: missingPostgres ?? false }, async () => {
  const [, postgres] = schemaDatabases
  await using database = await postgres.open()
  await database.execute('create table pet (id serial primary key, at point, doc xml, mood varchar(9), raw json)')
  const raw = { type: 'string', columnType: 'json' } as const
  const problems = await problemsOf(database.url, pets({ at: string, doc: string, mood: string, raw }))
  assert.deepEqual(
    problems.map((problem) => /has the type (\w+), which cannot hold a string/.exec(problem)?.[1]),
    ['point', 'xml', 'json'],
  )
})

test('the remedy for an array on postgres keeps its elements', { skip: missingPostgres ?? false }, async () => {
  const [, postgres] = schemaDatabases
  await using database = await postgres.open()
  await database.execute(`create table pet (id integer primary key, tags text[]); insert into pet values (1, '{a,b}')`)
  const models = pets({ id: { type: 'number', isInteger: true, required: true }, tags: { type: 'json' } })
  const [problem = ''] = await problemsOf(database.url, models)
  await database.execute(problem.slice(problem.indexOf('alter table')))
  assert.deepEqual(await problemsOf(database.url, models), [])
})

test('the remedy for values that are not JSON on postgres can be run', { skip: missingPostgres ?? false }, async () => {
  const [, postgres] = schemaDatabases
  await using database = await postgres.open()
  await database.execute(`create type mood as enum ('calm');
    create table pet (id integer primary key, seen timestamp, mood mood, code uuid, price money, tags text[]);
    insert into pet values (1, '2020-01-02 03:04:05', 'calm', gen_random_uuid(), 12.5, '{a,b}')`)
  const json = { type: 'json' } as const
  const models = pets({
    id: { type: 'number', isInteger: true, required: true },
    seen: json,
    mood: json,
    code: json,
    price: json,
    tags: { type: 'ref', columnType: 'text[]' },
  })
  for (const problem of await problemsOf(database.url, models))
    await database.execute(problem.slice(problem.indexOf('alter table')))
  assert.deepEqual(await problemsOf(database.url, models), [])
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FreshDatabase } from '../../../../test/support/postgres.ts'
import { emptyDatabase, withPostgres } from '../../../../test/support/postgres-database.ts'
import { openTestStore, summarize } from '../../../../test/support/postgres-store.ts'
import type { ModelDefinitions } from '../../../model/definition.ts'

const pet = { attributes: { name: { type: 'string' }, age: { type: 'number' } } } as const

describe('change capture by triggers', withPostgres, () => {
  const triggers = async (database: FreshDatabase) =>
    (await database.query(`select tgname from pg_trigger where tgname like '!keelson%' order by 1`)).flat()

  test('a role that may write the table needs no privilege on the log', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, { pet })
    const role = `lowly_${process.pid}`
    await database.query(`create role ${role}`)
    try {
      await database.query(`grant select, insert, update, delete on pet to ${role}`)
      const head = await store.head()
      const lowly = await database.connect()
      await lowly.query(`set role ${role}`)
      await lowly.query(`insert into pet (name) values ('Rex')`)
      await lowly.query(`update pet set age = 3`)
      await lowly.query('delete from pet')
      await assert.rejects(lowly.query('select * from keelson_log'), /permission denied/)
      await assert.rejects(lowly.query('select keelson_capture_1()'), /permission denied|can only be called as trigger/)
      assert.deepEqual(summarize(await store.changesAfter(head)), ['pet 1 created', 'pet 1 updated', 'pet 1 destroyed'])
    } finally {
      await database.query(`drop owned by ${role}; drop role ${role}`)
    }
  })

  test('writes of a session with disabled triggers are captured', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, { pet })
    const head = await store.head()
    const loader = await database.connect()
    await loader.query('set session_replication_role = replica')
    await loader.query(`insert into pet (name) values ('Rex')`)
    assert.deepEqual(summarize(await store.changesAfter(head)), ['pet 1 created'])
  })

  test('a change that another trigger makes of the same row is logged after the one that caused it', async () => {
    await using database = await emptyDatabase()
    await database.query(`
      create table pet (id int primary key, name text, age int);
      create function touch() returns trigger language plpgsql as $$ begin update pet set age = age + 1 where id = new.id; return null; end $$;
      create trigger a_touch after update of name on pet for each row execute function touch();
      insert into pet values (1, 'Rex', 3)`)
    await using store = await openTestStore(database.url, {
      pet: { attributes: { ...pet.attributes, id: { type: 'number', isInteger: true } } },
    })
    const head = await store.head()
    await store.update('pet', 1, { name: 'Max' })
    assert.deepEqual(
      (await store.changesAfter(head)).map(({ after }) => after?.age),
      [3, 4],
    )
  })

  test('a session that wrote before a column got another type is captured as before', async () => {
    await using database = await emptyDatabase()
    await using store = await openTestStore(database.url, { pet })
    const head = await store.head()
    const writer = await database.connect()
    await writer.query(`insert into pet (name, age) values ('Rex', 3)`)
    await writer.query('alter table pet alter column age type numeric')
    await writer.query('update pet set age = 4')
    await writer.query('delete from pet')
    assert.deepEqual(
      (await store.changesAfter(head)).map(({ verb, before, after }) => [verb, before?.age, after?.age]),
      [
        ['created', undefined, 3],
        ['updated', 3, 4],
        ['destroyed', 4, undefined],
      ],
    )
  })

  test('an image has the columns of the models only', async () => {
    await using database = await emptyDatabase()
    await database.query('create table pet (id int primary key, name text, age int, secret text)')
    await using store = await openTestStore(database.url, {
      pet: { attributes: { ...pet.attributes, id: { type: 'number', isInteger: true } } },
    })
    const head = await store.head()
    await database.query(`insert into pet values (1, 'Rex', 3, 'swordfish')`)
    const [{ after } = {}] = await store.changesAfter(head)
    assert.deepEqual(after, { id: 1, name: 'Rex', age: 3 })
    assert.deepEqual(await database.query(`select l::text from keelson_log l where l::text like '%swordfish%'`), [])
  })

  test('columns of every type are decoded as by a select', async () => {
    await using database = await emptyDatabase()
    await database.query(`create type mood as enum ('sad', 'happy')`)
    await database.query(`create domain short as varchar(5)`)
    await database.query(`create table thing (
      id int primary key, a char(6), b inet, c mood, d short, e numeric(8, 3), f real, g date, h timestamp, i interval,
      j text[], k uuid, l bool, m json, n money, o bigint, p timestamptz, q bytea)`)
    const text = { type: 'string' } as const
    const attributes = {
      id: { type: 'number', isInteger: true },
      a: text,
      b: text,
      c: text,
      d: text,
      e: { type: 'number' },
      f: { type: 'number' },
      g: { type: 'datetime' },
      h: { type: 'datetime' },
      i: text,
      j: text,
      k: { type: 'string', isUUID: true },
      l: { type: 'boolean' },
      m: { type: 'json' },
      n: text,
      o: { type: 'bigint' },
      p: { type: 'datetime' },
      q: { type: 'ref', columnType: 'bytea' },
    } as const
    await using store = await openTestStore(database.url, { thing: { attributes } })
    const head = await store.head()
    await database.query(`insert into thing values (1, 'ab', '1.2.3.4', 'happy', 'x', 1.5, 0.1, '2026-01-02', '2026-01-02 03:04:05.678901',
      '1 day 2 hours', '{a,"b c"}', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', true, '{"a" : 1}', 12.5, 9007199254740993, '0044-03-15 12:00:00 BC', '\\x01')`)
    await database.query(
      `insert into thing values (2, null, null, null, null, 'NaN', 'Infinity', 'infinity', '-infinity')`,
    )
    const changes = await store.changesAfter(head)
    assert.deepEqual(
      changes.map(({ after }) => after),
      await store.find('thing'),
    )
    const [first, second] = await store.find('thing')
    assert.equal(first?.a, 'ab    ')
    assert.equal(first?.b, '1.2.3.4')
    assert.equal(first?.f, 0.1)
    assert.equal(first?.g, '2026-01-02T00:00:00.000Z')
    assert.equal(first?.h, '2026-01-02T03:04:05.678Z')
    assert.equal(first?.p, '-000043-03-15T12:00:00.000Z')
    assert.deepEqual([second?.e, second?.f, second?.g], [null, null, 'infinity'])
  })

  describe('two processes', () => {
    const other = { attributes: { name: { type: 'string' }, kind: { type: 'string' } } } as const
    const open = (database: FreshDatabase, definition: ModelDefinitions[string]) =>
      openTestStore(database.url, { pet: definition })

    test('with different models capture the columns of both, and keep the triggers of each other', async () => {
      await using database = await emptyDatabase()
      await using first = await open(database, pet)
      await using second = await open(database, other)
      const names = await triggers(database)
      assert.equal(names.length, 2)
      await using third = await open(database, pet)
      await using fourth = await open(database, other)
      assert.deepEqual(await triggers(database), names, 'the definition is the same, so it is left alone')
      assert.deepEqual([...third.opened.steps, ...fourth.opened.steps], [])

      const head = await first.head()
      await database.query(`insert into pet (name, age, kind) values ('Rex', 3, 'dog')`)
      const [one] = await first.changesAfter(head)
      const [two] = await second.changesAfter(head)
      assert.deepEqual(one?.after, { id: 1, name: 'Rex', age: 3 })
      assert.deepEqual(two?.after, { id: 1, name: 'Rex', kind: 'dog' })
    })

    test('a running process reads the images of a later capture', async () => {
      await using database = await emptyDatabase()
      await using first = await open(database, pet)
      const head = await first.head()
      await first.insert('pet', { name: 'before', age: 1 })
      await using _ = await open(database, other)
      await first.insert('pet', { name: 'after', age: 2 })
      const changes = await first.changesAfter(head)
      assert.deepEqual(
        changes.map(({ after }) => after),
        [
          { id: 1, name: 'before', age: 1 },
          { id: 2, name: 'after', age: 2 },
        ],
      )
    })

    test('that start at the same time both succeed', async () => {
      await using database = await emptyDatabase()
      const stores = await Promise.all([pet, other, pet, other, pet].map((definition) => open(database, definition)))
      const head = await stores[0]?.head()
      await database.query(`insert into pet (name, age, kind) values ('Rex', 3, 'dog')`)
      for (const store of stores) {
        const [{ after } = {}] = await store.changesAfter(head as string)
        assert.equal(after?.name, 'Rex')
        assert.equal(after?.age ?? after?.kind, after?.age === undefined ? 'dog' : 3)
        await store[Symbol.asyncDispose]()
      }
    })

    test('with different tables: each reads the changes of its own', async () => {
      await using database = await emptyDatabase()
      await using few = await openTestStore(database.url, { pet })
      await using many = await openTestStore(database.url, { pet, toy: { attributes: {} } })
      const head = await few.head()
      await database.query('insert into toy default values')
      await database.query(`insert into pet (name) values ('Rex')`)
      assert.deepEqual(summarize(await few.changesAfter(head)), ['pet 1 created'])
      assert.deepEqual(summarize(await many.changesAfter(head)), ['toy 1 created', 'pet 1 created'])
    })
  })

  test('names with quotes, dollar signs and non-ASCII letters', async () => {
    await using database = await emptyDatabase()
    const name = `we"ird $keelson$ 'tä\\ble`
    await database.query(`create table "${name.replaceAll('"', '""')}" (id int primary key, "a""b'c\\d" text)`)
    const attributes = {
      id: { type: 'number', isInteger: true },
      odd: { type: 'string', columnName: `a"b'c\\d` },
    } as const
    const store = await openTestStore(database.url, { odd: { tableName: name, attributes } }).catch(
      (error: Error) => error,
    )
    // Whether such names are allowed is for the models to say; what they allow must work.
    if (store instanceof Error) return assert.match(store.message, /configuration/)
    const head = await store.head()
    await store.insert('odd', { id: 1, odd: 'x' })
    assert.deepEqual((await store.changesAfter(head))[0]?.after, { id: 1, odd: 'x' })
    await store[Symbol.asyncDispose]()
  })
})

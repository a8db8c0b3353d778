import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { freshDatabase, missingPostgres, postgresForTests } from '../../../test/postgres.ts'
import { openTestStore, told } from '../../../test/postgres-store.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { SqlChangeLog } from '../change-log.ts'

const models = {
  owner: { attributes: { name: { type: 'string', unique: true }, pets: { collection: 'pet', via: 'owner' } } },
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
    },
  },
  tag: { attributes: { label: { type: 'string' }, pets: { collection: 'pet', via: 'tags' } } },
} as const

const invalidIn = (attribute: string, rule: string) => (error: unknown) => {
  assert.ok(error instanceof ServiceError, String(error))
  assert.deepEqual(
    Object.entries(error.details.invalidAttributes ?? {}).map(([name, [first]]) => [name, first?.rule]),
    [[attribute, rule]],
  )
  return true
}

describe('opening a database', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())
  const fresh = () => freshDatabase(server?.url as string)
  const catalog = `select coalesce(string_agg(x, ' ' order by x), '') from (
    select relname || relkind::text || coalesce(reltuples::text, '') x from pg_class where relnamespace = 'public'::regnamespace
    union all select tgname from pg_trigger union all select proname from pg_proc where pronamespace = 'public'::regnamespace) c`

  test('makes what is missing, says so, and does nothing the second time', async () => {
    await using database = await fresh()
    const first = await openTestStore(database.url, models)
    assert.ok(first.opened.steps.includes('created table pet'))
    assert.ok(first.opened.steps.includes('captured changes of pet'))
    assert.deepEqual(first.opened.unenforced, [])
    assert.match(first.store.description, /^PostgreSQL \d+.* \(keelson_test_\w+ at /)
    const { secret } = first.store
    const position = await first.head()
    await first[Symbol.asyncDispose]()

    await using second = await openTestStore(database.url, models)
    assert.deepEqual(second.opened.steps, [])
    assert.equal(second.store.secret, secret)
    await second.insert('pet', { name: 'Rex' })
    assert.deepEqual(told(await second.changesAfter(position)), ['pet 1 created'], 'positions outlive the process')
    await second.opened.notes.set('seeded', 'yes')
    assert.equal(await second.opened.notes.get('seeded'), 'yes')
    assert.equal(second.store.changes.caveat, undefined)
  })

  test('text of ours is in the order of code points, and foreign keys have an index', async () => {
    await using database = await fresh()
    await using _ = await openTestStore(database.url, models)
    const [[collation] = []] = await database.query(
      `select collation_name from information_schema.columns where table_name = 'pet' and column_name = 'name'`,
    )
    assert.equal(collation, 'C')
    const indexes = (await database.query(`select indexdef from pg_indexes where tablename = 'pet'`)).flat()
    assert.ok(
      indexes.some((index) => index?.includes('(owner NULLS FIRST, id)')),
      indexes.join('\n'),
    )
  })

  test('faults are told by the attribute they concern', async () => {
    await using database = await fresh()
    await using store = await openTestStore(database.url, models)
    await store.insert('owner', { name: 'Ann' })
    await assert.rejects(store.insert('owner', { name: 'Ann' }), invalidIn('name', 'unique'))
    await assert.rejects(store.insert('pet', { name: 'x', owner: 9 }), invalidIn('owner', 'exists'))
    await assert.rejects(store.insert('pet', { owner: 1 }), invalidIn('name', 'required'))
    await assert.rejects(
      store.transaction((transaction) => transaction.insert('owner', { name: 'Ann' })),
      invalidIn('name', 'unique'),
    )
  })

  test('a key that somebody chose is met by the counter, and passed', async () => {
    await using database = await fresh()
    await using store = await openTestStore(database.url, models)
    for (const id of [1, 2, 3, 10]) await store.insert('owner', { id, name: `chosen ${id}` })
    assert.equal((await store.insert('owner', { name: 'counted' })).id, 11)
    assert.equal((await store.insert('owner', { name: 'counted 2' })).id, 12)
    await assert.rejects(store.insert('owner', { name: 'counted' }), invalidIn('name', 'unique'))
    await assert.rejects(store.insert('owner', { id: 11, name: 'new' }), invalidIn('id', 'unique'))

    await store.insert('owner', { id: 15, name: 'chosen 15' })
    let made: unknown[] = []
    await store.transaction(async (transaction) => {
      made = []
      for (let index = 0; index < 4; index++)
        made.push((await transaction.insert('owner', { name: `within ${index}` })).id)
    })
    assert.equal(new Set(made).size, 4)
    assert.equal(made.includes(15), false)
    await assert.rejects(
      store.transaction((transaction) => transaction.insert('owner', { id: 15, name: 'new' })),
      invalidIn('id', 'unique'),
    )
  })

  describe('in safe mode', () => {
    const safe = { migrate: 'safe' } as const
    const tables = `create table owner (id int primary key, name text); create table pet (id int primary key, name text, owner int);
      create table tag (id int primary key, label text); create table pet_tags__tag_pets (pet_tags int, tag_pets int, primary key (pet_tags, tag_pets))`

    test('nothing is touched, and another log stands in', async () => {
      await using database = await fresh()
      await database.query(tables)
      const before = await database.query(catalog)
      const reasons: string[] = []
      const fallbackLog = (reason: string) => {
        reasons.push(reason)
        return { caveat: 'ours' } as SqlChangeLog
      }
      await using store = await openTestStore(database.url, models, { ...safe, fallbackLog })
      assert.equal((await store.insert('pet', { id: 1, name: 'Rex' })).name, 'Rex')
      assert.deepEqual(await database.query(catalog), before)
      assert.equal(store.store.changes.caveat, 'ours')
      assert.equal(reasons.length, 1)
      assert.deepEqual(
        store.opened.unenforced.map(({ name }) => name).toSorted(),
        ['owner', ...[...(store.model('pet_tags__tag_pets')?.attributes.keys() ?? [])]].toSorted(),
      )
      await using silent = await openTestStore(database.url, models, safe)
      assert.match(silent.store.changes.caveat ?? '', /No change is heard of/)
      assert.deepEqual(await silent.read(await silent.head()), { changes: [], position: 'none' })
      assert.equal(await silent.opened.notes.get('x'), undefined)
    })

    test('the log is used where there is one that has everything', async () => {
      await using database = await fresh()
      await using maker = await openTestStore(database.url, models)
      const before = await database.query(catalog)
      await using store = await openTestStore(database.url, models, safe)
      assert.deepEqual(await database.query(catalog), before)
      assert.equal(store.store.changes.caveat, undefined)
      assert.equal(store.store.secret, maker.store.secret)
      const head = await store.head()
      await maker.insert('pet', { name: 'Rex' })
      assert.deepEqual(told(await store.changesAfter(head)), ['pet 1 created'])
    })

    for (const [what, statement] of [
      [
        'a trigger was dropped',
        `do $$ declare t text; begin select tgname into t from pg_trigger where tgrelid = 'pet'::regclass and tgname like 'keelson%' limit 1; execute format('drop trigger %I on pet', t); end $$`,
      ],
      ['a trigger was switched off', 'alter table pet disable trigger user'],
      ['a column is not captured', `update keelson_capture set columns = array['id'] where "table" = 'pet'`],
      ['it belongs to another database', `update keelson_meta set value = 'another' where name = 'identity'`],
      ['a table of it is gone', 'drop table keelson_horizon'],
    ] as const) {
      test(`and not where ${what}`, async () => {
        await using database = await fresh()
        await using _ = await openTestStore(database.url, models)
        await database.query(statement)
        await using store = await openTestStore(database.url, models, safe)
        assert.match(store.store.changes.caveat ?? '', /No change is heard of/)
      })
    }
  })

  test('what the database cannot keep is said at once, all of it', async () => {
    await using database = await fresh()
    await database.query('create table thing (id int primary key, flag int, at text, doc int)')
    const attributes = {
      id: { type: 'number', isInteger: true },
      flag: { type: 'boolean' },
      at: { type: 'datetime' },
      doc: { type: 'json' },
      gone: { type: 'string' },
    } as const
    await assert.rejects(
      openTestStore(database.url, { thing: { attributes }, missing: { attributes: {} } }, { migrate: 'safe' }),
      (error: Error) => {
        for (const part of ['thing.flag', 'thing.at', 'thing.doc', 'no column "gone"', 'no table "missing"'])
          assert.ok(error.message.includes(part), error.message)
        return true
      },
    )
  })

  test('a trigger that was dropped or switched off is put back', async () => {
    await using database = await fresh()
    const first = await openTestStore(database.url, models)
    await first[Symbol.asyncDispose]()
    await database.query('alter table pet disable trigger user')
    await using store = await openTestStore(database.url, models)
    assert.deepEqual(store.opened.steps, ['captured changes of pet'])
    const head = await store.head()
    await database.query(`insert into pet (name) values ('Rex')`)
    assert.deepEqual(told(await store.changesAfter(head)), ['pet 1 created'])
  })

  test('a database that was restored from a dump has a log of its own', async () => {
    await using database = await fresh()
    const first = await openTestStore(database.url, models)
    const head = await first.head()
    await first.insert('pet', { name: 'Rex' })
    const { secret } = first.store
    await first[Symbol.asyncDispose]()
    // As in a dump, everything of the log is there; only the database is another one.
    await database.query(`update keelson_meta set value = 'elsewhere' where name = 'identity'`)
    await using store = await openTestStore(database.url, models)
    assert.deepEqual(store.opened.steps, ['began a new log of changes: the database is a copy of another'])
    assert.equal(await store.read(head), 'reset')
    assert.deepEqual(await store.changesAfter(await store.store.changes.tail()), [])
    assert.equal(store.store.secret, secret)
  })

  test('made anew, everything is gone, and whoever listened starts afresh', async () => {
    await using database = await fresh()
    await using first = await openTestStore(database.url, models)
    await first.insert('pet', { name: 'Rex' })
    const head = await first.head()
    await using store = await openTestStore(database.url, models, { migrate: 'drop' })
    assert.deepEqual(await store.find('pet'), [])
    assert.equal(await store.read(head), 'reset')
    assert.equal(await first.read(head), 'reset', 'a process that runs already hears so too')
    await store.insert('pet', { name: 'Max' })
    const tail = await store.store.changes.tail()
    assert.deepEqual(told(await store.changesAfter(tail)), ['pet 1 created'])
  })

  test('a start that fails leaves nothing behind', async () => {
    await using database = await fresh()
    await database.query('create view owner as select 1 as id')
    const before = await database.query(catalog)
    await assert.rejects(openTestStore(database.url, models))
    assert.deepEqual(await database.query(catalog), before)
    const sessions = `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`
    assert.deepEqual(await database.query(sessions), [['0']])
  })

  test('a view can be read, and says that its changes are not seen', async () => {
    await using database = await fresh()
    await database.query(
      `create table t (id int primary key, n text); insert into t values (1, 'x'); create view thing as select * from t`,
    )
    const attributes = { id: { type: 'number', isInteger: true }, n: { type: 'string' } } as const
    await using store = await openTestStore(database.url, { thing: { attributes } })
    assert.deepEqual(await store.find('thing'), [{ id: 1, n: 'x' }] as JsonObject[])
    assert.match(store.store.changes.caveat ?? '', /thing/)
  })

  test('a server that cannot be reached', async () => {
    await assert.rejects(openTestStore('postgres://nobody@127.0.0.1:1/x', models), /ECONNREFUSED/)
  })
})

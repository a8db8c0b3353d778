import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'
import { openTestStore, summarize } from '../../../test/support/postgres-store.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { describeStep } from '../schema-step.ts'

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

describe('opening a database', withPostgres, () => {
  const catalog = `select coalesce(string_agg(x, ' ' order by x), '') from (
    select relname || relkind::text || coalesce(reltuples::text, '') x from pg_class where relnamespace = 'public'::regnamespace
    union all select tgname from pg_trigger union all select proname from pg_proc where pronamespace = 'public'::regnamespace) c`

  test('creates what is missing and reports it; the second start changes nothing', async () => {
    await using database = await emptyDatabase()
    const first = await openTestStore(database.url, models)
    const steps = first.opened.steps.map(describeStep)
    for (const step of ['created table pet', 'captured changes of pet']) assert.ok(steps.includes(step), step)
    assert.deepEqual(first.opened.unenforced, [])
    assert.match(first.store.description, /^PostgreSQL \d+.* \(keelson_test_\w+ at /)
    const { secret } = first.store
    const position = await first.head()
    await first[Symbol.asyncDispose]()

    await using second = await openTestStore(database.url, models)
    assert.deepEqual(second.opened.steps, [])
    assert.equal(second.store.secret, secret)
    await second.insert('pet', { name: 'Rex' })
    assert.deepEqual(summarize(await second.changesAfter(position)), ['pet 1 created'], 'positions outlive the process')
    await second.opened.notes.set('seeded', 'yes')
    assert.equal(await second.opened.notes.get('seeded'), 'yes')
    assert.equal(second.store.changes.limitation, undefined)
  })

  test('created text columns sort by code point, and foreign keys have an index', async () => {
    await using database = await emptyDatabase()
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

  test('errors name the attribute', async () => {
    await using database = await emptyDatabase()
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

  test('the sequence skips a key that a client chose', async () => {
    await using database = await emptyDatabase()
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

    test('nothing is changed, and the fallback log is used', async () => {
      await using database = await emptyDatabase()
      await database.query(tables)
      const before = await database.query(catalog)
      const reasons: string[] = []
      const fallbackLog = (reason: string) => {
        reasons.push(reason)
        return { limitation: 'ours' } as SqlChangeLog
      }
      await using store = await openTestStore(database.url, models, { ...safe, fallbackLog })
      assert.equal((await store.insert('pet', { id: 1, name: 'Rex' })).name, 'Rex')
      assert.deepEqual(await database.query(catalog), before)
      assert.equal(store.store.changes.limitation, 'ours')
      assert.equal(reasons.length, 1)
      assert.deepEqual(
        store.opened.unenforced.map(({ name }) => name).toSorted(),
        ['owner', ...[...(store.model('pet_tags__tag_pets')?.attributes.keys() ?? [])]].toSorted(),
      )
      await using silent = await openTestStore(database.url, models, safe)
      assert.match(silent.store.changes.limitation ?? '', /No changes are captured/)
      assert.deepEqual(await silent.read(await silent.head()), { changes: [], position: 'none' })
      assert.equal(await silent.opened.notes.get('x'), undefined)
    })

    test('a complete log is used', async () => {
      await using database = await emptyDatabase()
      await using maker = await openTestStore(database.url, models)
      const before = await database.query(catalog)
      await using store = await openTestStore(database.url, models, safe)
      assert.deepEqual(await database.query(catalog), before)
      assert.equal(store.store.changes.limitation, undefined)
      assert.equal(store.store.secret, maker.store.secret)
      const head = await store.head()
      await maker.insert('pet', { name: 'Rex' })
      assert.deepEqual(summarize(await store.changesAfter(head)), ['pet 1 created'])
    })

    for (const [what, reason, statement] of [
      [
        'a trigger was dropped',
        'the change log lacks pet, and migrate: "safe" adds nothing to it',
        `do $$ declare t text; begin select tgname into t from pg_trigger where tgrelid = 'pet'::regclass and tgname like '!keelson%' limit 1; execute format('drop trigger %I on pet', t); end $$`,
      ],
      [
        'a trigger was switched off',
        'the change log lacks pet, and migrate: "safe" adds nothing to it',
        'alter table pet disable trigger user',
      ],
      [
        'a column is not captured',
        'the change log lacks pet, and migrate: "safe" adds nothing to it',
        `update keelson_capture set columns = array['id'] where "table" = 'pet'`,
      ],
      [
        'it belongs to another database',
        'the change log is of another database, of which this one is a copy, and migrate: "safe" begins none',
        `update keelson_meta set value = 'another' where name = 'identity'`,
      ],
      [
        'a table of it is gone',
        'the database has no change log, and migrate: "safe" adds none',
        'drop table keelson_horizon',
      ],
    ] as const) {
      test(`the log is not used where ${what}`, async () => {
        await using database = await emptyDatabase()
        await using _ = await openTestStore(database.url, models)
        await database.query(statement)
        await using store = await openTestStore(database.url, models, safe)
        assert.equal(store.store.changes.limitation, `No changes are captured: ${reason}`)
      })
    }
  })

  test('all columns that cannot store their attribute are reported at once', async () => {
    await using database = await emptyDatabase()
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

  test('a dropped or disabled trigger is restored', async () => {
    await using database = await emptyDatabase()
    const first = await openTestStore(database.url, models)
    await first[Symbol.asyncDispose]()
    await database.query('alter table pet disable trigger user')
    await using store = await openTestStore(database.url, models)
    assert.deepEqual(store.opened.steps, [{ kind: 'captureChanges', table: 'pet' }])
    const head = await store.head()
    await database.query(`insert into pet (name) values ('Rex')`)
    assert.deepEqual(summarize(await store.changesAfter(head)), ['pet 1 created'])
  })

  for (const tables of [
    'keelson_log, keelson_meta, keelson_capture, keelson_horizon',
    'keelson_log',
    'keelson_meta',
    'keelson_capture',
    'keelson_horizon',
  ])
    test(`a log is made again of which ${tables} was dropped, and no table keeps its triggers`, async () => {
      await using database = await emptyDatabase()
      let earlier: string
      {
        await using former = await openTestStore(database.url, { ...models, former: { attributes: {} } })
        await former.insert('pet', { name: 'Tom' })
        earlier = await former.head()
      }
      await database.query(`drop table ${tables}`)
      await using store = await openTestStore(database.url, models)
      const head = await store.head()
      await store.insert('pet', { name: 'Rex' })
      assert.deepEqual(summarize(await store.changesAfter(head)), ['pet 2 created'])
      assert.equal(await store.read(earlier), 'reset')
      await database.query('insert into former default values')
    })

  test('a database restored from a dump gets a new log', async () => {
    await using database = await emptyDatabase()
    const first = await openTestStore(database.url, models)
    const head = await first.head()
    await first.insert('pet', { name: 'Rex' })
    const { secret } = first.store
    await first[Symbol.asyncDispose]()
    // As in a dump, everything of the log is there; only the database is another one.
    await database.query(`update keelson_meta set value = 'elsewhere' where name = 'identity'`)
    await using store = await openTestStore(database.url, models)
    assert.deepEqual(store.opened.steps, [{ kind: 'restartLog' }])
    assert.equal(await store.read(head), 'reset')
    assert.deepEqual(await store.changesAfter(await store.store.changes.tail()), [])
    assert.equal(store.store.secret, secret)
  })

  test('migrate: drop deletes all rows and resets all positions', async () => {
    await using database = await emptyDatabase()
    await using first = await openTestStore(database.url, models)
    await first.insert('pet', { name: 'Rex' })
    const head = await first.head()
    await using store = await openTestStore(database.url, models, { migrate: 'drop' })
    assert.deepEqual(await store.find('pet'), [])
    assert.equal(await store.read(head), 'reset')
    assert.equal(await first.read(head), 'reset', 'also in a running process')
    await store.insert('pet', { name: 'Max' })
    const tail = await store.store.changes.tail()
    assert.deepEqual(summarize(await store.changesAfter(tail)), ['pet 1 created'])
  })

  test('a failed start changes nothing', async () => {
    await using database = await emptyDatabase()
    await database.query('create view owner as select 1 as id')
    const before = await database.query(catalog)
    await assert.rejects(openTestStore(database.url, models))
    assert.deepEqual(await database.query(catalog), before)
    const sessions = `select count(*) from pg_stat_activity where datname = current_database() and application_name = 'keelson'`
    assert.deepEqual(await database.query(sessions), [['0']])
  })

  test('a view can be read, and the log reports that its changes are not captured', async () => {
    await using database = await emptyDatabase()
    await database.query(
      `create table t (id int primary key, n text); insert into t values (1, 'x'); create view thing as select * from t`,
    )
    const attributes = { id: { type: 'number', isInteger: true }, n: { type: 'string' } } as const
    await using store = await openTestStore(database.url, { thing: { attributes } })
    assert.deepEqual(await store.find('thing'), [{ id: 1, n: 'x' }] as JsonObject[])
    assert.match(store.store.changes.limitation ?? '', /thing/)
  })

  test('a name with a schema is refused, and nothing is created', async () => {
    await using database = await emptyDatabase()
    await database.query('create schema shop; create table shop.thing (id int primary key)')
    const thing = { attributes: { id: { type: 'number', isInteger: true } } } as const
    await assert.rejects(
      openTestStore(database.url, { thing: { tableName: 'shop.thing', ...thing } }),
      /thing: there is no table "shop\.thing"\. For a table of the schema "shop", write tableName: 'thing', and add the schema/,
    )
    await using other = await openTestStore(database.url, { thing: { tableName: 'no.schema', ...thing } })
    assert.deepEqual(await other.find('thing'), [])
  })

  test('an unreachable server', async () => {
    await assert.rejects(openTestStore('postgres://nobody@127.0.0.1:1/x', models), /ECONNREFUSED/)
  })
})

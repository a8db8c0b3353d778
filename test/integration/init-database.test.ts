import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { PlannedAttribute } from '../../src/cli/init/column-attribute.ts'
import { type DatabasePlan, definitionsOf, modelsOfTables, withoutTimes } from '../../src/cli/init/models-of-tables.ts'
import { createService, type Json, type JsonObject, type ModelDefinitions, type Service } from '../../src/index.ts'
import type { AttributeDefinition } from '../../src/model/definition.ts'
import { describeDatabase } from '../../src/storage/stores.ts'
import { freshDatabase, missingPostgres, postgresForTests } from '../support/postgres.ts'
import { asOtherProgram, changesAfter, newFile } from '../support/sqlite.ts'
import { contentOf } from './chinook/data.ts'
import { postgresEdition, schemaOf, sqliteEdition } from './chinook/tables.ts'
import { unusualPostgres, unusualSqlite } from './init-database/unusual.ts'

interface Opened extends AsyncDisposable {
  readonly url: string
  /** What must not change: the bytes of a file, or the catalog. */
  content(): Promise<unknown>
}

interface Existing {
  readonly name: string
  readonly missing?: string | undefined
  open(): Promise<Opened>
}

const sqliteWith = (name: string, statements: string): Existing => ({
  name: `${name}, on SQLite`,
  async open() {
    const path = newFile()
    asOtherProgram(path, statements)
    return { url: `sqlite:${path}`, content: async () => readFileSync(path), async [Symbol.asyncDispose]() {} }
  },
})

const server = missingPostgres === undefined ? await postgresForTests() : undefined
after(() => server?.stop())

const postgresWith = (name: string, statements: string): Existing => ({
  name: `${name}, on PostgreSQL`,
  missing: missingPostgres,
  async open() {
    const database = await freshDatabase(server?.url ?? '')
    await database.query(statements)
    const relations = `select relname, relkind, xmin from pg_class where relnamespace = 'public'::regnamespace order by oid`
    return {
      url: database.url,
      content: () => database.query(relations),
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    }
  },
})

const databases: readonly Existing[] = [
  sqliteWith('a small copy of Chinook', schemaOf(sqliteEdition) + contentOf(sqliteEdition)),
  sqliteWith('an unusual database', unusualSqlite),
  postgresWith('a small copy of Chinook', schemaOf(postgresEdition) + contentOf(postgresEdition)),
  postgresWith('an unusual database', unusualPostgres),
]

const planOf = async (url: string, tables?: readonly string[]): Promise<DatabasePlan> =>
  modelsOfTables(await describeDatabase(url), tables)

const serve = (database: string, models: ModelDefinitions, migrate: 'safe' | 'add'): Promise<Service> =>
  createService({ database, models, attributes: withoutTimes, migrate }) as Promise<Service>

async function ask(service: Service, method: string, path: string, body?: JsonObject) {
  const headers = { 'content-type': 'application/json' }
  const init = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const response = await service.fetch(new Request(`http://localhost${path}`, init))
  const answer = (await response.json()) as Json
  assert.ok(response.ok, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(answer)}`)
  return answer
}

const keyOf = ({ attributes = {} }: ModelDefinitions[string]): string =>
  Object.entries(attributes).find(([, attribute]) => attribute !== false && attribute.primaryKey)?.[0] ?? 'id'

/** A record with values for what a client must give. */
async function recordFor(service: Service, models: ModelDefinitions, name: string): Promise<JsonObject> {
  const given: [string, Json][] = []
  for (const [attribute, definition] of Object.entries(models[name]?.attributes ?? {})) {
    if (!definition) continue
    if (definition.required !== true) continue
    given.push([attribute, definition.model ? await lastKey(service, models, definition.model) : someValue(definition)])
  }
  return Object.fromEntries(given)
}

function someValue({ type, isIn, isUUID }: AttributeDefinition): Json {
  if (isIn) return isIn.at(-1) as Json
  if (isUUID) return '0190a0a0-0000-7000-8000-0000000000ff'
  return type === 'string' ? 'zz' : type === 'datetime' ? '2026-11-23T00:00:00.000Z' : type === 'boolean' ? true : 77
}

async function lastKey(service: Service, models: ModelDefinitions, name: string): Promise<Json> {
  const key = keyOf(models[name] ?? {})
  const [last] = (await ask(service, 'GET', `/${name}?sort=${key} DESC&limit=1&populate=false`)) as JsonObject[]
  return last?.[key] ?? null
}

for (const { name, missing, open } of databases) {
  describe(`models for ${name}`, { skip: missing ?? false }, () => {
    test('a start changes nothing, and every model has rows and accepts a record', async () => {
      await using database = await open()
      const before = await database.content()
      const { models: planned } = await planOf(database.url)
      assert.deepEqual(await database.content(), before, 'reading the tables has changed nothing')
      const models = definitionsOf(planned)
      await using service = await serve(database.url, models, 'safe')
      assert.deepEqual(service.database.steps, [])
      for (const name of Object.keys(models)) {
        const listed = (await ask(service, 'GET', `/${name}`)) as JsonObject[]
        assert.ok(listed.length > 0, name)
        const id = String(listed[0]?.[keyOf(models[name] ?? {})])
        await ask(service, 'GET', `/${name}/${encodeURIComponent(id)}`)
        await ask(service, 'POST', `/${name}`, await recordFor(service, models, name))
      }
    })

    test("with migrate: 'add', a start adds no columns, and changes are logged", async () => {
      await using database = await open()
      const { models: planned, steps } = await planOf(database.url)
      const models = definitionsOf(planned)
      await using service = await serve(database.url, models, 'add')
      const indexes = service.database.steps.filter(({ kind }) => kind === 'createIndex')
      assert.deepEqual(indexes, steps, 'the steps were foretold')
      assert.ok(!service.database.steps.some(({ kind }) => kind === 'addColumn'))
      for (const name of Object.keys(models)) {
        const head = await service.changes.head()
        const body = await recordFor(service, models, name)
        const created = (await ask(service, 'POST', `/${name}`, body)) as JsonObject
        const [change] = await changesAfter(service.changes, head)
        for (const time of ['seenAt', 'publishedAt'])
          if (time in created) assert.match(String(created[time]), /^2\d{3}-.*Z$/)
        assert.deepEqual(
          [change?.model, change?.verb, change?.id],
          [name, 'created', created[keyOf(models[name] ?? {})]],
        )
      }
    })
  })
}

describe('models for an unusual database, on SQLite', () => {
  const plan = (async () => {
    const path = newFile()
    asOtherProgram(path, unusualSqlite)
    return planOf(`sqlite:${path}`)
  })()
  const expected: ModelDefinitions = {
    user: {
      tableName: 'users',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        email: { type: 'string', maxLength: 120, required: true, unique: true },
        passwordHash: { type: 'string', columnName: 'password_hash', hidden: true },
        role: { type: 'string', defaultsTo: 'reader' },
        active: { type: 'boolean', defaultsTo: true },
        score: { type: 'number', defaultsTo: 0.5, allowNull: true },
        balance: { type: 'number', columnType: 'decimal(10,2)', defaultsTo: 0 },
        settings: { type: 'json', defaultsTo: { a: 1 }, allowNull: true },
        createdAt: { type: 'datetime', columnName: 'created_at', columnType: 'datetime', autoCreatedAt: true },
        updatedAt: {
          type: 'datetime',
          columnName: 'updated_at',
          columnType: 'text',
          autoUpdatedAt: true,
          allowNull: true,
        },
        expiresAt: { type: 'datetime', columnName: 'expires_at', columnType: 'datetime' },
        seenAt: { type: 'datetime', columnName: 'seen_at', columnType: 'timestamp', allowNull: true },
        big: { type: 'bigint' },
        avatar: { type: 'binary' },
        verified: { type: 'boolean' },
        tier: { type: 'boolean' },
        birth: { type: 'datetime', columnType: 'date' },
        opening: { type: 'string', columnType: 'time' },
        displayName: { type: 'string', columnName: 'Display Name' },
        _2Fa: { type: 'string', columnName: '2fa' },
        andValue: { type: 'number', columnName: 'and', isInteger: true },
        note: { type: 'string', columnType: 'string' },
        kind: { type: 'string', columnType: 'somekind(3, 4)' },
        anything: { type: 'string' },
        nameLength: { type: 'number', columnName: 'name_length', isInteger: true, readOnly: true },
        orders: { collection: 'order', via: 'customer' },
        tokens: { collection: 'token', via: 'user' },
        roles: {
          collection: 'role',
          via: 'users',
          through: { tableName: 'user_roles', from: 'user_id', to: 'role_id' },
        },
        followees: {
          collection: 'user',
          via: 'followers',
          through: { tableName: 'follows', from: 'follower_id', to: 'followee_id' },
        },
        followers: { collection: 'user', via: 'followees' },
      },
    },
    people: { attributes: { id: { type: 'number', autoIncrement: true } } },
    person: { attributes: { id: { type: 'number', autoIncrement: true } } },
    order: {
      attributes: {
        id: { type: 'number', autoIncrement: true },
        number: { type: 'string', required: true, unique: true },
        customer: { model: 'user', columnName: 'customer_id', required: true, onDestroy: 'cascade' },
        status: { type: 'string', maxLength: 3, required: true },
        createdAt: { type: 'datetime', columnName: 'created_at', columnType: 'datetime', required: true },
      },
    },
    shipment: {
      tableName: 'shipments',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        orderId: { type: 'number', columnName: 'order_id', isInteger: true },
        lineNo: { type: 'number', columnName: 'line_no', isInteger: true },
        orderNumber: { type: 'string', columnName: 'order_number' },
      },
    },
    team: {
      tableName: 'teams',
      attributes: {
        code: { type: 'string', primaryKey: true, required: true },
        name: { type: 'string' },
        matchesByHomeTeam: { collection: 'match', via: 'homeTeam' },
        matchesByAwayTeam: { collection: 'match', via: 'awayTeam' },
      },
    },
    match: {
      tableName: 'matches',
      attributes: {
        id: { type: 'number', isInteger: true, required: true },
        homeTeam: { model: 'team', columnName: 'home_team_id', required: true },
        awayTeam: { model: 'team', columnName: 'away_team_id' },
      },
    },
    category: {
      tableName: 'categories',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        name: { type: 'string', required: true },
        parent: { model: 'category', columnName: 'parent_id', onDestroy: 'restrict' },
        children: { collection: 'category', via: 'parent' },
      },
      indexes: [{ attributes: ['parent', 'name'], unique: true }],
    },
    employee: {
      tableName: 'employees',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        manager: { model: 'employee', columnName: 'manager_id', onDestroy: 'restrict' },
        employeesByManager: { collection: 'employee', via: 'manager' },
      },
    },
    profile: {
      tableName: 'profiles',
      attributes: {
        userId: { type: 'number', columnName: 'user_id', primaryKey: true, isInteger: true, required: true },
        bio: { type: 'string' },
      },
    },
    role: {
      tableName: 'roles',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        name: { type: 'string', required: true },
        users: { collection: 'user', via: 'roles' },
      },
    },
    liveRecord: {
      tableName: 'live',
      attributes: { id: { type: 'number', autoIncrement: true }, v: { type: 'string' } },
    },
    etudiant: {
      tableName: 'Étudiants',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        aB: { type: 'string', columnName: 'a"b' },
        xY: { type: 'string', columnName: "x'y" },
      },
    },
    oddProcessExit1: {
      tableName: 'odd\n}) process.exit(1) //',
      attributes: { id: { type: 'number', autoIncrement: true }, cD: { type: 'string', columnName: 'c\n) d' } },
    },
    strictOne: {
      tableName: 'strict_one',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        n: { type: 'number', isInteger: true },
        r: { type: 'number' },
        t: { type: 'string' },
        b: { type: 'binary' },
      },
    },
    looseLink: {
      tableName: 'loose_link',
      attributes: { id: { type: 'number', autoIncrement: true }, user: { type: 'string' } },
    },
    thing: {
      tableName: 'things',
      attributes: { id: { type: 'string', isUUID: true }, at: { type: 'datetime', columnType: 'datetime' } },
    },
    token: {
      tableName: 'tokens',
      attributes: {
        token: { type: 'string', primaryKey: true, required: true },
        user: { model: 'user', columnName: 'user_id', onDestroy: 'cascade' },
      },
    },
  }

  test('declare keys, types, defaults and associations', async () => {
    // Functions are compared by the records that they make.
    const definitions = JSON.parse(JSON.stringify(definitionsOf((await plan).models))) as ModelDefinitions
    assert.deepEqual(Object.keys(definitions), Object.keys(expected))
    for (const [name, definition] of Object.entries(expected)) assert.deepEqual(definitions[name], definition, name)
  })

  test('leave out what no model describes, with the reason', async () => {
    const { leftOut, models, junctions } = await plan
    const copy = 'To serve it, copy its rows into a table with the column "id integer primary key"'
    assert.deepEqual(Object.fromEntries(leftOut), {
      order_lines: `its key is "order_id" and "line_no", and that of a model is one column. ${copy}`,
      grades: `its key is "user_id" and "role_id", and that of a model is one column. ${copy}`,
      builders:
        'the column "constructor" of the table "builders" must have a value and belongs to no attribute, so that no record could be created. Declare an attribute with this column (after a renaming: columnName: \'constructor\'), or allow null: alter table "builders" alter column "constructor" drop not null (SQLite 3.53 or newer)',
      raw_events: `it has no key. ${copy}`,
      raw_marks: `it has no key. ${copy.replace('id', 'row_id2')}`,
      blobs: 'its key "id" has the type BLOB, which is not one of a key',
      constructor: 'its name is not allowed as the name of a column or table',
      active_users: 'a view; on SQLite only tables are served',
      search: 'a virtual table, which has no triggers, so that its changes would not be seen',
      schema_migrations: 'it belongs to a migration tool',
      keelson_old: 'it belongs to Keelson',
    })
    assert.deepEqual(
      models.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
      [
        'user: Without the column "": its name must not be empty',
        'user: Without the column "constructor": its name is not allowed as the name of a column or table',
        'shipment: The foreign key "order_id", "line_no" to "order_lines" is not an association: it has several columns',
        'shipment: The foreign key "order_number" to "order" is not an association: "number" is not the key of the model',
        'profile: The foreign key "user_id" to "users" is not an association: it is the key',
        'strictOne: Without the column "a": no attribute holds its type ANY',
        'looseLink: The foreign key "user" to "users" is not an association: its type differs from that of the key',
      ],
    )
    assert.deepEqual(junctions, [
      { table: 'user_roles', places: ['user.roles', 'role.users'], unserved: ['granted_at'] },
      { table: 'follows', places: ['user.followees', 'user.followers'], unserved: [] },
    ])
  })
})

const withDefaults = `
create table state (id integer primary key);
create table label (code smallint primary key default 7, name text);
create table task (
  id integer primary key, state_id integer default 1 references state, first_state_id integer not null default 1 references state);
insert into state values (1);
insert into task (id) values (1);
`
for (const { name, missing, open } of [sqliteWith('defaults', withDefaults), postgresWith('defaults', withDefaults)]) {
  test(`the default of a foreign key or of a key is noted: ${name}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    const { models } = await planOf(database.url)
    const noted = models.flatMap(({ attributes }) =>
      [...attributes].flatMap(([name, { note }]) => (note === undefined ? [] : [[name, note]])),
    )
    assert.deepEqual(Object.fromEntries(noted), {
      code: 'The service does not use the default of the database, 7: a value must be given',
      state: 'The service does not use the default of the database, 1: an omitted value is null',
      firstState: 'The service does not use the default of the database, 1: a value must be given',
    })
  })
}

test('a default of null is none, and a column has that of its domain', { skip: missingPostgres ?? false }, async () => {
  const statements = `create domain price as numeric(8,2) default 0; create domain sale as price; create domain day as date default now();
    create table book (id serial primary key, title varchar(10) default null, isbn char(13) default null, pages numeric(5,0) default null,
      price price, sale sale, free sale default null, dear price default 5, day day, needed varchar(3) not null default null)`
  await using database = await freshDatabase(server?.url ?? '')
  await database.query(statements)
  const { models } = await planOf(database.url)
  const [book] = models
  assert.deepEqual([...(book?.attributes.values() ?? [])].map(({ note }) => note).filter(Boolean), [])
  assert.deepEqual(JSON.parse(JSON.stringify(definitionsOf(models).book?.attributes)), {
    id: { type: 'number', autoIncrement: true },
    title: { type: 'string', maxLength: 10 },
    isbn: { type: 'string', maxLength: 13 },
    pages: { type: 'number', columnType: 'numeric(5,0)' },
    price: { type: 'number', defaultsTo: 0, allowNull: true },
    sale: { type: 'number', defaultsTo: 0, allowNull: true },
    free: { type: 'number' },
    dear: { type: 'number', defaultsTo: 5, allowNull: true },
    day: { type: 'datetime', columnType: 'date', allowNull: true },
    needed: { type: 'string', maxLength: 3, required: true },
  })
  const open = async (attributes: ModelDefinitions[string]['attributes']) => {
    const attributesOfAll = { createdAt: false, updatedAt: false } as const
    await using service = await createService({
      database: database.url,
      migrate: 'safe',
      attributes: attributesOfAll,
      models: { book: { attributes } },
    } as never)
    return service.warnings
  }
  const needed = { type: 'string', required: true } as const
  assert.deepEqual(await open({ title: { type: 'string' }, free: { type: 'number' }, needed }), [])
  assert.match((await open({ price: { type: 'number' }, needed })).join(), /the default of the column "price"/)
  await assert.rejects(open({ title: { type: 'string' } }), /"needed"/)
})

const withFractions = `create table rate (factor double precision primary key, name text);
create table price (amount numeric(10,2) primary key); create table step (no numeric(10) primary key); insert into step values (7)`
for (const { name, missing, open } of [
  sqliteWith('keys with fractions', withFractions),
  postgresWith('keys with fractions', withFractions),
]) {
  test(`a key with a fraction is none of a model: ${name}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    const { models, leftOut } = await planOf(database.url)
    assert.deepEqual(
      models.map(({ name }) => name),
      ['step'],
    )
    assert.match(
      leftOut.get('rate') ?? '',
      /^its key "factor" has the type double precision, which is not one of a key$/i,
    )
    assert.match(
      leftOut.get('price') ?? '',
      /^its key "amount" has the type numeric\(10,2\), which is not one of a key$/i,
    )
  })
}

const withLongKeys = `create table short (no numeric(15) primary key); create table long (no numeric(18,0) primary key);
create table longest (no decimal(20,0) primary key); create table unbounded (no numeric primary key)`
for (const { name, missing, open } of [
  sqliteWith('long keys', withLongKeys),
  postgresWith('long keys', withLongKeys),
]) {
  test(`a key of more digits than a number has is a big integer: ${name}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    const { models } = await planOf(database.url)
    assert.deepEqual(
      models.map(({ name, attributes }) => {
        const { definition, hint } = attributes.get('no') as PlannedAttribute
        return [name, definition.type, definition.isInteger, hint !== undefined]
      }),
      [
        ['short', 'number', true, false],
        ['long', 'bigint', undefined, false],
        ['longest', 'bigint', undefined, true],
        ['unbounded', 'bigint', undefined, true],
      ],
    )
  })
}

test('foreign keys to tables that are not chosen are plain attributes', async () => {
  const path = newFile()
  asOtherProgram(path, unusualSqlite)
  const { models, leftOut } = await planOf(`sqlite:${path}`, ['matches', 'keelson_old'])
  assert.deepEqual(definitionsOf(models).match?.attributes?.awayTeamId, { type: 'string', columnName: 'away_team_id' })
  assert.deepEqual([...leftOut.keys()], ['keelson_old'])
})

describe('models for an unusual database, on PostgreSQL', { skip: missingPostgres ?? false }, () => {
  const [, , , unusual] = databases
  let plan: DatabasePlan
  before(async () => {
    await using database = await (unusual as Existing).open()
    plan = await planOf(database.url)
  })

  const expected: ModelDefinitions = {
    member: {
      tableName: 'members',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        email: { type: 'string', required: true, unique: true },
        apiToken: { type: 'string', columnName: 'api_token', hidden: true },
        name: { type: 'string', maxLength: 80, required: true },
        code: { type: 'string', maxLength: 3 },
        small: { type: 'number', isInteger: true, defaultsTo: 0 },
        whole: { type: 'number', isInteger: true },
        big: { type: 'bigint', defaultsTo: '0' },
        amount: { type: 'number' },
        sized: { type: 'number', columnType: 'numeric(8,3)', defaultsTo: 1.5 },
        cost: { type: 'number' },
        ratio: { type: 'number' },
        exact: { type: 'number' },
        active: { type: 'boolean', defaultsTo: true },
        mood: { type: 'string', isIn: ['happy', 'so-so'], defaultsTo: 'happy' },
        moods: { type: 'string' },
        tags: { type: 'string', defaultsTo: '{}' },
        data: { type: 'json', defaultsTo: { a: [1] } },
        raw: { type: 'json' },
        spot: { type: 'string' },
        seen: { type: 'datetime' },
        local: { type: 'datetime', columnType: 'timestamp' },
        born: { type: 'datetime', columnType: 'date' },
        alarm: { type: 'string' },
        wait: { type: 'string' },
        photo: { type: 'binary' },
        address: { type: 'string' },
        network: { type: 'string' },
        range: { type: 'string' },
        reference: { type: 'string', isUUID: true },
        words: { type: 'string', readOnly: true },
        ticket: { type: 'number', isInteger: true, required: true },
        createdAt: { type: 'datetime', columnName: 'created_at', autoCreatedAt: true },
        updatedAt: { type: 'datetime', columnType: 'timestamp', autoUpdatedAt: true },
        expiresAt: { type: 'datetime', columnName: 'expires_at', required: true },
        publishedAt: { type: 'datetime', columnName: 'published_at', allowNull: true },
        devices: { collection: 'device', via: 'member' },
        ticketsByAssignee: { collection: 'ticket', via: 'assignee' },
        ticketsByReporter: { collection: 'ticket', via: 'reporter' },
        countries: {
          collection: 'country',
          via: 'members',
          through: { tableName: 'member_countries', from: 'member_id', to: 'country_code' },
        },
      },
      indexes: [{ attributes: ['whole', 'code'], unique: true }],
    },
    device: {
      tableName: 'devices',
      attributes: {
        id: { type: 'string', isUUID: true },
        member: { model: 'member', columnName: 'member_id', required: true, onDestroy: 'cascade' },
        label: { type: 'string' },
        countries: { collection: 'country', via: 'devices' },
      },
    },
    ticket: {
      tableName: 'tickets',
      attributes: {
        id: { type: 'bigint', autoIncrement: true },
        assignee: { model: 'member', columnName: 'assignee_id' },
        reporter: { model: 'member', columnName: 'reporter_id', onDestroy: 'restrict' },
      },
    },
    country: {
      tableName: 'countries',
      attributes: {
        code: { type: 'string', primaryKey: true, maxLength: 2, required: true },
        name: { type: 'string', required: true },
        members: { collection: 'member', via: 'countries' },
        devices: {
          collection: 'device',
          via: 'countries',
          through: { tableName: '_CountryToDevice', from: 'A', to: 'B' },
        },
      },
    },
    shownLine: {
      tableName: 'shown_lines',
      attributes: {
        orderId: { type: 'number', columnName: 'order_id', isInteger: true, required: true },
        line: { type: 'number', isInteger: true, required: true },
        id: { type: 'number', autoIncrement: true },
      },
      indexes: [{ attributes: ['orderId', 'line'], unique: true }],
    },
    measured: {
      attributes: { id: { type: 'number', autoIncrement: true }, at: { type: 'datetime' }, v: { type: 'number' } },
    },
    marked: {
      attributes: {
        id: { type: 'number', autoIncrement: true },
        measuredId: { type: 'bigint', columnName: 'measured_id' },
        at: { type: 'datetime' },
      },
    },
    bill: {
      tableName: 'bills',
      attributes: {
        id: { type: 'number', autoIncrement: true },
        invoiceId: { type: 'number', columnName: 'invoice_id', isInteger: true },
      },
    },
  }

  test('declare keys, types, defaults and associations', () => {
    const definitions = JSON.parse(JSON.stringify(definitionsOf(plan.models))) as ModelDefinitions
    assert.deepEqual(Object.keys(definitions), Object.keys(expected))
    for (const [name, definition] of Object.entries(expected)) assert.deepEqual(definitions[name], definition, name)
  })

  test('leave out what no model describes, with the reason', () => {
    const { leftOut, models } = plan
    const view = 'a view: write a model with the primaryKey that names one of its rows; it has no events'
    const add = 'alter table "lines" add column id bigint generated by default as identity unique'
    const reasons = Object.fromEntries(leftOut)
    assert.match(reasons.located ?? '', /^the column "at" of the table "located" must have a value/)
    const path =
      /^the schema is not in the search path\. .*: alter role "\w+" in database "\w+" set search_path = "\$user", public, "auditing", "billing"$/
    assert.match(reasons['billing.*'] ?? '', path)
    assert.equal(reasons['auditing.*'], reasons['billing.*'], 'one statement serves both')
    assert.match(reasons.lines ?? '', RegExp(`its key is "order_id" and "line", .*: ${add}$`))
    assert.match(reasons.nothing ?? '', /^it has no key\. .* add column id /)
    assert.match(reasons.numbered ?? '', /^it has no key\. .* add column row_id /)
    assert.match(reasons.logged ?? '', /^its key is "id" and "at", .* To serve it, write a model with the primaryKey/)
    const others = [
      'moments',
      'logged_all',
      'measured_all',
      'active_members',
      'counts',
      'Members',
      '_prisma_migrations',
    ]
    assert.deepEqual(
      Object.keys(reasons).sort(),
      [...others, 'located', 'billing.*', 'auditing.*', 'lines', 'nothing', 'numbered', 'logged'].sort(),
    )
    assert.deepEqual(
      others.map((name) => reasons[name]),
      [
        'its key "at" has the type timestamp with time zone, which is not one of a key',
        'a partition, whose rows are those of its table',
        'a partition, whose rows are those of its table',
        view,
        view,
        'its name differs from "members" in letter case only',
        'it belongs to a migration tool',
      ],
    )
    assert.deepEqual(models[0]?.notes, [
      'Without the column "doc": no attribute holds its type xml',
      'Without the column "place": no attribute holds its type point',
      'Without the column "number": the database generates it always',
      'Without the column "Name": its name differs from "name" in letter case only',
    ])
    assert.deepEqual(models.find(({ name }) => name === 'marked')?.notes, [
      'The foreign key "measured_id", "at" to "measured" is not an association: it has several columns',
    ])
  })
})

test('foreign keys to tables that have no model lead to none of a similar name', {
  skip: missingPostgres ?? false,
}, async () => {
  const statements = `create schema sales;
    create table "Users" (id serial primary key); create table users (id serial primary key); create table region (id serial primary key);
    create table sales.region (id serial primary key);
    create table post (id serial primary key, user_id int references users, region_id int references sales.region);
    create table liking (user_id int references users, region_id int references sales.region, primary key (user_id, region_id))`
  await using database = await freshDatabase(server?.url ?? '')
  await database.query(statements)
  const { models, junctions } = await planOf(database.url)
  const { post } = definitionsOf(models)
  assert.deepEqual(post?.attributes, {
    id: { type: 'number', autoIncrement: true },
    userId: { type: 'number', columnName: 'user_id', isInteger: true },
    regionId: { type: 'number', columnName: 'region_id', isInteger: true },
  })
  assert.deepEqual(models.find(({ name }) => name === 'post')?.notes, [
    'The foreign key "user_id" to "users" is not an association: "users" has no model',
    'The foreign key "region_id" to "sales.region" is not an association: "sales.region" has no model',
  ])
  assert.deepEqual(junctions, [])
})

test('a table behind one of the same name in the search path', { skip: missingPostgres ?? false }, async () => {
  const statements = `create schema sales; create schema billing;
    create table customer (id serial primary key); create table sales.customer (id serial primary key);
    create table sales.region (id serial primary key); create table billing.invoice (id serial primary key);
    do $$ begin execute format('alter database %I set search_path = public, sales', current_database()); end $$`
  await using database = await freshDatabase(server?.url ?? '')
  await database.query(statements)
  const { models, leftOut } = await planOf(database.url)
  assert.deepEqual(
    models.map(({ name }) => name),
    ['customer', 'region'],
  )
  assert.equal(
    leftOut.get('sales.customer'),
    'another table of this name comes first in the search path. To serve it, rename it, or serve it with a role whose search path begins with "sales"',
  )
  assert.match(leftOut.get('billing.*') ?? '', /set search_path = public, sales, "billing"$/)
  assert.equal(leftOut.size, 2)
  // A role without rights to it: its search path passes over the schema.
  const role = `reader_${database.url.split('/').at(-1)}`
  await database.query(`create role ${role} login password 'reader'; grant select on customer to ${role}`)
  try {
    const url = new URL(database.url)
    url.username = role
    url.password = 'reader'
    const { leftOut } = await planOf(url.href)
    assert.match(
      leftOut.get('sales.*') ?? '',
      RegExp(`^the role has no right to the schema: grant usage on schema "sales" to "${role}"$`),
    )
  } finally {
    await database.query(`drop owned by ${role}; drop role ${role}`)
  }
})

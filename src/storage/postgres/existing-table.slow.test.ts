import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FreshDatabase } from '../../../test/support/postgres.ts'
import { emptyDatabase, withPostgres } from '../../../test/support/postgres-database.ts'
import { openTestStore } from '../../../test/support/postgres-store.ts'
import { allAttributes, matchAll, orderByPrimaryKey } from '../../criteria/criteria.ts'
import { parseSort } from '../../criteria/parse-sort.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { toSql } from '../../criteria/to-sql.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { textOf } from '../../sql/sql.ts'
import { defaultLimits } from '../../support/limits.ts'
import { SelectLists } from '../select-lists.ts'
import { SqlSelects } from '../sql-selects.ts'
import { encodeList } from '../store.ts'
import { postgresDialect } from './dialect.ts'
import { columnsOf, inspect, typesOf } from './schema/inspect.ts'

const text = { type: 'string' } as const
const whole = { type: 'number', isInteger: true } as const

describe('a table of another program', withPostgres, () => {
  const definition = `
    create type mood as enum ('sad', 'happy');
    create domain positive as int check (value > 0);
    create domain small_positive as positive check (value < 10);
    create table listed (id int primary key, tags text[], few small_positive);
    insert into listed values (1, '{a,b}', 3), (2, '{c}', 4);
    create table old (
      id int primary key, tiny smallint, small int, num numeric(12, 4), single real, day date, local timestamp, zoned timestamptz,
      name varchar(40), code char(4), feeling mood, uid uuid, uidtext text, doc json, doctext text, flag bool
    );
    insert into old select i, i % 30000, i, i + 0.5, i + 0.25, date '2020-01-01' + i % 1000, timestamp '2020-01-01' + i * interval '1 hour',
      timestamptz '2020-01-01 00:00:00.123456+00' + i * interval '1 hour', 'name ' || i, 'c' || i % 100,
      case when i % 2 = 0 then 'sad' else 'happy' end::mood, ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid,
      '00000000-0000-0000-0000-' || lpad(i::text, 12, '0'), json_build_object('i', i), case when i % 2 = 0 then '{"i":1}' else 'not json {' end, i % 3 = 0
    from generate_series(1, 20000) i;`
  const indexed = ['tiny', 'small', 'num', 'single', 'day', 'local', 'zoned', 'name', 'feeling', 'uid', 'uidtext']
  const time = { type: 'datetime' } as const
  const attributes = {
    id: whole,
    tiny: whole,
    small: { type: 'number' },
    num: { type: 'number' },
    single: { type: 'number' },
    day: time,
    local: time,
    zoned: time,
    name: text,
    code: text,
    feeling: text,
    uid: text,
    uidtext: { type: 'string', isUUID: true, allowNull: true },
    doc: { type: 'json' },
    doctext: { type: 'json' },
    flag: { type: 'boolean' },
  } as const

  const old = async (database: FreshDatabase) => {
    await database.query(definition)
    for (const column of indexed) await database.query(`create index on old (${column})`)
    await database.query('create index on old (name collate "C")')
    await database.query('analyze old')
    return openTestStore(database.url, { old: { attributes } })
  }

  test('is read, filtered and written in its own column types', async () => {
    await using database = await emptyDatabase()
    await using store = await old(database)
    const model = store.model('old')
    const first = await store.one('old', 1)
    assert.deepEqual(first, {
      id: 1,
      tiny: 1,
      small: 1,
      num: 1.5,
      single: 1.25,
      day: '2020-01-02T00:00:00.000Z',
      local: '2020-01-01T01:00:00.000Z',
      zoned: '2020-01-01T01:00:00.123Z',
      name: 'name 1',
      code: 'c1  ',
      feeling: 'happy',
      uid: '00000000-0000-0000-0000-000000000001',
      uidtext: '00000000-0000-0000-0000-000000000001',
      doc: { i: 1 },
      doctext: 'not json {',
      flag: false,
    })
    const page = await store.store.find(model, {
      where: matchAll,
      sort: orderByPrimaryKey(model),
      limit: 5,
      skip: 0,
      select: allAttributes(model),
    })
    assert.deepEqual(JSON.parse(encodeList(page)), page.decode())
    await store.update('old', 1, {
      small: 7,
      num: 2.25,
      single: 0.1,
      day: '2021-05-06T00:00:00.000Z',
      feeling: 'sad',
      doctext: { x: 1 },
    })
    const changed = await store.one('old', 1)
    assert.deepEqual(
      [changed?.small, changed?.num, changed?.single, changed?.day, changed?.feeling, changed?.doctext],
      [7, 2.25, 0.1, '2021-05-06T00:00:00.000Z', 'sad', { x: 1 }],
    )
    assert.equal((await store.find('old', { single: 0.1 })).length, 1)
  })

  test('text operators do not fail on any column type', async () => {
    await using database = await emptyDatabase()
    await using store = await old(database)
    for (const name of ['name', 'code', 'feeling', 'uid']) {
      for (const operator of ['contains', 'startsWith', 'endsWith', 'like']) {
        const found = await store.find('old', { [name]: { [operator]: 'a' }, id: { '<': 10 } })
        assert.ok(Array.isArray(found))
      }
      for (const operand of [
        'happy',
        ['happy', 'sad'],
        { '!=': 'x' },
        { '<': 'x' },
        'no such mood',
        `'`,
        ['x'],
      ] as Json[]) {
        const found = await store.find('old', { [name]: operand, id: { '<': 10 } }).catch((error: unknown) => error)
        assert.ok(
          Array.isArray(found) || (found instanceof ServiceError && found.status === 400),
          `${name} ${JSON.stringify(operand)} ${found}`,
        )
      }
    }
    assert.deepEqual(
      (await store.find('old', { feeling: ['happy'], id: { '<': 4 } })).map(({ id }) => id),
      [1, 3],
    )
    assert.deepEqual(await store.find('old', { small: 2.5 }), [])
    assert.deepEqual(
      (await store.find('old', { small: { '>': 2.5, '<': 4.5 } })).map(({ id }) => id),
      [3, 4],
    )
    assert.deepEqual(
      (await store.find('old', { small: [1, 2.5, 3] })).map(({ id }) => id),
      [1, 3],
    )
  })

  test('arrays are compared as texts, and domains of domains as their base type', async () => {
    await using database = await emptyDatabase()
    await database.query(definition)
    await using store = await openTestStore(database.url, {
      listed: { attributes: { id: whole, tags: text, few: whole } },
    })
    const ids = async (where: Json) => (await store.find('listed', where)).map(({ id }) => id)
    assert.deepEqual(await ids({ tags: '{a,b}' }), [1])
    assert.deepEqual(await ids({ tags: ['{a,b}', '{c}', 'x'] }), [1, 2])
    assert.deepEqual(await ids({ tags: { nin: ['{c}'] } }), [1])
    assert.deepEqual(await ids({ few: { '>': 3 } }), [2])
  })

  test('composite types are compared, and what a type cannot compare or read is refused', async () => {
    await using database = await emptyDatabase()
    await database.query(`create type pair as (a int, b text); create domain named_pair as pair;
      create table odd (id int primary key, pair pair, named named_pair, path jsonpath);
      insert into odd values (1, '(1,x)', '(1,x)', '$.a'), (2, '(2,y)', '(2,y)', '$.b')`)
    await using store = await openTestStore(database.url, {
      odd: { attributes: { id: whole, pair: text, named: text, path: text } },
    })
    const ids = async (where: Json) => (await store.find('odd', where)).map(({ id }) => id)
    for (const name of ['pair', 'named']) {
      assert.deepEqual(await ids({ [name]: '(1,x)' }), [1])
      assert.deepEqual(await ids({ [name]: ['(1,x)', '(2,y)'] }), [1, 2])
      assert.deepEqual(await ids({ [name]: { '>': '(1,x)' } }), [2])
      assert.deepEqual(await ids({ [name]: { nin: ['(1,x)'] } }), [2])
    }
    // SQL takes a value for null whose fields are.
    await database.query(
      `insert into odd values (3, '(,)', '(,)', '$'), (4, '(,z)', '(,z)', '$'), (5, null, null, '$')`,
    )
    for (const name of ['pair', 'named']) {
      assert.deepEqual(await ids({ [name]: null }), [5])
      assert.deepEqual(await ids({ [name]: { '!=': null } }), [1, 2, 3, 4])
    }
    const refused = (error: unknown) => error instanceof ServiceError && error.status === 400
    await assert.rejects(ids({ pair: 'x' }), refused)
    await assert.rejects(ids({ path: '$.a' }), refused)
    await assert.rejects(store.update('odd', 1, { path: '$$' }), refused)
  })

  test('domains of enums, ranges and arrays are compared', async () => {
    await using database = await emptyDatabase()
    await database.query(`create type feeling as enum ('sad', 'happy'); create domain state as feeling;
      create domain span as int4range; create domain labels as text[];
      create table odd (id int primary key, feeling feeling, state state, range int4range, span span, texts text[], labels labels);
      insert into odd values (1, 'sad', 'sad', '[1,3)', '[1,3)', '{a}', '{a}'), (2, 'happy', 'happy', '[5,6)', '[5,6)', '{b}', '{b}')`)
    const values = { feeling: 'sad', state: 'sad', range: '[1,3)', span: '[1,3)', texts: '{a}', labels: '{a}' }
    await using store = await openTestStore(database.url, {
      odd: { attributes: { id: whole, ...Object.fromEntries(Object.keys(values).map((name) => [name, text])) } },
    })
    const ids = async (where: Json) => (await store.find('odd', where)).map(({ id }) => id)
    for (const [name, value] of Object.entries(values)) {
      assert.deepEqual(await ids({ [name]: value }), [1], name)
      assert.deepEqual(await ids({ [name]: [value] }), [1], name)
      assert.deepEqual(await ids({ [name]: { '>': value } }), [2], name)
      assert.deepEqual(await ids({ [name]: { nin: [value] } }), [2], name)
    }
  })

  test('its indexes are used', async () => {
    await using database = await emptyDatabase()
    await using store = await old(database)
    const otherProgram = await database.connect()
    await otherProgram.query('set enable_seqscan = off; set enable_bitmapscan = off')
    const wheres: readonly [column: string, where: JsonObject][] = [
      ['id', { id: 5 }],
      ['id', { id: [5, 6] }],
      ['tiny', { tiny: 5 }],
      ['small', { small: 5 }],
      ['small', { small: [5, 6] }],
      ['num', { num: 5.5 }],
      ['single', { single: 5.25 }],
      ['day', { day: '2020-02-01T00:00:00.000Z' }],
      ['local', { local: { '>': '2022-01-01T00:00:00.000Z' } }],
      ['zoned', { zoned: { '>': '2022-01-01T00:00:00.000Z' } }],
      ['name', { name: 'name 5' }],
      ['name', { name: ['name 5', 'name 6'] }],
      ['name', { name: { startsWith: 'name 500' } }],
      ['feeling', { feeling: 'sad' }],
      ['uid', { uid: '00000000-0000-0000-0000-000000000005' }],
      ['uidtext', { uidtext: '00000000-0000-0000-0000-000000000005' }],
    ]
    const tables = await inspect((text, values) => otherProgram.query(text, values), ['old'])
    const dialect = postgresDialect(typesOf(columnsOf([store.model('old')], tables)))
    for (const [column, where] of wheres) {
      const condition = toSql(parseWhere(where, store.model('old'), defaultLimits), store.model('old'), dialect)
      const explained = `explain select * from old where ${textOf(condition, dialect.placeholder)}`
      const plan = (await otherProgram.query(explained, condition.values)).flat().join('\n')
      assert.match(plan, new RegExp(`Index Cond: .*${column}`), `${JSON.stringify(where)}\n${plan}`)
    }
  })

  test('the page after a position is found by all sort keys of an index', async () => {
    await using database = await emptyDatabase()
    await using store = await old(database)
    const otherProgram = await database.connect()
    await otherProgram.query('create index old_small on old (small nulls first, id); set enable_seqscan = off')
    const model = store.model('old')
    const sort = parseSort('small ASC', model, defaultLimits)
    const criteria = { where: matchAll, sort, limit: 30, skip: 0, select: [model.primaryKey], after: ['5', '3'] }
    const tables = await inspect((text, values) => otherProgram.query(text, values), ['old'])
    const dialect = postgresDialect(typesOf(columnsOf([model], tables)))
    const statements = new SqlSelects(dialect, new SelectLists(dialect, () => true))
    const statement = statements.find(model, criteria, statements.columns(model, criteria))
    const explained = `explain ${textOf(statement, dialect.placeholder)}`
    const plan = (await otherProgram.query(explained, statement.values)).flat().join('\n')
    assert.match(plan, /Index Cond: \(ROW\(small, id\) > ROW\(/)
    assert.doesNotMatch(plan, /Sort/)
  })
})

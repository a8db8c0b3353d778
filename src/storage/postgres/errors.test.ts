import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type FreshDatabase, freshDatabase, missingPostgres, postgresForTests } from '../../../test/support/postgres.ts'
import { DatabaseError, type DatabaseErrorKind } from '../driver.ts'
import { connector } from './client/connect.ts'
import type { Connection } from './client/connection.ts'
import { isConflict, isLost, isOverdue, isStale, postgresError } from './errors.ts'

const tables = `
  create table owner (id int primary key, name text unique, "odd, name" int, constraint pair unique (id, "odd, name"));
  create table pet (id int primary key, owner int references owner, name varchar(5) not null, age smallint check (age > 0),
    kind text, exclude using btree (kind with =), doc jsonb, big text unique, at timestamptz, uid uuid);
  create unique index by_lower on owner (lower(name));
  create domain short as varchar(3); create table strict (s short, e numeric(3, 1));
  insert into owner values (1, 'Ann', 1); insert into pet (id, owner, name, kind) values (1, 1, 'Rex', 'dog')`

const cases: readonly [name: string, statement: string, fault: DatabaseErrorKind][] = [
  [
    'a primary key',
    `insert into owner values (1, 'x')`,
    { kind: 'unique', table: 'owner', columns: ['id'], isOfTrigger: false },
  ],
  [
    'a unique column',
    `insert into owner values (2, 'Ann')`,
    { kind: 'unique', table: 'owner', columns: ['name'], isOfTrigger: false },
  ],
  [
    'a unique expression',
    `insert into owner values (2, 'ANN')`,
    { kind: 'unique', table: 'owner', columns: ['lower(name)'], isOfTrigger: false },
  ],
  ['a parent that is not there', `update pet set owner = 9`, { kind: 'foreignKey', table: 'pet', columns: ['owner'] }],
  ['a parent that is needed', 'delete from owner', { kind: 'foreignKey', table: 'pet', columns: ['id'] }],
  [
    'nothing where something must be',
    `update pet set name = null`,
    { kind: 'notNull', table: 'pet', column: 'name', isOfTrigger: false },
  ],
  ['a check', 'update pet set age = 0', { kind: 'value', column: undefined }],
  ['an exclusion', `insert into pet (id, name, kind) values (2, 'x', 'dog')`, { kind: 'value' }],
  ['text that is too long', `update pet set name = 'too long'`, { kind: 'value' }],
  ['a number that is too large', 'update pet set age = 40000', { kind: 'value' }],
  ['a number that is none', `update pet set age = 'x'::text::int`, { kind: 'value' }],
  ['a fraction too many', 'insert into strict (e) values (1000)', { kind: 'value' }],
  ['a domain', `insert into strict (s) values ('scan')`, { kind: 'value' }],
  ['JSON that is none', `update pet set doc = '{'`, { kind: 'value' }],
  ['JSON with what cannot be kept', `update pet set doc = '"\\u0000"'`, { kind: 'value' }],
  ['a date that is none', `update pet set at = '2026-02-30'`, { kind: 'value' }],
  ['a UUID that is none', `update pet set uid = 'x'`, { kind: 'value' }],
  [
    'text too large for its index',
    `update pet set big = (select string_agg(md5(i::text), '') from generate_series(1, 1000) i)`,
    { kind: 'value' },
  ],
  ['an error that a trigger raises', `do $$ begin raise exception 'no' ; end $$`, { kind: 'value' }],
  ['one with a code of its own', `do $$ begin raise exception 'no' using errcode = 'PT404'; end $$`, { kind: 'value' }],
  [
    'one with a code of another class',
    `do $$ begin raise exception 'no' using errcode = 'XX000'; end $$`,
    { kind: 'value' },
  ],
  [
    'a trigger that finds no row',
    `do $$ declare o owner; begin select * into strict o from owner where id = 9; end $$`,
    { kind: 'value' },
  ],
  [
    'a parent that restricts',
    'create table toy (id int primary key, pet int references pet on delete restrict); insert into toy values (1, 1); delete from pet',
    { kind: 'foreignKey', table: 'toy', columns: ['id'] },
  ],
  [
    'a value for what is always generated',
    'create table counted (id int generated always as identity); insert into counted values (1)',
    { kind: 'generated', column: 'id' },
  ],
  [
    'a row against the condition of a view',
    'create view ann as select * from owner where id = 1 with check option; insert into ann values (2)',
    { kind: 'value' },
  ],
  [
    'a row against a policy',
    `create role policed_${process.pid}; create table policed (id int); grant all on policed to policed_${process.pid};
     alter table policed enable row level security; create policy one on policed using (id = 1);
     set local role policed_${process.pid}; insert into policed values (2)`,
    { kind: 'value' },
  ],
  ...Object.entries({
    'a function': 'perform nosuch(new.name)',
    'a table': 'insert into nowhere values (1)',
    'a column': 'new.nothing := 1',
    'a result': 'null',
  }).map(([what, body]): (typeof cases)[number] => [
    `${what} that a trigger lacks`,
    `create function fire() returns trigger language plpgsql as $$ begin ${body}; end $$;
       create trigger fire before insert on owner for each row execute function fire(); insert into owner values (9, 'z')`,
    { kind: 'refused' },
  ]),
  ['division by zero', 'select 1 / 0', { kind: 'value' }],
  ['a table that is not there', 'select * from nowhere', { kind: 'missing' }],
  ['a column that is not there', 'select nothing from pg_class', { kind: 'missing' }],
  [
    'a view that is only read',
    'create materialized view seen as select 1 as id; delete from seen',
    { kind: 'onlyRead' },
  ],
  [
    'a view of several rows',
    'create view seen as select count(*) as n from pet; delete from seen',
    { kind: 'onlyRead' },
  ],
  [
    'what may exist, where uniqueness is checked later',
    'create table later (id int constraint later_id unique deferrable); insert into later values (1) on conflict do nothing',
    { kind: 'deferrable', constraint: 'later_id' },
  ],
  ['what is only read', 'set transaction read only; delete from pet', { kind: 'refused' }],
  ['what is not permitted', 'set local role nobody_here; select * from owner', { kind: 'refused' }],
  ['a lock that is held', 'select * from owner for update nowait', { kind: 'busy' }],
  ['a statement that takes too long', 'set local statement_timeout = 20; select pg_sleep(5)', { kind: 'timeout' }],
  ['a session that is ended', 'select pg_terminate_backend(pg_backend_pid())', { kind: 'lost' }],
]

describe('errors of PostgreSQL', { skip: missingPostgres ?? false }, async () => {
  const server = missingPostgres ? undefined : await postgresForTests()
  after(() => server?.stop())
  const role = `keelson_nobody_${process.pid}`

  test('become DatabaseErrors', async (t) => {
    await using database = await freshDatabase(server?.url as string)
    await database.query(tables)
    await database.query(`create role ${role}`)
    const holder = await database.connect()
    await holder.query('begin; select * from owner for update')
    for (const [name, statement, fault] of cases) {
      // A foreign key would wait for the row that the holder has.
      if (fault.kind === 'foreignKey') await holder.query('commit')
      await t.test(name, async () => {
        const error = await failing(database, statement.replace('nobody_here', role))
        assert.deepEqual(error.reason, fault)
        assert.ok(error.cause instanceof Error)
      })
      if (fault.kind === 'foreignKey') await holder.query('begin; select * from owner for update')
    }
    await database.query(`drop role ${role}`)
  })

  test('name the columns of a known constraint, independent of the detail text', async () => {
    await using database = await freshDatabase(server?.url as string)
    await database.query(tables)
    const known = await failing(database, `insert into owner values (1, 'x', 1)`, new Map([['owner_pkey', ['known']]]))
    assert.deepEqual(known.reason, { kind: 'unique', table: 'owner', columns: ['known'], isOfTrigger: false })
    await database.query('alter table owner drop constraint owner_pkey cascade')
    const parsed = await failing(database, `insert into owner values (1, 'x', 1)`)
    assert.deepEqual(parsed.reason, {
      kind: 'unique',
      table: 'owner',
      columns: ['id', 'odd, name'],
      isOfTrigger: false,
    })
  })

  test('an unreachable server', async () => {
    const connect = await connector('postgres://nobody@127.0.0.1:1/nowhere', (error) => postgresError(error))
    await assert.rejects(connect({ statementTimeoutMs: 100 }), (error) => isLost(error))
    const elsewhere = await connector('postgres://nobody@no-such-host.invalid/nowhere', (error) => postgresError(error))
    await assert.rejects(elsewhere({ statementTimeoutMs: 100 }), (error) => isLost(error))
  })

  test('a missing database', async () => {
    const url = new URL(server?.url as string)
    url.pathname = '/no_such_database'
    const connect = await connector(String(url), (error) => postgresError(error))
    await assert.rejects(
      connect({ statementTimeoutMs: 100 }),
      (error: DatabaseError) => error.reason.kind === 'refused' && /does not exist/.test(error.message),
    )
  })
})

test('errors after which a statement may be repeated', () => {
  const failed = (code: string, routine = '') =>
    postgresError(Object.assign(new Error('x'), { severity: 'ERROR', code, routine }))
  const table: readonly [error: unknown, conflict: boolean, overdue: boolean, stale: boolean, lost: boolean][] = [
    [failed('40001'), true, false, false, false],
    [failed('40P01'), true, false, false, false],
    [failed('57014'), false, true, false, false],
    [failed('55P03'), false, true, false, false],
    [failed('26000'), false, false, true, false],
    [failed('0A000', 'RevalidateCachedQuery'), false, false, true, false],
    [failed('0A000'), false, false, false, false],
    [failed('57P01'), false, false, false, true],
    [failed('57P03'), false, false, false, true],
    [failed('08006'), false, false, false, true],
    [failed('23505'), false, false, false, false],
    [failed('53300'), false, false, false, false],
    [postgresError(new Error('Connection terminated unexpectedly')), false, false, false, true],
    [new Error('x'), false, false, false, false],
  ]
  for (const [error, conflict, overdue, stale, lost] of table) {
    assert.deepEqual(
      [isConflict(error), isOverdue(error), isStale(error), isLost(error)],
      [conflict, overdue, stale, lost],
    )
  }
})

async function failing(
  database: FreshDatabase,
  statement: string,
  uniques = new Map<string, readonly string[]>(),
): Promise<DatabaseError> {
  const connect = await connector(database.url, (error) => postgresError(error, uniques))
  const connection: Connection = await connect({ statementTimeoutMs: 5_000 })
  try {
    await connection.run({ text: 'begin', values: [], how: 'several' })
    await connection.run({ text: statement, values: [], how: 'several' })
  } catch (error) {
    assert.ok(error instanceof DatabaseError)
    return error
  } finally {
    await connection.close()
  }
  throw new Error(`nothing failed: ${statement}`)
}

import assert from 'node:assert/strict'
import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { newFile, SqliteForTest } from '../../../test/support/sqlite.ts'
import { DatabaseError, type DatabaseErrorKind } from '../driver.ts'
import { isBusy, isOutOfRange, sqliteError } from './errors.ts'

const failure = (errcode: number, message: string) =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode })

describe('errors of SQLite as DatabaseErrors', () => {
  const cases: readonly (readonly [name: string, code: number, message: string, fault: DatabaseErrorKind])[] = [
    ['ERROR', 1, 'no such table: pet', { kind: 'missing' }],
    ['ERROR', 1, 'near "x": syntax error', { kind: 'unknown' }],
    ['ERROR of a trigger', 1, 'no such function: title_sort', { kind: 'refused' }],
    ['ERROR of an expression in the schema', 1, 'unknown function: other()', { kind: 'refused' }],
    ['ERROR of a collation', 1, 'no such collation sequence: german', { kind: 'refused' }],
    ['ERROR of a trigger, a table', 1, 'no such table: main.audit', { kind: 'refused' }],
    ['ERROR of a foreign key', 1, 'foreign key mismatch - "pet" referencing "owner"', { kind: 'refused' }],
    ['ERROR, depth', 1, 'Expression tree is too large (maximum depth 1000)', { kind: 'complex' }],
    ['ERROR, variables', 1, 'too many SQL variables', { kind: 'complex' }],
    ['INTERNAL', 2, '', { kind: 'unknown' }],
    ['PERM', 3, 'access permission denied', { kind: 'unknown' }],
    ['ABORT', 4, 'query aborted', { kind: 'unknown' }],
    ['BUSY', 5, 'database is locked', { kind: 'busy' }],
    ['BUSY_RECOVERY', 261, 'database is locked', { kind: 'busy' }],
    ['BUSY_SNAPSHOT', 517, 'database is locked', { kind: 'busy' }],
    ['LOCKED', 6, 'database table is locked', { kind: 'busy' }],
    ['NOMEM', 7, 'out of memory', { kind: 'refused' }],
    ['READONLY', 8, 'attempt to write a readonly database', { kind: 'refused' }],
    ['READONLY_DBMOVED', 1032, 'attempt to write a readonly database', { kind: 'refused' }],
    ['INTERRUPT', 9, 'interrupted', { kind: 'timeout' }],
    ['IOERR', 10, 'disk I/O error', { kind: 'damaged' }],
    ['IOERR_FSYNC', 1034, 'disk I/O error', { kind: 'damaged' }],
    ['CORRUPT', 11, 'database disk image is malformed', { kind: 'damaged' }],
    ['FULL', 13, 'database or disk is full', { kind: 'full' }],
    ['CANTOPEN', 14, 'unable to open database file', { kind: 'lost' }],
    ['PROTOCOL', 15, 'locking protocol', { kind: 'unknown' }],
    ['SCHEMA', 17, 'database schema has changed', { kind: 'unknown' }],
    ['TOOBIG', 18, 'string or blob too big', { kind: 'value' }],
    ['MISMATCH', 20, 'datatype mismatch', { kind: 'value' }],
    ['MISUSE', 21, 'bad parameter or other API misuse', { kind: 'unknown' }],
    ['AUTH', 23, 'not authorized', { kind: 'refused' }],
    ['RANGE', 25, 'column index out of range', { kind: 'unknown' }],
    ['NOTADB', 26, 'file is not a database', { kind: 'damaged' }],
    [
      'CONSTRAINT_UNIQUE',
      2067,
      'UNIQUE constraint failed: pet.email',
      { kind: 'unique', table: 'pet', columns: ['email'] },
    ],
    [
      'CONSTRAINT_UNIQUE, several columns',
      2067,
      'UNIQUE constraint failed: pet.a, pet.b',
      { kind: 'unique', table: 'pet', columns: ['a', 'b'] },
    ],
    [
      'CONSTRAINT_PRIMARYKEY',
      1555,
      'UNIQUE constraint failed: pet.id',
      { kind: 'unique', table: 'pet', columns: ['id'] },
    ],
    [
      'CONSTRAINT_ROWID',
      2579,
      'UNIQUE constraint failed: pet.rowid',
      { kind: 'unique', table: 'pet', columns: ['rowid'] },
    ],
    ['CONSTRAINT_FOREIGNKEY', 787, 'FOREIGN KEY constraint failed', { kind: 'foreignKey' }],
    ['CONSTRAINT_TRIGGER of `on delete restrict`', 1811, 'FOREIGN KEY constraint failed', { kind: 'foreignKey' }],
    ['CONSTRAINT_TRIGGER of raise()', 1811, 'pets are full', { kind: 'value' }],
    [
      'CONSTRAINT_NOTNULL',
      1299,
      'NOT NULL constraint failed: pet.name',
      { kind: 'notNull', table: 'pet', column: 'name' },
    ],
    ['CONSTRAINT_CHECK', 275, 'CHECK constraint failed: age > 0', { kind: 'value' }],
    ['CONSTRAINT_DATATYPE', 3091, 'cannot store TEXT value in INTEGER column pet.age', { kind: 'value' }],
    ['CONSTRAINT', 19, 'constraint failed', { kind: 'value' }],
  ]
  for (const [name, code, message, fault] of cases) {
    test(name, () => assert.deepEqual(summary(failure(code, message)), fault))
  }

  test('a closed database is lost', () => {
    assert.deepEqual(summary(Object.assign(new Error('database is not open'), { code: 'ERR_INVALID_STATE' })), {
      kind: 'lost',
    })
  })

  test('other errors are returned unchanged', () => {
    const error = sqliteError(failure(5, 'database is locked'))
    assert.equal(sqliteError(error), error)
    const bug = new TypeError('a bug of ours')
    assert.equal(sqliteError(bug), bug)
  })

  test('only lock errors are busy', () => {
    assert.deepEqual(
      [5, 261, 6, 262, 10, 2067].map((code) => isBusy(failure(code, ''))),
      [true, true, true, true, false, false],
    )
  })
})

describe('errors from SQLite itself', () => {
  const setUp = `
    create table owner (id integer primary key);
    create table pet (id integer primary key, name text not null unique, age integer check (age > 0),
      owner integer references owner on delete restrict, later integer references owner deferrable initially deferred);
    create table precise (id integer primary key, age integer) strict;
    create table words (id text primary key) without rowid;
    create trigger full before insert on pet when new.name = 'one too many' begin select raise(abort, 'pets are full'); end;
    insert into owner values (1);
    insert into pet values (1, 'Rex', 3, 1, null);
    insert into words values ('a')`
  const cases: readonly (readonly [what: string, statement: string, fault: DatabaseErrorKind])[] = [
    ['a unique value', `insert into pet (name) values ('Rex')`, { kind: 'unique', table: 'pet', columns: ['name'] }],
    ['a row id', `insert into pet (id, name) values (1, 'Max')`, { kind: 'unique', table: 'pet', columns: ['id'] }],
    ['a key of text', `insert into words values ('a')`, { kind: 'unique', table: 'words', columns: ['id'] }],
    ['a missing target', `insert into pet (name, owner) values ('Max', 9)`, { kind: 'foreignKey' }],
    ['a target that others need', 'delete from owner', { kind: 'foreignKey' }],
    ['a missing value', 'insert into pet (age) values (1)', { kind: 'notNull', table: 'pet', column: 'name' }],
    ['a check', `insert into pet (name, age) values ('Max', 0)`, { kind: 'value' }],
    ['a trigger', `insert into pet (name) values ('one too many')`, { kind: 'value' }],
    ['a strict table', `insert into precise (age) values ('old')`, { kind: 'value' }],
    ['words for a row id', `insert into owner values ('x')`, { kind: 'value' }],
    ['a value that is too large', 'select zeroblob(2000000000)', { kind: 'value' }],
    [
      'a deferred foreign key, at the commit',
      `begin; insert into pet (name, later) values ('Max', 9); commit`,
      { kind: 'foreignKey' },
    ],
    [
      'a file that may not grow',
      `pragma max_page_count = 1; create table t (x); insert into t values (zeroblob(100000))`,
      { kind: 'full' },
    ],
    ['a table that does not exist', 'select * from nowhere', { kind: 'missing' }],
    ['a column that does not exist', 'select nowhere from pet', { kind: 'missing' }],
    ['one of an insert', 'insert into pet (nowhere) values (1)', { kind: 'missing' }],
  ]
  for (const [what, statement, fault] of cases) {
    test(what, () => {
      const database = new DatabaseSync(':memory:')
      database.exec(setUp)
      assert.deepEqual(
        faultOf(() => database.exec(statement)),
        fault,
      )
      database.close()
    })
  }

  test('files that are read-only, missing, locked, or no database', () => {
    const path = newFile()
    const holder = new DatabaseSync(path)
    holder.exec('create table pet (id integer primary key)')
    const reader = new DatabaseSync(path, { readOnly: true })
    assert.deepEqual(
      faultOf(() => reader.exec('insert into pet values (1)')),
      { kind: 'refused' },
    )
    holder.exec('begin exclusive')
    assert.deepEqual(
      faultOf(() => reader.exec('select * from pet')),
      { kind: 'busy' },
    )
    holder.exec('rollback')
    const statement = holder.prepare('select 1 union all select 2').iterate()
    statement.next()
    assert.deepEqual(
      faultOf(() => holder.exec('vacuum')),
      { kind: 'unknown' },
    ) // a statement is running
    statement.return?.()
    reader.close()
    holder.close()
    assert.deepEqual(
      faultOf(() => new DatabaseSync('/nowhere/at/all.db')),
      { kind: 'lost' },
    )
    const file = openSync(path, 'r+')
    writeSync(file, 'this is not what a database begins with', 0)
    closeSync(file)
    const broken = new DatabaseSync(path)
    assert.deepEqual(
      faultOf(() => broken.exec('select * from pet')),
      { kind: 'damaged' },
    )
    broken.close()
  })

  test('an integer beyond 2^53 is recognized', () => {
    const database = new DatabaseSync(':memory:')
    assert.ok(isOutOfRange(thrownBy(() => database.prepare('select 9007199254740993').all())))
    assert.ok(!isOutOfRange(thrownBy(() => database.prepare('select * from nowhere'))))
    database.close()
  })
})

describe('as a response', () => {
  const pet = {
    attributes: { name: { type: 'string', unique: true, required: true }, age: { type: 'number' } },
  } as const
  const before = `create table pet (id integer primary key, name text not null unique, age integer check (age > 0), secret text default 'x' not null);
    create unique index folded on pet (lower(name))`

  test('a duplicate value, by its attribute', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { before })
    await sqlite.create('pet', { name: 'Rex' })
    const { status, body } = await sqlite.ask('POST', '/pet', { name: 'Rex' })
    assert.equal(status, 400)
    assert.deepEqual(Object.keys((body as { invalidAttributes: object }).invalidAttributes), ['name'])
  })

  test('a duplicate in an index over an expression', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { before })
    await sqlite.create('pet', { name: 'Rex' })
    const { status, body } = await sqlite.ask('POST', '/pet', { name: 'REX' })
    assert.equal(status, 400)
    assert.deepEqual(Object.keys((body as { invalidAttributes: object }).invalidAttributes), ['name'])
  })

  test('a duplicate of an attribute that is unique in the database only', async () => {
    const otherProgram = { attributes: { name: { type: 'string' } } } as const
    await using sqlite = await SqliteForTest.open({ pet: otherProgram }, { before })
    await sqlite.create('pet', { name: 'Rex' })
    const { status, body } = await sqlite.ask('POST', '/pet', { name: 'REX' })
    assert.equal(status, 400)
    assert.equal((body as { detail: string }).detail, 'A pet with these values exists already')
  })

  test('a check constraint', async () => {
    await using sqlite = await SqliteForTest.open({ pet }, { before })
    const { status, body } = await sqlite.ask('POST', '/pet', { name: 'Rex', age: -1 })
    assert.deepEqual([status, (body as { code: string }).code], [400, 'E_BAD_REQUEST'])
    assert.deepEqual(sqlite.reported, [])
  })

  test('a text that is no JSON, where an index of another program reads it as JSON', async () => {
    await using sqlite = await SqliteForTest.open(
      { thing: { attributes: { data: { type: 'string' } } } },
      {
        before: `create table thing (id integer primary key, data text);
          create index by_kind on thing (json_extract(data, '$.kind'))`,
      },
    )
    const { status, body } = await sqlite.ask('POST', '/thing', { data: '{kind' })
    assert.deepEqual(
      [status, (body as { detail: string }).detail],
      [400, 'The database cannot store one of the values'],
    )
    assert.deepEqual(sqlite.reported, [])
    const kind = { type: 'string', readOnly: true } as const
    await using other = await SqliteForTest.open(
      { thing: { attributes: { kind } } },
      {
        before: `create table thing (id integer primary key, data text); insert into thing (data) values ('{kind');
          alter table thing add column kind text generated always as (json_extract(data, '$.kind'))`,
      },
    )
    assert.equal((await other.ask('GET', '/thing')).status, 500, 'no mistake of the request')
  })

  test('a strict table', async () => {
    const thing = { attributes: { age: { type: 'string', columnType: 'integer' } } } as const
    await using sqlite = await SqliteForTest.open(
      { thing },
      { before: 'create table thing (id integer primary key, age integer) strict' },
    )
    const { status, body } = await sqlite.ask('POST', '/thing', { age: 'old' })
    assert.deepEqual([status, (body as { code: string }).code], [400, 'E_BAD_REQUEST'])
    assert.deepEqual(sqlite.reported, [])
  })
})

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  assert.fail('nothing was thrown')
}

function summary(thrown: unknown): DatabaseErrorKind {
  const error = sqliteError(thrown)
  assert.ok(error instanceof DatabaseError, String(error))
  return error.reason
}

const faultOf = (run: () => unknown): DatabaseErrorKind => summary(thrownBy(run))

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { asOtherProgram, changesAfter, newFile, SqliteForTest } from '../../../../test/support/sqlite.ts'
import type { ModelDefinitions } from '../../../model/definition.ts'
import { describeStep } from '../../schema-step.ts'

const models: ModelDefinitions = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: {
    tableName: 'the "pets"',
    attributes: {
      name: { type: 'string', required: true, unique: true },
      extra: { type: 'json' },
      more: { type: 'json', columnName: 'more "data"' },
      owner: { model: 'owner' },
      mother: { model: 'pet' },
    },
  },
  toy: { attributes: { pet: { model: 'pet', required: true } } },
}

/** What another program has added. */
const additions = `
  create index by_kind on "the ""pets""" (json_extract(extra, '$.kind')) where extra is not null;
  create table seen (name text);
  create trigger see after update on "the ""pets""" begin insert into seen values (new.name); end;
  create trigger see_toy after insert on toy begin insert into seen select name from "the ""pets"""; end;
  create view named as select name from "the ""pets""";
  alter table "the ""pets""" add column added text default 'x' check (length(added) > 0);
  alter table "the ""pets""" add column size integer as (length(name))`

/** Changes the checks to those of an earlier version, as a file of it has them. */
function asEarlierVersion(path: string): void {
  const database = new DatabaseSync(path, { defensive: false })
  database.exec('pragma writable_schema = on')
  for (const column of ['extra', 'more ""data""']) {
    database
      .prepare(`update sqlite_schema set sql = replace(sql, ?, '') where type = 'table'`)
      .run(`"${column}" is null or `)
  }
  database.exec('pragma writable_schema = reset')
  database.close()
}

const schema = (path: string): readonly string[] => {
  const database = new DatabaseSync(path)
  const rows = database.prepare('select name, sql from sqlite_schema order by name').all()
  database.close()
  return rows.map(({ sql }) => String(sql))
}

describe('a table with JSON checks of an earlier version', () => {
  test('is rebuilt once, with its rows, indexes, triggers, key sequence and log', async () => {
    const path = newFile()
    const first = await SqliteForTest.open(models, { path })
    await first.create('owner', { name: 'Ann' })
    await first.create('pet', { name: 'Rex', extra: { kind: 'dog' }, owner: 1 })
    await first.create('pet', { name: 'Tom', more: [1], mother: 1 })
    await first.create('pet', { name: 'Max' })
    await first.create('toy', { pet: 1 })
    await first.ask('DELETE', '/pet/3')
    const head = await first.changes.head()
    const pets = await first.all('pet')
    await first[Symbol.asyncDispose]()
    asOtherProgram(path, additions)
    const current = schema(path)
    asEarlierVersion(path)
    assert.notDeepEqual(schema(path), current)

    await using second = await SqliteForTest.open(models, { path })
    assert.deepEqual(second.service.database.steps, [{ kind: 'rebuildTable', table: 'the "pets"' }])
    assert.match(second.service.database.steps.map(describeStep).join(), /^rebuilt table the "pets", so that/)
    const written = (sql: string) => sql.replace(/^CREATE TABLE/i, 'create table')
    assert.deepEqual(schema(path).map(written), current.map(written))
    assert.deepEqual(await second.all('pet'), pets)
    assert.deepEqual(second.otherProgram.prepare('select name, added, size from "the ""pets""" order by id').all(), [
      { __proto__: null, name: 'Rex', added: 'x', size: 3 },
      { __proto__: null, name: 'Tom', added: 'x', size: 3 },
    ])

    const cat = await second.create('pet', { name: 'Cat', extra: null, owner: 1, mother: 2 })
    assert.equal(cat.id, 4, 'the key of a deleted record is not used again')
    await second.ask('PATCH', '/pet/1', { name: 'Rexy' })
    second.otherProgram.exec(`insert into "the ""pets""" (name, extra) values ('Kim', null)`)
    const changes = await changesAfter(second.changes, head)
    assert.deepEqual(
      changes.map(({ model, id, verb }) => `${model} ${id} ${verb}`),
      ['pet 4 created', 'pet 1 updated', 'pet 5 created'],
    )
    for (const [method, route, body] of [
      ['POST', '/pet', { name: 'Tom' }],
      ['POST', '/pet', { name: 'Bob', owner: 9 }],
      ['POST', '/toy', { pet: 9 }],
    ] as const)
      assert.equal((await second.ask(method, route, body)).status, 400)
    assert.equal((await second.ask('DELETE', '/pet/1')).status, 409, 'a toy requires the pet')
    assert.throws(() => second.otherProgram.exec(`update "the ""pets""" set extra = '{'`), /CHECK constraint failed/)
    assert.deepEqual(second.otherProgram.prepare('pragma foreign_key_check').all(), [])
    assert.deepEqual(second.otherProgram.prepare('pragma integrity_check').all(), [
      { __proto__: null, integrity_check: 'ok' },
    ])

    await using third = await SqliteForTest.open(models, { path })
    assert.deepEqual(third.service.database.steps, [])
  })

  test('is served unchanged with migrate: safe', async () => {
    const path = newFile()
    const first = await SqliteForTest.open(models, { path })
    await first.create('pet', { name: 'Rex', extra: { kind: 'dog' } })
    const pets = await first.all('pet')
    await first[Symbol.asyncDispose]()
    asEarlierVersion(path)
    const before = schema(path)
    await using second = await SqliteForTest.open(models, { path, migrate: 'safe' })
    assert.deepEqual(await second.all('pet'), pets)
    assert.deepEqual(schema(path), before)
  })
})

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { newFile } from '../../../../test/support/sqlite.ts'
import { Connection } from '../client/connection.ts'

const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: { attributes: { owner: { model: 'owner' } } },
} as const

const rows = (count: number) =>
  `insert into note (owner) select value from json_each('[${Array.from({ length: count }, () => 1).join()}]')`

describe('foreign keys to a served table', () => {
  const warning =
    'owner: for each record that is destroyed, SQLite reads the whole table "note", because its foreign key has no index: create index "note_owner" on "note" ("owner")'
  const note = 'create table note (id integer primary key, owner integer references Owner (id))'
  for (const { title, statements, warnings, deletes } of [
    { title: 'without an index', statements: [note, rows(10_001)], warnings: [warning], deletes: 3 },
    { title: 'without an index, in a small table', statements: [note, rows(10)], warnings: [], deletes: 3 },
    {
      title: 'with an index that begins with it',
      statements: [note, 'create index notes on note (owner desc, id)', rows(10_001)],
      warnings: [],
      deletes: 1,
    },
    {
      title: 'with an index of some rows only',
      statements: [note, 'create index notes on note (owner) where id > 5', rows(10_001)],
      warnings: [warning],
      deletes: 3,
    },
    {
      title: 'with an index of the rows that have one',
      statements: [note, 'create index notes on note (owner) where owner is not null', rows(10_001)],
      warnings: [],
      deletes: 1,
    },
    {
      title: 'that are the key',
      statements: ['create table note (owner integer primary key references owner (id))'],
      warnings: [],
      deletes: 1,
    },
  ])
    test(title, async (t) => {
      const file = newFile()
      const database = new DatabaseSync(file)
      database.exec(`create table owner (id integer primary key, name text);
        insert into owner (id) values (1), (2), (3), (4); ${statements.join(';')}`)
      database.close()
      const service = await createService({
        database: `sqlite:${file}`,
        attributes: { createdAt: false, updatedAt: false },
        models,
      })
      assert.deepEqual(service.warnings, warnings)
      const all = t.mock.method(Connection.prototype, 'all')
      const destroyed = await service.system.records.owner.destroyMany({ where: { id: [2, 3, 4] } })
      assert.equal(destroyed.length, 3)
      const texts = all.mock.calls.map(({ arguments: [text] }) => text)
      assert.equal(texts.filter((text) => text.startsWith('delete from "owner"')).length, deletes)
      await service.close()
    })
})

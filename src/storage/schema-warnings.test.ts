import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from 'keelson'
import { schemaDatabases } from '../../test/support/schema-databases.ts'

const text = { type: 'string' } as const

for (const { name, missing, open } of schemaDatabases) {
  describe(`what tables of another program declare on ${name}`, { skip: missing ?? false }, () => {
    test('defaults and cascades that the service does not use are warnings', async () => {
      await using database = await open()
      const key = name === 'sqlite' ? 'integer primary key autoincrement' : 'serial primary key'
      await database.execute(`
        create table owner (id ${key}, name text default null);
        create table pet (id ${key}, state text not null default 'open', note text default 'x', kind text default 'cat',
          made timestamp default current_timestamp,
          owner integer references owner on delete cascade, keeper integer references owner on delete cascade,
          vet integer not null references owner on delete cascade, other integer references owner on delete set null)`)
      const service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: {
          owner: { attributes: { name: text } },
          pet: {
            attributes: {
              state: text,
              note: text,
              kind: { type: 'string', defaultsTo: 'cat' },
              made: { type: 'datetime', columnType: name === 'sqlite' ? 'datetime' : 'timestamp', autoCreatedAt: true },
              owner: { model: 'owner' },
              keeper: { model: 'owner', onDestroy: 'cascade' },
              vet: { model: 'owner', required: true },
              other: { model: 'owner' },
            },
          },
        },
      })
      assert.deepEqual(service.warnings, [
        'pet: the service does not use the default of the column "state", "note": it stores null where a value is omitted. defaultsTo of the attribute declares one',
        `pet.owner: the database deletes rows of "pet" with the row that "owner" refers to, and the service sets it to null before. onDestroy: 'cascade' deletes them, too`,
      ])
      await service.close()
    })

    test('tables that the service has created have none, also after a change of the model', async () => {
      await using database = await open()
      const models = (kind: object) => ({
        owner: { attributes: { name: text } },
        pet: {
          attributes: { ...kind, owner: { model: 'owner', onDestroy: 'cascade' }, keeper: { model: 'owner' } },
        },
      })
      for (const kind of [{}, { kind: { type: 'string', defaultsTo: 'cat' } }]) {
        const service = await createService({ database: database.url, models: models(kind) } as never)
        assert.deepEqual(service.warnings, [])
        await service.close()
      }
    })
  })
}

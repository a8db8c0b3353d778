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

    if (name === 'sqlite')
      test('foreign keys that make every write fail', async () => {
        await using database = await open()
        await database.execute(`create table owner (id integer primary key, name text);
          create table pet (id integer primary key, owner text references owner(name));
          create table visit (id integer primary key, vet integer references vet);
          create table town (id integer primary key)`)
        const reported: string[] = []
        const service = await createService({
          database: database.url,
          onError: (error) => reported.push((error as Error).message),
          attributes: { createdAt: false, updatedAt: false },
          models: {
            owner: { attributes: { name: text } },
            pet: { attributes: { owner: text } },
            visit: { attributes: { vet: { type: 'number', isInteger: true } } },
            town: {},
          },
        })
        assert.deepEqual(service.warnings, [
          'owner: SQLite refuses writes of the table "owner", because of a foreign key: foreign key mismatch - "pet" referencing "owner"',
          'pet: SQLite refuses writes of the table "pet", because of a foreign key: foreign key mismatch - "pet" referencing "owner"',
          'visit: SQLite refuses writes of the table "visit", because of a foreign key: no such table: main.vet',
        ])
        const { pet } = service.system.records
        for (let times = 0; times < 2; times++)
          await assert.rejects(pet.create({}), { status: 503, message: 'The database refuses the operation' })
        assert.deepEqual(reported, [
          'The database refuses an operation of pet (foreign key mismatch - "pet" referencing "owner"); such requests get 503',
        ])
        await service.close()
      })

    if (name === 'sqlite')
      test('triggers that make writes fail', async () => {
        await using database = await open()
        await database.execute(`create table book (id integer primary key, title text);
          create trigger sorted after insert on book begin update book set title = title_sort(new.title) where id = new.id; end;
          create table shelf (id integer primary key, name text, room text, size integer generated always as (length(name)));
          create trigger moved after update of room on shelf begin select room_name(new.room); end;
          create table author (id integer primary key, book integer references lost)`)
        const service = await createService({
          database: database.url,
          attributes: { createdAt: false, updatedAt: false },
          models: {
            book: { attributes: { title: text } },
            shelf: { attributes: { name: text, room: text, size: { type: 'number', readOnly: true } } },
            author: { attributes: { book: { type: 'number', isInteger: true } } },
          },
        })
        assert.deepEqual(service.warnings, [
          'book: SQLite refuses writes of the table "book", because of a trigger: no such function: title_sort',
          'shelf: SQLite refuses writes of the table "shelf", because of a trigger: no such function: room_name',
          'author: SQLite refuses writes of the table "author", because of a foreign key: no such table: main.lost',
        ])
        await service.close()
      })

    if (name === 'sqlite')
      test('times in a column that has no type of the service', async () => {
        await using database = await open()
        await database.execute(`create table pet (id integer primary key, born DATE, seen datetime, made text);
          insert into pet (born, seen) values ('2020-01-02', '2020-01-02 10:00:00')`)
        const start = (columnTypes: boolean) =>
          createService({
            database: database.url,
            attributes: { createdAt: false, updatedAt: false },
            models: {
              pet: {
                attributes: {
                  born: { type: 'datetime', ...(columnTypes && { columnType: 'DATE' }) },
                  seen: { type: 'datetime', ...(columnTypes && { columnType: 'datetime' }) },
                  made: { type: 'datetime' },
                },
              },
            },
          } as never)
        const service = await start(false)
        assert.deepEqual(service.warnings, [
          `pet.born: the column "born" has the type DATE, and times of other programs in it are compared as texts. columnType: 'DATE' compares them as times`,
          `pet.seen: the column "seen" has the type datetime, and times of other programs in it are compared as texts. columnType: 'datetime' compares them as times`,
        ])
        await service.close()
        const declared = await start(true)
        assert.deepEqual(declared.warnings, [])
        const pet = declared.system.records as unknown as { pet: { count(options: object): Promise<number> } }
        for (const where of [{ born: '2020-01-02' }, { seen: '2020-01-02T10:00:00.000Z' }])
          assert.equal(await pet.pet.count({ where }), 1)
        await declared.close()
      })

    test('rows without a key', async () => {
      await using database = await open()
      await database.execute(`create table tag (code text ${name === 'sqlite' ? 'primary key' : 'unique'}, label text);
        create table kind (code text unique, label text);
        insert into tag values ('a', 'A'), (null, 'B'), (null, 'C')`)
      const keyed = { primaryKey: 'code', attributes: { code: { ...text, required: true }, label: text } } as const
      const start = () =>
        createService({
          database: database.url,
          attributes: { createdAt: false, updatedAt: false },
          models: { tag: keyed, kind: keyed },
        })
      await using before = await start()
      const remedy = 'delete from "tag" where "code" is null'
      assert.deepEqual(before.warnings, [
        `tag: the table "tag" contains rows without a value of its key "code": no request reads or changes one of them alone, and pages and live queries may leave them out. Give each a value, or delete them: ${remedy}`,
      ])
      await database.execute(remedy)
      await using after = await start()
      assert.deepEqual(after.warnings, [])
    })

    test('rows without a value of a required attribute', async () => {
      await using database = await open()
      const key = name === 'sqlite' ? 'integer primary key autoincrement' : 'serial primary key'
      await database.execute(`create table owner (id ${key}, name text);
        create table pet (id ${key}, name text, "pet kind" text, code text not null, owner integer references owner);
        insert into owner (name) values ('Ann');
        insert into pet (name, "pet kind", code) values ('Rex', null, 'a'), ('Tom', 'cat', 'b')`)
      const required = { ...text, required: true } as const
      const start = () =>
        createService({
          database: database.url,
          attributes: { createdAt: false, updatedAt: false },
          models: {
            owner: { attributes: { name: required } },
            pet: {
              attributes: {
                name: required,
                kind: { ...required, columnName: 'pet kind' },
                code: required,
                owner: { model: 'owner', required: true },
              },
            },
          },
        })
      const rows =
        'the table "pet" contains rows without a value of this required attribute, which are answered with null'
      await using before = await start()
      assert.deepEqual(before.warnings, [
        `pet.kind: ${rows}. Give each a value: update "pet" set "pet kind" = … where "pet kind" is null`,
        `pet.owner: ${rows}. Give each a value: update "pet" set "owner" = … where "owner" is null`,
      ])
      await before.close()
      await database.execute(`update pet set "pet kind" = 'dog', owner = 1`)
      await using after = await start()
      assert.deepEqual(after.warnings, [])
    })

    test('keys that a number does not hold', async () => {
      await using database = await open()
      await database.execute(`create table post (id bigint primary key, label text); create table kind (id bigint primary key, label text);
        insert into post values (1, 'a'), (9007199254740993, 'b'); insert into kind values (9007199254740991, 'c')`)
      if (name === 'sqlite') await database.execute(`insert into kind values ('text', 'd')`)
      const start = (type: 'number' | 'bigint') => {
        const key = type === 'number' ? { type, isInteger: true } : { type }
        const model = { attributes: { id: { ...key, primaryKey: true, required: true }, label: text } } as const
        return createService({
          database: database.url,
          attributes: { createdAt: false, updatedAt: false },
          models: { post: model, kind: model },
        })
      }
      await using before = await start('number')
      assert.deepEqual(before.warnings, [
        `post: the table "post" contains rows whose key "id" is beyond 2^53, which a number does not hold: no request reads or changes one of them alone, and associations do not find them. Declare the key as { type: 'bigint' }`,
      ])
      await before.close()
      await using after = await start('bigint')
      assert.deepEqual(after.warnings, [])
    })

    test('what an earlier model declared, and the database still demands', async () => {
      await using database = await open()
      const start = (attributes: object, indexes: object = {}) =>
        createService({
          database: database.url,
          models: { owner: { attributes: { name: text } }, vet: {}, pet: { attributes, ...indexes } },
        } as never)
      const before = {
        name: { ...text, required: true },
        code: { ...text, unique: true },
        kind: { ...text, defaultsTo: 'cat' },
        room: text,
        owner: { model: 'owner' },
      }
      const indexes = { indexes: [{ attributes: ['room', 'kind'], unique: true }] }
      for (const given of [before, { ...before, room: { ...text, unique: true } }])
        await (await start(given, indexes)).close()

      const service = await start({ name: text, code: text, kind: text, room: text, owner: { model: 'vet' } })
      const end = name === 'sqlite' ? ' (SQLite 3.53 or newer)' : ''
      const [first, second, third, ...others] = service.warnings
      assert.deepEqual(
        [first, second, third],
        [
          `pet.name: the column "name" of the table "pet" does not accept null, and every record without a value gets 400. Declare required: true or defaultsTo, or allow null: alter table "pet" alter column "name" drop not null${end}`,
          `pet.kind: the column "kind" of the table "pet" does not accept null, and every record without a value gets 400. Declare required: true or defaultsTo, or allow null: alter table "pet" alter column "kind" drop not null${end}`,
          `pet.owner: the database accepts keys of the table "owner" in the column "owner", and the association those of "vet". columnName: 'owner_vet' stores it in another column`,
        ],
      )
      assert.deepEqual(
        others.toSorted(),
        ['code', 'room'].map(
          (column) =>
            `pet: the database refuses equal values of ("${column}"), which the model allows. Declare the unique index, or drop it: drop index "pet_${column}_key"`,
        ),
      )
      await service.close()
    })

    test('a unique constraint of another program, and one that no model declares', async () => {
      await using database = await open()
      const key = name === 'sqlite' ? 'integer primary key autoincrement' : 'serial primary key'
      const types = name === 'sqlite' ? { json: 'json', bytes: 'blob' } : { json: 'jsonb', bytes: 'bytea' }
      await database.execute(
        `create table pet (id ${key}, code varchar(9) unique, data ${types.json} unique, photo ${types.bytes} unique)`,
      )
      const service = await createService({
        database: database.url,
        attributes: { createdAt: false, updatedAt: false },
        models: { pet: { attributes: { code: text, data: { type: 'json' }, photo: { type: 'binary' } } } },
      })
      const [warning = '', ...more] = service.warnings
      await service.close()
      assert.deepEqual(more, [])
      assert.match(
        warning,
        /^pet: the database refuses equal values of \("code"\), which the model allows\. Declare the unique index/,
      )
      const [, statement] = /, or drop it: (.*)$/.exec(warning) ?? []
      assert.equal(statement, name === 'sqlite' ? undefined : 'alter table "pet" drop constraint "pet_code_key"')
      if (statement) await database.execute(statement)
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

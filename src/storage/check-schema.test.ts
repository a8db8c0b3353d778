import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { pets, problemsOf, schemaDatabases, start } from '../../test/support/schema-databases.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../model/definition.ts'

const string = { type: 'string' } as const
const number = { type: 'number' } as const

for (const { name, missing, open } of schemaDatabases) {
  const isSqlite = name === 'sqlite'

  describe(`differences between models and tables on ${name}`, { skip: missing ?? false }, () => {
    test('a column that must have a value and belongs to no attribute', async () => {
      await using database = await open()
      await start(database.url, pets({ name: string, kind: { type: 'string', required: true } }))
      const remedy = `alter table "pet" alter column "kind" drop not null`
      const problem = `pet: the column "kind" of the table "pet" must have a value and belongs to no attribute, so that no record could be created. Declare an attribute with this column (after a renaming: columnName: 'kind'), or allow null: ${remedy}`
      const expected = [isSqlite ? `${problem} (SQLite 3.53 or newer)` : problem]
      assert.deepEqual(await problemsOf(database.url, pets({ name: string })), expected)
      assert.deepEqual(await problemsOf(database.url, pets({ name: string }), 'safe'), expected)
      await database.execute(remedy)
      assert.deepEqual(await problemsOf(database.url, pets({ name: string })), [])
    })

    test('columns that need no value', async () => {
      await using database = await open()
      const more = isSqlite
        ? 'size integer as (length(name)) stored not null'
        : 'size integer not null generated always as (1) stored, number bigint generated always as identity'
      await database.execute(
        `create table pet (id integer primary key, name text, kind text not null default 'cat', weight integer, ${more})`,
      )
      assert.deepEqual(await problemsOf(database.url, pets({ name: string })), [])
    })

    test('a number turned text, with a remedy that works', async () => {
      await using database = await open()
      await start(database.url, pets({ size: number }))
      await database.execute('insert into pet (id, size) values (1, 3)')
      const [problem = '', ...others] = await problemsOf(database.url, pets({ size: string }))
      const type = isSqlite ? 'REAL' : 'double precision'
      assert.match(
        problem,
        RegExp(`^pet.size: the column "size" of the table "pet" has the type ${type}, which cannot hold a string\\.`),
      )
      assert.deepEqual(others, [])
      assert.deepEqual(await problemsOf(database.url, pets({ size: string }), 'safe'), [problem])
      if (isSqlite) {
        assert.match(problem, /with columnName: 'size_text' and migrate: 'add'/)
        const moved = pets({ size: { type: 'string', columnName: 'size_text' } })
        assert.deepEqual(await start(database.url, moved), [
          "added column pet.size_text (column size has no attribute now; if you renamed it, write columnName: 'size')",
        ])
      } else {
        await database.execute(problem.slice(problem.indexOf('alter table')))
        assert.deepEqual(await problemsOf(database.url, pets({ size: string })), [])
      }
    })

    if (!isSqlite)
      test('JSON in columns of other types, with the types that they have', async () => {
        await using database = await open()
        await database.execute(
          'create table pet (id serial primary key, seen timestamptz, born date, photo bytea, age int8, tame bool, at time)',
        )
        const names = ['seen', 'born', 'photo', 'age', 'tame', 'at']
        const problems = await problemsOf(
          database.url,
          pets(Object.fromEntries(names.map((name) => [name, { type: 'ref' }]))),
        )
        assert.deepEqual(
          problems.map(
            (problem) => /which cannot hold JSON. Change the type of the attribute(?: to '(.*)')?,/.exec(problem)?.[1],
          ),
          ['datetime', 'datetime', 'binary', 'number', 'boolean', 'string'],
        )
      })

    if (!isSqlite)
      test('money for a number, with a remedy that works', async () => {
        await using database = await open()
        await database.execute(
          `create table pet (id serial primary key, size money); insert into pet (size) values (1234.5)`,
        )
        const [problem = ''] = await problemsOf(database.url, pets({ size: number }))
        assert.match(problem, /has the type money, which cannot hold a number/)
        await database.execute(problem.slice(problem.indexOf('alter table')))
        assert.deepEqual(await problemsOf(database.url, pets({ size: number })), [])
      })

    test('a declared columnType of text is used as it is', async () => {
      await using database = await open()
      await start(database.url, pets({ size: number }))
      const columnType = isSqlite ? 'real' : 'double precision'
      assert.deepEqual(await problemsOf(database.url, pets({ size: { type: 'string', columnType } })), [])
    })

    test('all problems are reported at once, and nothing is changed', async () => {
      await using database = await open()
      await start(database.url, pets({ kind: { type: 'string', required: true }, size: number, name: string }))
      const wrong: ModelDefinitions = {
        ...pets({ size: string, name: number, added: { type: 'string', index: true } }),
        toy: { attributes: {} },
      }
      const places = (problems: readonly string[]) => problems.map((problem) => problem.slice(0, problem.indexOf(':')))
      assert.deepEqual(places(await problemsOf(database.url, wrong)), ['pet.size', 'pet.name', 'pet'])
      const inSafe = await problemsOf(database.url, wrong, 'safe')
      assert.deepEqual(places(inSafe), ['pet.size', 'pet.name', 'pet.added', 'pet', 'toy'])
      assert.deepEqual(
        [inSafe[2], inSafe[4]],
        [
          `pet.added: the table "pet" has no column "added". Write migrate: 'add' to add it, or columnName where a column has another name, or leave the attribute out`,
          `toy: the database has no table "toy"; migrate: 'add' creates it`,
        ],
      )
      assert.deepEqual(await database.indexes('pet'), [])
    })

    describe('no column is added to a table of another program unless `migrate` is configured', () => {
      const times = {
        createdAt: { type: 'datetime', autoCreatedAt: true },
        updatedAt: { type: 'datetime', autoUpdatedAt: true },
      } as const
      const advice = (pronoun: string, attributes: string) =>
        `Write migrate: 'add' to add ${pronoun}, or columnName where a column has another name, or leave the ${attributes}`

      test('a start that would is refused, and changes nothing', async () => {
        await using database = await open()
        await database.execute(`create table pet (id integer primary key, name text, owner integer, size text);
          create table item (id integer primary key)`)
        const wrong = {
          ...pets({ name: string, owner: { model: 'pet' }, size: number, ...times }),
          item: { attributes: { label: string, kind: string, size: number } },
          fresh: { attributes: { name: string, ...times } },
        }
        const problems = await problemsOf(database.url, wrong, 'not configured')
        assert.match(problems[0] ?? '', /^pet\.size: .* cannot hold a number/)
        assert.deepEqual(problems.slice(1), [
          `pet: the table "pet" has no columns "createdAt" and "updatedAt". ${advice('them', 'attributes out (createdAt: false, updatedAt: false)')}`,
          `item: the table "item" has no columns "label", "kind" and "size". ${advice('them', 'attributes out')}`,
        ])
        await assert.rejects(database.execute('select * from keelson_log'), 'no change log')
        await assert.rejects(database.execute('select * from fresh'), 'no table')
        assert.deepEqual(await database.indexes('pet'), [])
      })

      test('a start that needs none goes on, and later ones add columns', async () => {
        await using database = await open()
        await database.execute(`create table pet (id integer primary key, name text, owner integer)`)
        const served = pets({ name: string, owner: { model: 'pet' } })
        assert.equal((await start(database.url, served, 'not configured')).length, 1, 'the index of the foreign key')
        const steps = await start(
          database.url,
          pets({ name: string, owner: { model: 'pet' }, size: number }),
          'not configured',
        )
        assert.deepEqual(steps, ['added column pet.size'])
      })

      test('a table of an earlier start gets columns, also when it was renamed or made again', async () => {
        await using database = await open()
        const added = ['added column pet.size']
        const models = (tableName: string, attributes: AttributeDefinitions): ModelDefinitions => ({
          pet: { tableName, attributes: { name: string, ...attributes } },
        })
        await start(database.url, models('pet', {}), 'not configured')
        assert.deepEqual(await start(database.url, models('pet', { size: number }), 'not configured'), added)
        await database.execute('alter table pet rename to animal')
        assert.deepEqual(
          await start(database.url, models('animal', { size: number, kind: string }), 'not configured'),
          ['added column animal.kind'],
        )
        await database.execute('drop table animal; create table animal (id integer primary key, name text)')
        assert.deepEqual(await start(database.url, models('animal', { size: number }), 'not configured'), [
          'added column animal.size',
        ])
      })

      test('with it, they are added', async () => {
        await using database = await open()
        await database.execute(`create table pet (id integer primary key, name text)`)
        const steps = await start(database.url, pets({ name: string, size: number }), 'add')
        assert.deepEqual(steps, ['added column pet.size'])
      })
    })

    test('a key that does not name one record', async () => {
      await using database = await open()
      await database.execute(`create table pair (a integer not null, b integer not null, v text, primary key (a, b))`)
      await database.execute(`insert into pair values (1, 1, 'x'), (1, 2, 'y'); create table bare (v text)`)
      const pair: ModelDefinitions = {
        pair: {
          primaryKey: 'a',
          attributes: { a: { type: 'number', isInteger: true, required: true }, b: number, v: string },
        },
      }
      const [problem = '', ...others] = await problemsOf(database.url, pair)
      assert.match(
        problem,
        /^pair: the key column "a" of the table "pair" may have equal values, so that a request for one/,
      )
      assert.deepEqual(others, [])
      assert.deepEqual(await problemsOf(database.url, pair, 'safe'), [problem])
      await database.execute('delete from pair where b = 2')
      await database.execute(problem.slice(problem.indexOf('create unique index')))
      assert.deepEqual(await problemsOf(database.url, pair), [])

      const [added = ''] = await problemsOf(database.url, { bare: { attributes: { v: string } } })
      assert.equal(
        added,
        `bare: the table "bare" has no column "id" for the key, and a start adds none. It has no key: add a column with unique values, or name another table (tableName: '…')`,
      )
      assert.deepEqual(await problemsOf(database.url, { bare: { attributes: { v: string } } }, 'safe'), [added])
    })

    const keyed: readonly (readonly [
      columns: string,
      attributes: ModelDefinitions[string]['attributes'],
      advice: string,
    ])[] = [
      [
        '"No" integer primary key',
        {},
        `unique values of "No": declare an attribute with columnName: 'No' and primaryKey: true`,
      ],
      ['code varchar(9) primary key', { code: string }, `unique values of "code": write primaryKey: 'code'`],
      ['code varchar(9) unique', { code: string }, `unique values of "code": write primaryKey: 'code'`],
      [
        'a integer, b integer, primary key (a, b)',
        {},
        'Its key is "a", "b", and that of a model is one column: add one',
      ],
    ]
    for (const [columns, attributes, advice] of keyed)
      test(`a key that is called otherwise: ${columns}`, async () => {
        await using database = await open()
        await database.execute(`create table bare (${columns})`)
        const [problem = '', ...others] = await problemsOf(database.url, { bare: { attributes } })
        assert.ok(problem.includes(advice), problem)
        assert.deepEqual(others, [])
      })

    if (!isSqlite)
      test('a view without a column of its model, which no start adds', async () => {
        await using database = await open()
        await database.execute(`create table pet (id serial primary key, name text, owner integer);
          create view named as select id, name, owner from pet;
          create materialized view counted as select name, count(*) as pets from pet group by name`)
        const models: ModelDefinitions = {
          named: { attributes: { name: string, kind: string, owner: { model: 'named' } } },
          counted: { attributes: { name: string } },
        }
        const problems = [
          'named.kind: the view "named" has no column "kind"',
          `counted: the view "counted" has no column "id" for the key, and a start adds none. Declare the attribute that names one row (primaryKey: '…'), or name another table (tableName: '…')`,
        ]
        assert.deepEqual(await problemsOf(database.url, models), problems)
        assert.deepEqual(await problemsOf(database.url, models, 'safe'), problems)
        const served = { named: { attributes: { name: string, owner: { model: 'named' } } } }
        assert.deepEqual(await problemsOf(database.url, served), [])
      })

    test('a key of another type', async () => {
      await using database = await open()
      await start(database.url, pets({ name: string }))
      await database.execute(`insert into pet (id, name) values (1, 'Rex')`)
      const uuid = { type: 'string', isUUID: true } as const
      const type = isSqlite ? 'INTEGER' : 'bigint'
      const problem = `pet.id: the column "id" of the table "pet" has the type ${type}, which cannot hold a UUID. A key keeps its type: declare it as it is stored ({ type: 'string', isUUID: true } for a UUID, { type: 'string', required: true } for other texts), or declare the new one as another attribute, or name another table (tableName: '…') and copy the records`
      assert.deepEqual(await problemsOf(database.url, pets({ id: uuid, name: string })), [problem])
      const [moved = ''] = await problemsOf(database.url, pets({ id: { ...uuid, columnName: 'uid' }, name: string }))
      assert.match(moved, /^pet: the table "pet" has no column "uid" for the key/)
      assert.deepEqual(await problemsOf(database.url, pets({ id: { ...uuid, columnType: 'text' }, name: string })), [
        problem,
      ])
    })

    test('JSON turned text, which could store JSON only', async () => {
      await using database = await open()
      await start(database.url, pets({ extra: { type: 'json' } }))
      for (const attribute of [string, { type: 'datetime' }, { type: 'binary' }] as const) {
        const [problem = ''] = await problemsOf(database.url, pets({ extra: attribute }))
        assert.match(
          problem,
          /^pet\.extra: the column "extra" .* has the type (TEXT, checked to be JSON|jsonb), which cannot/,
        )
      }
    })

    test('a number turned a reference', async () => {
      await using database = await open()
      await start(database.url, pets({ owner: number }))
      await database.execute('insert into pet (id, owner) values (1, 4.5), (2, 1)')
      const models = { ...pets({ owner: { model: 'owner' } }), owner: { attributes: { name: string } } } as const
      const problems = await problemsOf(database.url, models)
      if (isSqlite) assert.deepEqual(problems, [])
      else {
        assert.match(problems.join(), /^pet\.owner: .* has the type double precision, which cannot hold an integer\./)
        await database.execute('delete from pet where id = 1')
        await database.execute((problems[0] ?? '').slice((problems[0] ?? '').indexOf('alter table')))
        assert.deepEqual(await problemsOf(database.url, models), [])
      }
    })

    describe('a new table says that it may be an old one, and the declaration that keeps the old one', () => {
      const owner = (name: string, definition: AttributeDefinitions[string]): ModelDefinitions['owner'] => ({
        attributes: { name: string, [name]: definition },
      })
      const shop: ModelDefinitions = {
        owner: owner('pets', { collection: 'pet', via: 'owners' }),
        pet: { attributes: { name: string, size: number, owners: { collection: 'owner', via: 'pets' } } },
      }
      const pairs = { tableName: 'owner_pets__pet_owners', from: 'owner_pets', to: 'pet_owners' }
      const hint = `(table owner_pets__pet_owners has pairs of the same tables and no association now; if you renamed one, write through: { tableName: 'owner_pets__pet_owners', from: '${pairs.from}', to: '${pairs.to}' } in`
      const animals = (through?: typeof pairs): AttributeDefinitions[string] => ({
        collection: 'pet',
        via: 'owners',
        ...(through && { through }),
      })
      const petOf = (via: string): ModelDefinitions['pet'] => ({
        attributes: { name: string, size: number, owners: { collection: 'owner', via } },
      })
      const animal = { attributes: { name: string, owners: { collection: 'owner', via: 'animals' } } } as const

      test('a renamed association', async () => {
        await using database = await open()
        await start(database.url, shop)
        const [created] = await start(database.url, { owner: owner('animals', animals()), pet: petOf('animals') })
        assert.equal(created, `created table owner_animals__pet_owners ${hint} owner.animals)`)
        assert.deepEqual(
          await start(database.url, { owner: owner('animals', animals(pairs)), pet: petOf('animals') }),
          [],
        )
      })

      test('a to-one association that becomes many-to-many, with the statement that copies it', async () => {
        await using database = await open()
        const before = { attributes: { name: string, size: number, owner: { model: 'owner' } } } as const
        await start(database.url, { owner: owner('pets', { collection: 'pet', via: 'owner' }), pet: before })
        const [created = ''] = await start(database.url, shop)
        const statement =
          'insert into "owner_pets__pet_owners" ("pet_owners", "owner_pets") select "id", "owner" from "pet" where "owner" is not null'
        assert.equal(
          created,
          `created table owner_pets__pet_owners (column owner of the table pet has no attribute now; if the association was to-one, copy its pairs: ${statement})`,
        )
        await database.execute(statement)
        assert.deepEqual(await start(database.url, shop), [])
      })

      test('a renamed model, also with other attributes, and its associations', async () => {
        await using database = await open()
        await start(database.url, shop)
        const link = { collection: 'animal', via: 'owners' } as const
        const steps = await start(database.url, { owner: owner('animals', link), animal })
        const tables = steps.filter((step) => step.startsWith('created table'))
        assert.equal(
          tables.find((step) => step.startsWith('created table animal ')),
          "created table animal (table pet has the same columns and no model now; if you renamed the model, write tableName: 'pet')",
        )
        assert.ok(
          tables.some((step) => step.includes(hint)),
          tables.join(),
        )
        const renamed: ModelDefinitions = {
          owner: owner('animals', { ...link, through: pairs }),
          animal: { tableName: 'pet', ...animal },
        }
        assert.deepEqual(await start(database.url, renamed), [])
      })

      test('another model beside the old ones, or with other columns, is new', async () => {
        await using database = await open()
        await start(database.url, shop)
        assert.deepEqual(await start(database.url, { ...shop, vet: { attributes: { name: string } } }), [
          'created table vet',
        ])
        assert.deepEqual(await start(database.url, { toy: { attributes: { maker: string } } }), ['created table toy'])
        assert.deepEqual(await start(database.url, { day: {} }), ['created table day'])
      })
    })

    test('a new column says what existing records lack, and that it may be an old one', async () => {
      await using database = await open()
      await start(database.url, pets({ note: string, kind: string }))
      const required = { type: 'string', required: true } as const
      assert.deepEqual(await start(database.url, pets({ note: string, kind: string, chip: required, size: number })), [
        'added column pet.chip, which is null in existing records',
        'added column pet.size',
      ])
      const filled = { type: 'string', defaultsTo: 'none' } as const
      assert.deepEqual(await start(database.url, pets({ remark: string, filled, kind: string, chip: required })), [
        'added column pet.remark',
        "added column pet.filled (columns note, size have no attribute now; if you renamed one, write its columnName, as columnName: 'note')",
      ])
    })

    test('a column type that the database does not have', {
      skip: isSqlite && 'SQLite accepts every name',
    }, async () => {
      await using database = await open()
      const models = pets({ born: { type: 'datetime', columnType: 'datetime' } })
      assert.deepEqual(await problemsOf(database.url, models), [
        'pet: the table "pet" cannot be created: type "datetime" does not exist',
      ])
      await start(database.url, pets({}))
      assert.deepEqual(await problemsOf(database.url, models), [
        'pet: the column "born" of the table "pet" cannot be created: type "datetime" does not exist',
      ])
    })

    test('a table of pairs in which a pair could be added twice', async () => {
      await using database = await open()
      const key = isSqlite ? 'integer primary key' : 'serial primary key'
      await database.execute(`
        create table pet (id ${key}, name text); create table tag (id ${key}, name text);
        create table pet_tags__tag_pets (id ${key}, pet_tags integer, tag_pets integer);
        insert into pet (name) values ('Rex'); insert into tag (name) values ('old');
        insert into pet_tags__tag_pets (pet_tags, tag_pets) values (1, 1), (1, 1)`)
      const models: ModelDefinitions = {
        pet: { attributes: { name: string, tags: { collection: 'tag', via: 'pets' } } },
        tag: { attributes: { name: string, pets: { collection: 'pet', via: 'tags' } } },
      }
      assert.match(
        (await problemsOf(database.url, models)).join(),
        /^pet_tags__tag_pets: the unique index on \(pet_tags, tag_pets\) cannot be created, because several rows/,
      )
      await database.execute('delete from pet_tags__tag_pets where id = 2')
      const [problem = '', ...others] = await problemsOf(database.url, models, 'safe')
      assert.match(problem, /"pet_tags__tag_pets" may contain a pair of pet_tags and tag_pets twice/)
      assert.deepEqual(others, [])
      assert.deepEqual(
        (await start(database.url, models)).filter((step) => step.includes('unique')),
        ['created unique index on pet_tags__tag_pets (pet_tags, tag_pets)'],
      )
      assert.deepEqual(await start(database.url, models), [])
      assert.deepEqual(await problemsOf(database.url, models, 'safe'), [])
    })

    test('a key for which the database has no value', async () => {
      await using database = await open()
      await database.execute('create table pet (id int unique, name text)')
      assert.match(
        (await problemsOf(database.url, pets({ name: string }))).join(),
        /^pet: the key column "id" .* gets no value/,
      )
      if (isSqlite) {
        await database.execute('drop table pet; create table pet (id integer primary key desc, name text)')
        assert.match((await problemsOf(database.url, pets({ name: string }))).join(), /"id" .* gets no value/)
      }
      const given = { id: { type: 'number', isInteger: true, required: true }, name: string } as const
      assert.deepEqual(await problemsOf(database.url, pets(given)), [])
    })

    test('a column that the database computes', async () => {
      await using database = await open()
      await database.execute(
        `create table pet (id integer primary key${isSqlite ? '' : ' generated by default as identity'}, name text, size integer generated always as (length(name)) stored)`,
      )
      const problem =
        'pet.size: the database computes the column "size" of the table "pet", so that no record could be created. Write readOnly: true'
      assert.deepEqual(await problemsOf(database.url, pets({ name: string, size: number })), [problem])
      assert.deepEqual(await problemsOf(database.url, pets({ name: string, size: { ...number, readOnly: true } })), [])
      assert.deepEqual(await problemsOf(database.url, pets({ name: string })), [])
    })

    test('a view', async () => {
      await using database = await open()
      await database.execute('create view pet as select 1 as id')
      const expected = isSqlite ? ['pet: "pet" is a view; on SQLite only ordinary tables are served'] : []
      assert.deepEqual(await problemsOf(database.url, pets({})), expected)
      assert.deepEqual(await problemsOf(database.url, pets({}), 'safe'), expected)
    })

    test('names in another letter case', async () => {
      await using database = await open()
      await start(database.url, { pet: { attributes: { name: string } } })
      const other = { Pet: { attributes: { name: string } } }
      const column = pets({ Name: string })
      assert.deepEqual(
        [await problemsOf(database.url, other), await problemsOf(database.url, column)],
        [
          [`Pet: the table is named "pet"; write tableName: 'pet'`],
          [`pet.Name: the column is named "name"; write columnName: 'name'`],
        ],
      )
    })
  })
}

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { schemaDatabases, start } from '../../test/support/schema-databases.ts'
import { ConfigError } from '../model/config-error.ts'
import type { IndexDefinition, ModelDefinitions } from '../model/definition.ts'

const visits = (...indexes: readonly IndexDefinition[]): ModelDefinitions => ({
  visit: {
    attributes: {
      day: { type: 'string', required: true },
      state: { type: 'string', columnName: 'the state' },
      slot: { type: 'number', isInteger: true },
      isPaid: { type: 'boolean' },
    },
    indexes,
  },
})
const withIndex: ModelDefinitions = { visit: { attributes: { state: { type: 'string', index: true } } } }

const table = 'create table visit (id integer primary key, day text not null, "the state" text, slot bigint, "isPaid" '

for (const { name, missing, open } of schemaDatabases) {
  const isSqlite = name === 'sqlite'
  const existing = `${table}${isSqlite ? 'integer' : 'boolean'})`
  const ascending = (column: string) => (isSqlite ? column : `${column} NULLS FIRST`)

  describe(`declared indexes on ${name}`, { skip: missing ?? false }, () => {
    test('every kind is created once', async () => {
      await using database = await open()
      const models = visits(
        ['state', 'day DESC'],
        ['slot DESC'],
        { attributes: ['day', 'slot'], unique: true },
        { attributes: ['day'], unique: true, where: { state: "it's open", isPaid: { '!=': true } } },
        { attributes: ['slot'], where: { state: null, day: { '!=': null } } },
      )
      assert.deepEqual(await start(database.url, models), [
        'created table visit',
        'created index on visit (the state, day desc)',
        'created index on visit (slot desc)',
        'created unique index on visit (day, slot)',
        'created unique index on visit (day)',
        'created index on visit (slot)',
      ])
      const definitions = (await database.indexes('visit')).map((definition) => definition.replace(/^.* on /i, ''))
      assert.deepEqual(
        definitions.toSorted(),
        (isSqlite
          ? [
              '"visit" ("the state", "day" desc)',
              '"visit" ("slot" desc)',
              '"visit" ("day", "slot")',
              `"visit" ("day") where "the state" = 'it''s open' and "isPaid" <> 1`,
              '"visit" ("slot") where "the state" is null and "day" is not null',
            ]
          : [
              'public.visit USING btree ("the state" NULLS FIRST, day DESC)',
              'public.visit USING btree (slot DESC NULLS LAST)',
              'public.visit USING btree (day, slot NULLS FIRST)',
              `public.visit USING btree (day) WHERE (("the state" = 'it''s open'::text) AND ("isPaid" <> true))`,
              'public.visit USING btree (slot NULLS FIRST) WHERE (("the state" IS NULL) AND (day IS NOT NULL))',
            ]
        ).toSorted(),
      )
      assert.deepEqual(await start(database.url, models), [])
    })

    test('an equal index of another program is used', async () => {
      await using database = await open()
      await database.execute(existing)
      await database.execute(`create index by_state on visit (${ascending('"the state"')}, day desc)`)
      await database.execute(`create unique index by_day on visit (day, ${ascending('slot')})`)
      const models = visits(['state', 'day DESC'], ['state'], { attributes: ['day', 'slot'], unique: true })
      assert.deepEqual(await start(database.url, models), [])
    })

    for (const [what, statement] of [
      ['another direction', `create index other on visit (${ascending('"the state"')}, day)`],
      ['another order', `create index other on visit (day, ${ascending('"the state"')})`],
      ['fewer columns', `create index other on visit (${ascending('"the state"')})`],
      ['fewer rows', `create index other on visit (${ascending('"the state"')}, day desc) where day > 'a'`],
      ['an expression', `create index other on visit (lower("the state"), day desc)`],
      ...(isSqlite
        ? [['another collation', 'create index other on visit ("the state" collate nocase, day desc)'] as const]
        : [
            ['another position of nulls', 'create index other on visit ("the state", day desc)'] as const,
            [
              'another collation',
              'create index other on visit ("the state" collate "C" nulls first, day desc)',
            ] as const,
            [
              'another operator class',
              'create index other on visit ("the state" text_pattern_ops nulls first, day desc)',
            ] as const,
          ]),
    ] as const) {
      test(`an existing index with ${what} is another index`, async () => {
        await using database = await open()
        await database.execute(existing)
        await database.execute(statement)
        assert.deepEqual(await start(database.url, visits(['state', 'day DESC'])), [
          'created index on visit (the state, day desc)',
        ])
      })
    }

    test('an index that is unique among some rows does not make a column unique', async () => {
      await using database = await open()
      await database.execute(existing)
      await database.execute(`create unique index other on visit (day) where slot > 0`)
      const unique = { attributes: ['day'], unique: true } as const
      assert.deepEqual(await start(database.url, visits(unique)), ['created unique index on visit (day)'])
    })

    test('a changed definition is created beside the old one', async () => {
      await using database = await open()
      await start(database.url, visits(['day']))
      await start(database.url, visits(['day DESC']))
      await start(database.url, visits({ attributes: ['day'], where: { slot: 1 } }))
      await start(database.url, visits({ attributes: ['day'], where: { slot: 2 } }))
      assert.equal((await database.indexes('visit')).length, 4)
    })

    test('names are within the limit of PostgreSQL, also of columns with long names', async () => {
      await using database = await open()
      const long = 'ü'.repeat(30)
      const attributes = {
        one: { type: 'string', columnName: `${long}1`, index: true },
        two: { type: 'string', columnName: `${long}2`, index: true },
      } as const
      assert.equal((await start(database.url, { visit: { attributes } })).length, 3)
      assert.deepEqual(await start(database.url, { visit: { attributes } }), [])
    })

    test('migrate: safe creates none', async () => {
      await using database = await open()
      await database.execute('create table visit (id integer primary key, state text)')
      assert.deepEqual(await start(database.url, withIndex, 'safe'), [])
      assert.deepEqual(await database.indexes('visit'), [])
      assert.deepEqual(await start(database.url, withIndex), ['created index on visit (state)'])
    })

    test('the statement that lists what violates a partial index lists its rows only', async () => {
      await using database = await open()
      await database.execute(existing)
      await database.execute(
        `insert into visit (id, day, slot) values (1, 'a', 1), (2, 'a', 1), (3, 'b', 2), (4, 'b', 2)`,
      )
      const models = visits({ attributes: ['day'], unique: true, where: { slot: 1 } })
      await assert.rejects(start(database.url, models), (error) => {
        assert.ok(error instanceof ConfigError)
        const [problem = ''] = error.problems
        assert.match(problem, /^visit: the unique index on \(day\) where .*"slot".* = '?1'? cannot be created/)
        assert.match(
          problem,
          /select "day", count\(\*\) from "visit" where .*"slot".* = '?1'? group by "day" having count/,
        )
        return true
      })
      await database.execute(`delete from visit where id = 1`)
      assert.equal((await start(database.url, models)).length, 1)
    })

    test('a start with rows that violate a unique index is refused and changes nothing', async () => {
      await using database = await open()
      await database.execute(existing)
      await database.execute(`insert into visit (id, day, slot) values (1, 'a', 1), (2, 'a', 1)`)
      const models = visits(['state'], { attributes: ['day', 'slot'], unique: true })
      let listing = ''
      await assert.rejects(start(database.url, models), (error) => {
        assert.ok(error instanceof ConfigError)
        const [problem = ''] = error.problems
        assert.match(problem, /^visit: the unique index on \(day, slot\) cannot be created/)
        listing = problem.slice(problem.indexOf('select '))
        return true
      })
      assert.equal(listing, 'select "day", "slot", count(*) from "visit" group by "day", "slot" having count(*) > 1')
      await database.execute(listing)
      assert.deepEqual(await database.indexes('visit'), [])
    })
  })
}

import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { describe, test } from 'node:test'
import { matchAll } from '../../criteria/criteria.ts'
import { parseSort } from '../../criteria/parse-sort.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import { textOf } from '../../sql/sql.ts'
import { defaultLimits } from '../../support/limits.ts'
import { SelectLists } from '../select-lists.ts'
import { relatedKeys, SqlSelects } from '../sql-selects.ts'
import { sqliteDialect } from './dialect.ts'

const pet = defineModels({
  pet: {
    attributes: {
      name: { type: 'string', required: true },
      age: { type: 'number', allowNull: true },
      weight: { type: 'number', required: true },
    },
  },
}).get('pet') as Model

describe('the page after a position seeks in an index and does not sort', () => {
  const cases: readonly (readonly [sort: string, after: readonly unknown[], searches: number])[] = [
    ['age ASC', [3, 7], 2],
    ['age ASC', [null, 7], 2],
    ['age DESC', [3, 7], 3],
    ['weight DESC', [3, 7], 2],
    ['age ASC, weight ASC', [3, 2, 7], 3],
    ['id DESC', [7], 1],
  ]
  const database = new DatabaseSync(':memory:')
  database.exec(`create table pet (id integer primary key, name text, age real, weight real, "createdAt" integer, "updatedAt" integer);
    create index youngest on pet (age, id); create index oldest on pet (age desc, id);
    create index heaviest on pet (weight desc, id); create index youngest_lightest on pet (age, weight, id)`)
  database.function('keelson_guard', () => 1)
  const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))

  for (const [sorted, after, searches] of cases) {
    test(`${sorted}, after ${JSON.stringify(after)}`, () => {
      // As a client may ask: not all that it is sorted by is selected.
      const select = [pet.primaryKey, pet.attributes.get('name') ?? assert.fail()]
      const criteria = {
        where: matchAll,
        sort: parseSort(sorted, pet, defaultLimits),
        limit: 30,
        skip: 0,
        select,
        after,
      }
      const statement = statements.find(pet, criteria, statements.columns(pet, criteria))
      const explained = database.prepare(`explain query plan ${textOf(statement, sqliteDialect.placeholder)}`)
      const plan = explained.all(...(statement.values as SQLInputValue[])).map(({ detail }) => String(detail))
      assert.equal(plan.filter((step) => step.startsWith('SEARCH pet USING')).length, searches, plan.join('\n'))
      assert.deepEqual(
        plan.filter((step) => /SCAN|TEMP/.test(step)),
        [],
      )
    })
  }
})

test('a sort can be stopped before each fourth row; a page in the order of the key reads no more rows than it has', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(`create table pet (id integer primary key, name text, age real, weight real, "createdAt" integer, "updatedAt" integer);
    insert into pet (name) select 'Rex' from json_each('[${'1,'.repeat(39)}1]')`)
  let looks = 0
  database.function('keelson_guard', () => ++looks)
  const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
  for (const [sorted, where, expected] of [
    ['name', {}, 10],
    ['name', { name: { '!=': 'Max' } }, 10],
    ['id', {}, 0],
    ['id', { name: 'Rex' }, 1],
  ] as const) {
    const criteria = {
      where: parseWhere(where, pet, defaultLimits),
      sort: parseSort(sorted, pet, defaultLimits),
      limit: 30,
      skip: 0,
      select: [pet.primaryKey],
    }
    looks = 0
    const statement = statements.find(pet, criteria, statements.columns(pet, criteria))
    const found = database
      .prepare(textOf(statement, sqliteDialect.placeholder))
      .all(...(statement.values as SQLInputValue[]))
    assert.deepEqual([found.length, looks], [31, expected], `${sorted} ${JSON.stringify(where)}`)
  }
})

describe('a filter can be stopped after a few rows, whatever keys they have', () => {
  const rows = 20_000
  for (const step of [1, 2, 16, 17, 1000, 2 ** 22])
    test(`each ${step} more than the one before`, () => {
      const database = new DatabaseSync(':memory:')
      database.exec(`create table pet (id integer primary key, name text, age real, weight real, "createdAt" integer, "updatedAt" integer);
        insert into pet (id, name) select 1 + ${step} * key, 'Rex' from json_each('[${'1,'.repeat(rows - 1)}1]')`)
      let looks = 0
      database.function('keelson_guard', () => ++looks)
      const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
      const statement = statements.count(pet, parseWhere({ name: 'Max' }, pet, defaultLimits))
      database.prepare(textOf(statement, sqliteDialect.placeholder)).all(...(statement.values as SQLInputValue[]))
      assert.ok(looks > rows / 32 && looks < rows / 8, `${looks} looks`)
    })
})

test('a sort of embedded records can be stopped before each fourth of them', () => {
  const models = defineModels({
    owner: { attributes: { pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
  })
  const [owner, target] = [models.get('owner') as Model, models.get('pet') as Model]
  const association = owner.associations.get('pets') ?? assert.fail()
  const database = new DatabaseSync(':memory:')
  database.exec(`create table pet (id integer primary key, name text, owner integer, "createdAt" integer, "updatedAt" integer);
    insert into pet (name, owner) select 'Rex', 1 from json_each('[${'1,'.repeat(39)}1]')`)
  let looks = 0
  database.function('keelson_guard', () => ++looks)
  const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
  for (const [sorted, expected] of [
    ['name', 10 + 7],
    ['id', 1],
  ] as const) {
    const select = [target.primaryKey]
    const criteria = { where: matchAll, sort: parseSort(sorted, target, defaultLimits), limit: 30, skip: 0, select }
    const statement = statements.related(association, criteria)
    const keys = statements.boundKeys(association, [1]) as SQLInputValue
    const values = statement.values.map((value) => (value === relatedKeys ? keys : value)) as SQLInputValue[]
    looks = 0
    const found = database.prepare(textOf(statement, sqliteDialect.placeholder)).all(...values)
    assert.deepEqual([found.length, looks], [30, expected], sorted)
  }
})

test('small limits are literals, as are those that no request chooses; others are bound', () => {
  const written = (limit: number, skip: number, isFixed = false) => {
    const page = sqliteDialect.page(limit, skip, isFixed)
    return [textOf(page, sqliteDialect.placeholder), ...page.values]
  }
  assert.deepEqual(written(31, 0), [' limit 31'])
  assert.deepEqual(written(31, 60), [' limit 31 offset ?', 60])
  assert.deepEqual(written(1001, 60), [' limit ? offset ?', 1001, 60])
  assert.deepEqual(written(50_001, 0, true), [' limit 50001'])
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseSort } from '../../criteria/parse-sort.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { type Sql, textOf } from '../../sql/sql.ts'
import { defaultLimits } from '../../support/limits.ts'
import { SelectLists } from '../select-lists.ts'
import { SqlSelects } from '../sql-selects.ts'
import { sqliteDialect } from './dialect.ts'

const models = defineModels({
  place: {
    attributes: {
      name: { type: 'string' },
      parent: { model: 'place' },
      children: { collection: 'place', via: 'parent' },
      roads: { collection: 'place', via: 'origins' },
      origins: { collection: 'place', via: 'roads' },
    },
  },
})
const place = models.get('place') as Model
const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
const named = { name: 'Rome' }

/*
 * Each select of a statement, also one that narrows another to what a few records refer to, may read any number of rows: one of
 * a few records has 100,000 children.
 */
describe('each select over a table can be stopped', () => {
  const wheres: readonly JsonObject[] = [
    { parent: { parent: named } },
    { children: { children: named } },
    { id: 1, children: { children: named } },
    { id: [1, 2], children: { children: { children: named } } },
    { id: [1, 2], not: { parent: { children: { parent: named } } } },
    { id: [1, 2], roads: { roads: named } },
    { id: [1, 2], or: [named, { roads: { origins: { children: named } } }] },
  ]
  const assertGuarded = (statement: Sql) => {
    const text = textOf(statement, sqliteDialect.placeholder)
    assert.ok(text.split('keelson_guard()').length >= text.split(' from "').length, text)
  }
  for (const given of wheres)
    test(JSON.stringify(given), () => {
      const where = parseWhere(given, place, defaultLimits)
      const sort = parseSort('name', place, defaultLimits)
      const criteria = { where, sort, limit: 30, skip: 0, select: [place.primaryKey] }
      assertGuarded(statements.find(place, criteria, statements.columns(place, criteria)))
      assertGuarded(statements.count(place, where))
      assertGuarded(statements.keys(place, where, 30))
      assertGuarded(statements.sizeUpTo(place, where, 30))
      for (const name of ['parent', 'children', 'roads'])
        assertGuarded(statements.related(place.associations.get(name) ?? assert.fail(), criteria))
    })
})

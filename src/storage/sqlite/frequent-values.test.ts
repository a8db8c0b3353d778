import assert from 'node:assert/strict'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { describe, test } from 'node:test'
import { orderByPrimaryKey } from '../../criteria/criteria.ts'
import { parseWhere } from '../../criteria/parse-where.ts'
import { defineModels } from '../../model/define.ts'
import type { Model } from '../../model/model.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { textOf } from '../../sql/sql.ts'
import { defaultLimits } from '../../support/limits.ts'
import { SelectLists } from '../select-lists.ts'
import { relatedKeys, SqlSelects } from '../sql-selects.ts'
import { sqliteDialect } from './dialect.ts'

const models = defineModels({
  list: {
    attributes: {
      tasks: { collection: 'task', via: 'list' },
      shared: { collection: 'task', via: 'lists' },
    },
  },
  task: {
    attributes: {
      state: { type: 'string' },
      isDone: { type: 'boolean' },
      list: { model: 'list' },
      lists: { collection: 'list', via: 'shared' },
    },
  },
})
const [list, task] = [models.get('list') as Model, models.get('task') as Model]
const indexes = `create index task_list on task (list, id); create index task_state on task (state);
  create index task_is_done on task (isDone)`

/* Most tasks may be done, which a database without statistics does not know. Each list has a few of them. */
describe('members are found by the record that they belong to, whatever else they are filtered by', () => {
  const byList = /SEARCH task USING INDEX task_list \(list=\?\)/
  const byKey = /SEARCH task USING INTEGER PRIMARY KEY \(rowid=\?\)/
  for (const [name, where, more, expected] of [
    ['tasks', { isDone: true }, '', byList],
    ['tasks', { isDone: true, state: 'open' }, '', byList],
    ['tasks', { state: ['open', 'new'] }, '', byList],
    ['tasks', { or: [{ isDone: true }, { state: 'open' }] }, '', byList],
    ['tasks', { isDone: null }, '', byList],
    ['shared', { isDone: true }, '', byKey],
    ['shared', { isDone: true, state: 'open' }, '', byKey],
    ['tasks', { isDone: true }, 'create index both on task (list, isDone)', /INDEX both \(list=\? AND isDone=\?\)/],
  ] as readonly (readonly [string, JsonObject, string, RegExp])[])
    test(`${name} ${JSON.stringify(where)} ${more}`, () => {
      const database = new DatabaseSync(':memory:')
      database.exec(`create table task (id integer primary key, state text, isDone integer, list integer, "createdAt" text, "updatedAt" text);
        create table list_shared__task_lists (list_shared integer, task_lists integer, primary key (list_shared, task_lists));
        ${indexes}; ${more}`)
      database.function('keelson_guard', () => 1)
      const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
      const association = list.associations.get(name) ?? assert.fail()
      const statement = statements.related(association, {
        where: parseWhere(where, task, defaultLimits),
        sort: orderByPrimaryKey(task),
        limit: 30,
        skip: 0,
        select: [task.primaryKey],
      })
      const explained = database.prepare(`explain query plan ${textOf(statement, sqliteDialect.placeholder)}`)
      const values = statement.values.map((value) => (value === relatedKeys ? '[1]' : value)) as SQLInputValue[]
      const plan = explained.all(...values).map(({ detail }) => String(detail))
      const found = plan.filter((step) => step.startsWith('SEARCH task USING')).slice(1)
      assert.match(String(found[0]), expected, plan.join('\n'))
    })
})

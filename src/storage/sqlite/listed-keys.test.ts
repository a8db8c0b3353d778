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
import { SqlSelects } from '../sql-selects.ts'
import { sqliteDialect } from './dialect.ts'

const models = defineModels({
  user: { attributes: { email: { type: 'string', unique: true } } },
  task: {
    primaryKey: 'code',
    attributes: {
      code: { type: 'string', required: true },
      state: { type: 'string', index: true },
      rank: { type: 'number', isInteger: true },
      owner: { model: 'user' },
    },
    indexes: [['state', 'rank']],
  },
})
const task = models.get('task') as Model
const codes = ['a', 'b', 'c']

/* All tasks may have one state, which a database without statistics does not know. */
describe('records with listed keys are looked up by these, whatever else they are filtered by', () => {
  const database = new DatabaseSync(':memory:')
  database.exec(`create table user (id integer primary key, email text unique);
    create table task (code text primary key, state text, rank integer, owner integer, "createdAt" text, "updatedAt" text);
    create index task_state on task (state); create index task_state_rank on task (state, rank);
    create index task_owner on task (owner, code)`)
  database.function('keelson_guard', () => 1)
  const statements = new SqlSelects(sqliteDialect, new SelectLists(sqliteDialect, () => true))
  const wheres: readonly JsonObject[] = [
    { code: codes, state: 'open' },
    { state: 'open', code: codes },
    { code: codes, state: 'open', rank: { '>': 3 } },
    { and: [{ state: 'open' }, { rank: 3, code: codes }] },
    { code: codes, or: [{ state: 'open' }, { rank: 3, state: 'closed' }] },
    { code: codes, owner: { email: 'ann@example.com' } },
  ]
  for (const given of wheres)
    test(JSON.stringify(given), () => {
      const where = parseWhere(given, task, defaultLimits)
      const criteria = { where, sort: orderByPrimaryKey(task), limit: 30, skip: 0, select: [task.primaryKey] }
      const statement = statements.find(task, criteria, statements.columns(task, criteria))
      const explained = database.prepare(`explain query plan ${textOf(statement, sqliteDialect.placeholder)}`)
      const plan = explained.all(...(statement.values as SQLInputValue[])).map(({ detail }) => String(detail))
      assert.match(String(plan[0]), /^SEARCH task USING .*INDEX sqlite_autoindex_task_1 \(code=\?\)$/, plan.join('\n'))
    })
})

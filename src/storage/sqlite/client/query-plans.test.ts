import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Access, Statement } from '../../driver.ts'
import { Connection } from './connection.ts'
import { QueryPlans } from './query-plans.ts'

/* The cost class of a statement. */

const statement = (text: string, access: Access = 'filter'): Statement => ({ text, values: [], access })

const searching = (times: number) => `select * from pet where id = ?${' and instr(name, ?) > 0'.repeat(times)}`

const cases: readonly (readonly [text: string, access: Access, costClass: 'indexed' | 'scan'])[] = [
  ['select * from pet order by id limit 31', 'page', 'indexed'],
  ['select * from pet order by id desc limit 31', 'page', 'indexed'],
  ['select * from pet order by name limit 31', 'page', 'scan'],
  ['select * from pet order by kind desc, id limit 31', 'page', 'indexed'],
  ['select * from pet order by kind, name, id limit 31', 'page', 'scan'],
  ['select distinct owner from pet order by kind desc, id limit 31', 'page', 'scan'],
  ['select * from pet where name = ? limit 31', 'filter', 'scan'],
  ['select * from pet where id > ? order by id limit 31', 'filter', 'indexed'],
  ['select * from pet where owner = ? order by id limit 31', 'filter', 'indexed'],
  ['select * from pet where owner = ? or name = ? limit 31', 'filter', 'scan'],
  ['select * from pet where owner in (select id from owner where name = ?)', 'filter', 'indexed'],
  ['select * from owner where id in (select owner from pet where name = ?)', 'filter', 'scan'],
  ['select * from owner where name = ?', 'filter', 'indexed'],
  ['select count(*) from pet', 'filter', 'scan'],
  ['select * from json_each(?) p cross join pet on pet.id = p.value', 'filter', 'indexed'],
  ['select * from pet a, pet b where a.name = b.name limit 1', 'filter', 'scan'],
  [searching(8), 'filter', 'indexed'],
  [searching(9), 'filter', 'scan'],
]
const connection = new Connection(':memory:', { readOnly: false })
connection.exec(`create table pet (id integer primary key, name text, kind text, owner integer);
  create index pet_owner on pet (owner, id); create index pet_kind on pet (kind); create table owner (id integer primary key, name text);
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into pet select i, 'Pet ' || i, 'dog', 1 from n`)
const plans = new QueryPlans(connection, () => {})
for (const [text, access, costClass] of cases) {
  test(`${text}: ${costClass}`, () => assert.equal(plans.of(statement(text, access)).costClass, costClass))
}

test('a scan is observed once, with the tables that are scanned', () => {
  const observed: unknown[] = []
  const observing = new QueryPlans(connection, (scan) => observed.push(scan))
  const text = 'select * from pet where name = ?'
  for (let times = 0; times < 3; times++) observing.of(statement(text))
  assert.deepEqual(observed, [{ text, shape: undefined, tables: ['pet'] }])
})

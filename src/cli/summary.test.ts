import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { duration, summarize } from './summary.ts'

describe('what was done to a schema is said in a line', () => {
  const tables = (count: number) => Array.from({ length: count }, (_, index) => `created table t${index}`)
  const cases: readonly (readonly [steps: readonly string[], line: string])[] = [
    [[], ''],
    [['added column pet.weight'], 'added column pet.weight'],
    [['created table pet', 'created index on pet (owner, id)'], 'created table pet, created index on pet (owner, id)'],
    [tables(4), 'created 4 tables'],
    [
      [...tables(3), 'created index on t1 (a)', 'created unique index on t1 (b)', 'linked t1.a to t2'],
      'created 3 tables, 2 indexes and 1 foreign key',
    ],
    [
      [...tables(4), 'added column pet.weight', 'dropped table cat'],
      'created 4 tables, added column pet.weight, dropped table cat',
    ],
    [['a', 'b', 'c', 'd', 'e'], 'a, b, 3 more'],
  ]
  for (const [steps, line] of cases) test(line || 'nothing', () => assert.equal(summarize(steps), line))
})

test('a time is said as one reads it', () => {
  assert.deepEqual([3.4, 999, 1000, 1260, 61_000].map(duration), ['3 ms', '999 ms', '1.0 s', '1.3 s', '61.0 s'])
})

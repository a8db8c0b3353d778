import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SchemaStep } from '../storage/schema-step.ts'
import { duration, summarize } from './summary.ts'

describe('schema changes are summarized in one line', () => {
  const created = (table: string): SchemaStep => ({ kind: 'createTable', table })
  const tables = (count: number) => Array.from({ length: count }, (_, index) => created(`t${index}`))
  const index = (table: string, unique: boolean, ...columns: readonly string[]): SchemaStep => ({
    kind: 'createIndex',
    table,
    columns,
    unique,
  })
  const weight: SchemaStep = { kind: 'addColumn', table: 'pet', column: 'weight' }
  const key: SchemaStep = { kind: 'addForeignKey', table: 't1', column: 'a', target: 't2' }
  const captured = ['a', 'b', 'c', 'd', 'e'].map((table): SchemaStep => ({ kind: 'captureChanges', table }))
  const cases: readonly (readonly [steps: readonly SchemaStep[], line: string])[] = [
    [[], ''],
    [[weight], 'added column pet.weight'],
    [[created('pet'), index('pet', false, 'owner', 'id')], 'created table pet, created index on pet (owner, id)'],
    [[key, index('t1', true, 'b desc')], 'linked t1.a to t2, created unique index on t1 (b desc)'],
    [
      [{ kind: 'createLog', schema: 'public' }, { kind: 'restartLog' }],
      'created the change log (public), began a new change log: the database is a copy of another',
    ],
    [tables(4), 'created 4 tables'],
    [
      [...tables(3), { kind: 'createTable', table: 'animal', earlier: { table: 'pet' } }],
      "created 4 tables (animal: table pet has the same columns and no model now; if you renamed the model, write tableName: 'pet')",
    ],
    [
      [...tables(3), index('t1', false, 'a'), index('t1', true, 'b'), key],
      'created 3 tables, 2 indexes and 1 foreign key',
    ],
    [
      [...tables(4), weight, { kind: 'dropTable', table: 'cat' }],
      'created 4 tables, added column pet.weight, dropped table cat',
    ],
    [
      ['customer', 'item', 'invoice'].flatMap((table) => [
        { kind: 'addColumn', table, column: 'createdAt', isNull: true, unused: ['made'] } as const,
        { kind: 'addColumn', table, column: `${table}Note` } as const,
      ]),
      'added column createdAt to customer, item and invoice, which is null in existing records, added column customer.customerNote, added column item.itemNote, added column invoice.invoiceNote',
    ],
    [captured, 'captured changes of a, captured changes of b, 3 more'],
  ]
  for (const [steps, line] of cases) test(line || 'nothing', () => assert.equal(summarize(steps), line))
})

test('a duration has a readable unit', () => {
  assert.deepEqual([3.4, 999, 1000, 1260, 61_000].map(duration), ['3 ms', '999 ms', '1.0 s', '1.3 s', '61.0 s'])
})

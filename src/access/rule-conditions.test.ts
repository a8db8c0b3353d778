import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Condition, matchAll } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { RuleConditions } from './rule-conditions.ts'

const [pet, owner] = [{}, {}] as [Model, Model]
const parsed = (): Condition => ({ ...matchAll })

describe('a condition that a rule returned before', () => {
  const outcomes: readonly object[] = [
    {},
    { a: 1 },
    { a: '1' },
    { a: [1] },
    { a: [1, 2] },
    { a: [12] },
    { a: null },
    { a: 'null' },
    { a: true },
    { a: { b: 1 } },
    { a: 1, b: 1 },
    { b: 1, a: 1 },
    { or: [{ a: 1 }, { b: 2 }] },
    { or: [{ a: 1, b: 2 }] },
    { a: "x',b:1" },
    { "a1'x',b": 1 },
    { a: '', b: 'x' },
    { a: 'x', b: '' },
  ]
  const conditions = new RuleConditions()
  const first = outcomes.map((outcome) => conditions.get(outcome, pet, parsed))

  test('is the same object, for each of the outcomes another one', () => {
    assert.equal(new Set(first).size, outcomes.length)
    for (const [index, outcome] of outcomes.entries())
      assert.equal(conditions.get(structuredClone(outcome), pet, parsed), first[index])
  })

  test('is not that of another model', () => {
    assert.notEqual(conditions.get({ a: 1 }, owner, parsed), first[1])
  })

  for (const [what, outcome] of [
    ['undefined', { a: undefined }],
    ['a date', { a: new Date(0) }],
    ['a function', { a: () => 1 }],
    ['NaN', { a: Number.NaN }],
    ['undefined in a list', { a: [undefined] }],
  ] as const)
    test(`is parsed each time when it contains ${what}`, () => {
      assert.notEqual(conditions.get(outcome, pet, parsed), conditions.get(outcome, pet, parsed))
    })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allowance } from './allowance.ts'

const spendAll = (allowance: Allowance, times: number, nowMs: number): string[] =>
  Array.from({ length: times }, () => allowance.spend(nowMs))

const counted = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))

test('all of it may be spent at once; as much again is too much, and more than that is abuse', () => {
  assert.deepEqual(counted(spendAll(new Allowance(10, 0), 22, 0)), { granted: 10, exhausted: 10, abused: 2 })
})

test('it comes back evenly', () => {
  const allowance = new Allowance(10, 0)
  spendAll(allowance, 10, 0)
  assert.equal(allowance.spend(99), 'exhausted')
  // What was refused is owed too.
  assert.equal(allowance.spend(199), 'exhausted')
  assert.equal(allowance.spend(400), 'granted')
})

test('no more comes back than there was', () => {
  assert.deepEqual(counted(spendAll(new Allowance(10, 0), 11, 3_600_000)), { granted: 10, exhausted: 1 })
})

test('one who keeps to it is never refused', () => {
  const allowance = new Allowance(10, 0)
  const words = Array.from({ length: 1000 }, (_, index) => allowance.spend(index * 100))
  assert.deepEqual(counted(words), { granted: 1000 })
})

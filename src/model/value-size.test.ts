import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../protocol/json.ts'
import { isLarger } from './value-size.ts'

const cases: readonly (readonly [value: Json, bytes: number])[] = [
  ['abc', 3],
  ['é', 2],
  ['€', 3],
  ['🦊', 4],
  ['"', 1],
  [[], 2],
  [{}, 2],
  [['€'], 7],
  [{ '': '' }, 7],
  [['\u0001'], 10],
  [{ a: null, b: [true, -1.5e-300] }, 31],
]
for (const [value, bytes] of cases) {
  test(`${JSON.stringify(value)} has ${bytes} bytes`, () => {
    assert.equal(isLarger(value, bytes - 1), true)
    assert.equal(isLarger(value, bytes), false)
  })
}

test('the estimate is an upper bound', () => {
  fc.assert(
    fc.property(fc.jsonValue() as fc.Arbitrary<Json>, fc.nat(60), (value, limit) => {
      if (typeof value !== 'object' || value === null) return
      assert.equal(isLarger(value, limit), Buffer.byteLength(JSON.stringify(value)) > limit)
    }),
    { numRuns: 1000 },
  )
})

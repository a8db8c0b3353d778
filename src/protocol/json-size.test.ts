import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../support/limits.ts'
import { ServiceError } from './errors.ts'
import { requireBounded } from './json-size.ts'

const limits = { ...defaultLimits, maxJsonDepth: 3, maxJsonValues: 10, maxJsonNames: 3 }

for (const [text, limit] of [
  ['[]', undefined],
  ['[[[1]]]', undefined],
  ['[[[[1]]]]', 'maxJsonDepth'],
  ['[[],[],[[]]]', undefined],
  ['[1,2,3,4,5,6,7,8,9]', undefined],
  ['[1,2,3,4,5,6,7,8,9,10]', 'maxJsonValues'],
  ['{"a":1,"b":2,"c":3}', undefined],
  ['{"a":1,"a":2,"a":3,"a":4,"a":5}', 'maxJsonValues'],
  ['{"a":1,"b":2,"c":3,"d":4}', 'maxJsonNames'],
  ['[{"a":1},{"a":2},{"a":3}]', undefined],
  ['[{"a":1},{"b":2},{"c":3}]', undefined],
  ['{"a":{"b":{"c":1}}}', undefined],
  ['{ "a" : "x", "b" : "y", "c" : "z" }', undefined],
  ['{"a":["v:","w:","x:","y:","z:"]}', undefined],
  [String.raw`{"a\\":1,"a\\\\":2,"a":3,"b":4}`, 'maxJsonNames'],
  ['[[],[],[],[],[],[]]', 'maxJsonValues'],
  ['["[[[[[[,,,,,,,,,,,,,"]', undefined],
  [String.raw`["\"[[[[[[,,,,,,,,,,,,,"]`, undefined],
  [String.raw`["\\",[[[1]]]]`, 'maxJsonDepth'],
  [String.raw`["\\\"[[[["]`, undefined],
  ['["open [[[[', undefined],
] as const) {
  test(`${text}: ${limit ?? 'bounded'}`, () => {
    let refused: unknown
    try {
      requireBounded(text, limits)
    } catch (error) {
      refused = error instanceof ServiceError ? error.details.limit : error
    }
    assert.equal(refused, limit)
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import type { Comparison } from './criteria.ts'
import { inParts, keysIn } from './named-keys.ts'
import { parseWhere } from './parse-where.ts'

const models = defineModels({ pet: { attributes: { name: { type: 'string' } } } })
const pet = models.get('pet') as Model

/** The keys that each part of a condition names. */
const parts = (raw: Json, size: number): readonly Json[] =>
  [...inParts(parseWhere(raw, pet, defaultLimits), size)].map((part) => (keysIn(part) as Comparison).operand as Json)

for (const [name, raw, size, expected] of [
  ['few keys', { id: [3, 1, 2] }, 3, [[3, 1, 2]]],
  ['one key', { id: 4, name: 'Rex' }, 1, [4]],
  ['more keys', { id: [3, 1, 2], name: 'Rex' }, 2, [[3, 1], [2]]],
  ['the list with the fewest keys', { and: [{ id: [1, 2, 3, 4] }, { id: [5, 6] }] }, 1, [[5], [6]]],
  ['keys that are named several times', { id: [1, 1, 2, 1, 2, 3] }, 2, [[1, 2], [3]]],
] as const satisfies readonly (readonly [string, Json, number, readonly Json[]])[]) {
  test(`a condition in parts, with ${name}`, () => assert.deepEqual(parts(raw as unknown as Json, size), expected))
}

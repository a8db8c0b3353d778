import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import type { Json } from '../protocol/json.ts'
import { defaultLimits } from '../support/limits.ts'
import { formatWhere } from './format-where.ts'
import { parseWhere } from './parse-where.ts'

const models = defineModels({
  pet: { attributes: { name: { type: 'string' }, age: { type: 'number' }, owner: { model: 'person' } } },
  person: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
})
const pet = models.get('pet')

const conditions: readonly Json[] = [
  {},
  { name: 'Rex' },
  { name: null },
  { age: { '<': 3 } },
  { age: { in: [1, 2] } },
  { age: { nin: [] } },
  { name: { '!=': null } },
  { name: { startsWith: 'R' } },
  { owner: 3 },
  { owner: { name: 'Ann', pets: { age: 3 } } },
  { or: [{ not: { name: 'Rex' } }, { and: [{ age: 1 }, { name: { like: 'R%' } }] }] },
  { or: [] },
]
for (const where of conditions) {
  test(`${JSON.stringify(where)} is the same condition after it was formatted`, () => {
    assert.ok(pet)
    const condition = parseWhere(where, pet, defaultLimits)
    assert.deepEqual(parseWhere(formatWhere(condition), pet, defaultLimits), condition)
  })
}

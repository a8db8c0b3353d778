import assert from 'node:assert/strict'
import type { Assignment } from '../../src/model/assignment.ts'
import { defineModels } from '../../src/model/define.ts'
import type { AttributeDefinition, AttributeDefinitions } from '../../src/model/definition.ts'
import type { Model } from '../../src/model/model.ts'
import { type Purpose, type ValidationContext, type Values, validate } from '../../src/model/validate.ts'
import { ServiceError } from '../../src/protocol/errors.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { defaultLimits } from '../../src/support/limits.ts'

export const now = '2026-11-21T00:35:03.411Z'
export const nowMs = 1795221303411
export const uuid = '019aa2e5-7c3b-7d4e-9f00-0123456789ab'
export const context: ValidationContext = {
  clock: { now: () => nowMs },
  uuid: () => uuid,
  limits: { ...defaultLimits, maxValueBytes: 100 },
}

export const pets = (attributes: AttributeDefinitions): Model => {
  const pet = defineModels({ pet: { attributes }, owner: {} }).get('pet')
  assert.ok(pet)
  return pet
}

/** A model without shared attributes. */
export const bare = { createdAt: false, updatedAt: false } as const

export const plain = (assignments: readonly Assignment[]): JsonObject =>
  Object.fromEntries(assignments.map(({ attribute, value }) => [attribute.name, value]))

export const run = async (model: Model, values: Values, purpose: Purpose = 'create'): Promise<JsonObject> =>
  plain(await validate(model, values, purpose, context))

/** The violations of `it` as 'rule: message'. */
export async function complaints(definition: AttributeDefinition, values: JsonObject, purpose: Purpose = 'create') {
  try {
    await validate(pets({ ...bare, it: definition }), values, purpose, context)
    return []
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, 'E_INVALID_ATTRIBUTES')
    return error.details.invalidAttributes?.it?.map(({ rule, message }) => `${rule}: ${message}`)
  }
}

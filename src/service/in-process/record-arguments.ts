import { type Association, attributeOf, type Model } from '../../model/model.ts'
import { type OperationName, operationNamed } from '../../operation/operations.ts'
import { namesOf } from '../../operation/parameters.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { hasProperties } from '../../support/has-properties.ts'

export const nothing: JsonObject = Object.freeze({})

export const findOneTakesId = '`findOne` takes an id; for a condition use find({ where, limit: 1 })'

/** `where` is always there: without it, names that are no parameter would be attributes. */
export function listOptions(options: JsonObject = nothing, model: Model): JsonObject {
  assertOptions(options)
  const { where = {}, ...others } = options
  return optionsOf('find', { ...others, where }, model)
}

/** Which records a write is about. Without `where` it is about none. */
export function selectionOf(name: OperationName, options: JsonObject, model: Model): JsonObject {
  assertOptions(options ?? nothing)
  if (options?.where !== undefined && options.where !== null) return optionsOf(name, options, model)
  throw new ServiceError('E_BAD_REQUEST', '"where" says which records: it cannot be left out')
}

/** Throws E_BAD_CRITERIA for an option that the operation does not have: ignored, it would answer more than was asked for. */
export function optionsOf(name: OperationName, options: JsonObject = nothing, model: Model): JsonObject {
  assertOptions(options)
  const known = namesOf(operationNamed(name).parameters)
  const unknown = Object.keys(options).find((option) => !known.has(option))
  if (unknown === undefined) return options
  const hint = known.has('where') && isNamed(unknown, model) ? ': conditions are given in `where`' : ''
  throw new ServiceError('E_BAD_CRITERIA', `There is no option "${unknown}" here${hint}`)
}

/** Without this, a program without types would list every record by `find(5)`. */
export function assertOptions(options: unknown): void {
  if (!hasProperties(options)) throw new ServiceError('E_BAD_CRITERIA', 'The options must be an object')
}

/** Without this, a program without types would create a record without values by `create([])`. */
export function valuesOf(name: OperationName, values: unknown): JsonObject {
  if (hasProperties(values)) return values as JsonObject
  throw new ServiceError('E_BAD_BODY', `\`${name}\` takes an object of attributes`)
}

/** Whether every requester knows an attribute or association of this name. */
function isNamed(name: string, model: Model): boolean {
  const attribute = attributeOf(model, name)
  return attribute ? !attribute.hidden && attribute.access === undefined : model.associations.has(name)
}

/** Whether a record can have the key is decided by the operation, as for a key in an address. */
export function keyOf(id: Json, { name, primaryKey }: Model): string | number {
  if (typeof id === 'string' || typeof id === 'number') return id
  throw new ServiceError('E_BAD_REQUEST', `The id of ${name} is ${primaryKey.type.noun}`, { model: name })
}

export function associationNamed(name: string, model: Model): Association {
  const association = model.associations.get(name)
  if (association) return association
  throw new ServiceError('E_BAD_REQUEST', `${model.name} has no association "${name}"`, { model: model.name })
}

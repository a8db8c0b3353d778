import type { Model } from '../model/model.ts'
import { parseValue } from '../model/parse-value.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ParameterValues } from './operation.ts'
import { parameterValue } from './parameters.ts'

/** A key in the form of the model's. Throws E_BAD_REQUEST when it cannot be one. */
export function parseKey(raw: Json | undefined, model: Model): Json {
  const key = keyOf(raw, model)
  if (key === undefined)
    throw new ServiceError('E_BAD_REQUEST', `The id of ${model.name} is ${model.primaryKey.type.noun}`, {
      model: model.name,
    })
  return key
}

/** As `parseKey`, and undefined when it cannot be one. */
export const keyOf = (raw: Json | undefined, { primaryKey }: Model): Json | undefined =>
  raw === undefined || raw === null || typeof raw === 'object' ? undefined : parseValue(raw, primaryKey)

/**
 * The key of a record that a request refers to. Throws E_NO_SUCH_RECORD for text or a number that no record of the
 * model can have as its key, and E_BAD_REQUEST for other values.
 */
export function existingKey(raw: Json | undefined, model: Model): Json {
  if (typeof raw !== 'string' && typeof raw !== 'number') return parseKey(raw, model)
  const key = model.primaryKey.type.parse(raw)
  if (key === undefined) throw noSuchRecord(model.name)
  return key
}

/** The key that a request gives as a parameter: `id`, whatever the key is called, or its own name. */
export const keyParameter = (parameters: ParameterValues, { primaryKey }: Model): Json | undefined =>
  parameterValue(parameters, { name: 'id' }) ?? parameterValue(parameters, primaryKey)

/** The key of the record that a write concerns: in the path, or a parameter. */
export function requiredKey(parameters: ParameterValues, model: Model): Json {
  const id = parameters.record ?? keyParameter(parameters, model)
  if (id === undefined) {
    const hint = Object.hasOwn(parameters.body, 'where') ? '; "where" belongs in the query string' : ''
    throw missingId(model, `in the path or as "id"${hint}`)
  }
  return existingKey(id, model)
}

export const missingId = (model: Model, place: string): ServiceError =>
  new ServiceError('E_BAD_REQUEST', `Missing ${model.name} id: give it ${place}`, { model: model.name })

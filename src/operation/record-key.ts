import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Parameters } from './operation.ts'
import { parameter } from './operation.ts'

/** A key as somebody gave it, in the form of the model's. Throws E_BAD_REQUEST when it cannot be one. */
export function parseKey(raw: Json | undefined, model: Model): Json {
  const { type } = model.primaryKey
  const key = raw === undefined || raw === null || typeof raw === 'object' ? undefined : type.parse(raw)
  if (key === undefined)
    throw new ServiceError('E_BAD_REQUEST', `The id of a ${model.name} is ${type.noun}`, { model: model.name })
  return key
}

/** The record a write is about: in the path, or else the parameter `id`, whatever the key is called. */
export function requiredKey(parameters: Parameters, model: Model): Json {
  if (parameters.record !== undefined) return parseKey(parameters.record, model)
  const id = parameters.style === 'rest' ? parameter(parameters, 'id') : undefined
  if (id === undefined) {
    const place = parameters.style === 'rest' ? 'in the path, or as "id" in the body' : 'in the path'
    throw new ServiceError('E_BAD_REQUEST', `Say which ${model.name}: its id goes ${place}`, { model: model.name })
  }
  return parseKey(id, model)
}

import { requireShallow } from '../../protocol/body-depth.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/** A body is an object or a list, and no deeper than allowed. */
export function acceptJson(value: Json, limits: Limits): Json {
  if (typeof value !== 'object' || value === null) {
    throw new ServiceError('E_BAD_BODY', 'The body must be a JSON object or a list, not a single value')
  }
  requireShallow(value, limits)
  return value
}

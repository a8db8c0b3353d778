import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/** A body is an object or a list, and no deeper than allowed: whoever walks over it may rely on that. */
export function acceptJson(value: Json, limits: Limits): Json {
  if (typeof value !== 'object' || value === null) {
    throw new ServiceError('E_BAD_BODY', 'The body must be a JSON object or a list, not a single value')
  }
  if (isDeeper(value, limits.maxJsonDepth)) {
    throw new ServiceError('E_BAD_BODY', `The body has more than ${limits.maxJsonDepth} levels of nesting`, {
      limit: 'maxJsonDepth',
    })
  }
  return value
}

/** Goes down no further than `levels`, so that a body cannot exhaust the stack. */
function isDeeper(value: object, levels: number): boolean {
  if (levels === 0) return true
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof member === 'object' && member !== null && isDeeper(member, levels - 1)) return true
  }
  return false
}

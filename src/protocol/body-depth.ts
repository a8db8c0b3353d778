import type { Limits } from '../support/limits.ts'
import { ServiceError } from './errors.ts'
import type { Json } from './json.ts'

/**
 * The value, if it can be a body: an object or a list, nested at most `maxJsonDepth` levels. Otherwise throws E_BAD_BODY. The
 * depth of a long text was checked before it was parsed.
 */
export function requireBody(value: Json, limits: Limits, checksDepth = true): Json {
  if (typeof value !== 'object' || value === null)
    throw new ServiceError('E_BAD_BODY', 'The body must be a JSON object or a list, not a single value')
  if (checksDepth && isDeeper(value, limits.maxJsonDepth)) throw tooDeep(limits)
  return value
}

/** Throws E_BAD_BODY for a body nested deeper than `maxJsonDepth`, so that recursive code is safe. */
export function requireShallow(body: Json, limits: Limits): void {
  if (isDeeper(body, limits.maxJsonDepth)) throw tooDeep(limits)
}

export const tooDeep = ({ maxJsonDepth }: Limits): ServiceError =>
  new ServiceError('E_BAD_BODY', `The body is nested deeper than ${maxJsonDepth} levels`, { limit: 'maxJsonDepth' })

/** Descends at most `levels`, so that a body cannot exhaust the stack. */
function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(member, levels - 1)) return true
  }
  return false
}

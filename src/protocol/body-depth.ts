import type { Limits } from '../support/limits.ts'
import { ServiceError } from './errors.ts'
import type { Json } from './json.ts'

/** Refuses a body that is nested deeper than allowed: whoever walks over it may rely on that. */
export function requireShallow(body: Json, limits: Limits): void {
  if (isDeeper(body, limits.maxJsonDepth)) throw tooDeep(limits)
}

export const tooDeep = ({ maxJsonDepth }: Limits): ServiceError =>
  new ServiceError('E_BAD_BODY', `The body has more than ${maxJsonDepth} levels of nesting`, { limit: 'maxJsonDepth' })

/** Goes down no further than `levels`, so that a body cannot exhaust the stack. */
function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeper(member, levels - 1)) return true
  }
  return false
}

import type { Json } from '../../protocol/json.ts'

/** Looks no further than `levels`, so that what is sent cannot exhaust the stack. */
export function tooDeep(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  return Object.values(value).some((member) => tooDeep(member, levels - 1))
}

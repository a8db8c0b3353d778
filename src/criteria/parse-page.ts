import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'

export interface Page {
  readonly limit: number
  readonly skip: number
}

/** A value above the maximum is refused, not reduced: a client that received fewer records would take them for all. */
export const parsePage = (limit: Json | undefined, skip: Json | undefined, limits: Limits): Page => ({
  limit: limit === undefined ? limits.defaultLimit : whole('limit', limit, limits.maxLimit, 'maxLimit'),
  skip: skip === undefined ? 0 : whole('skip', skip, limits.maxSkip, 'maxSkip'),
})

function whole(name: string, raw: Json, most: number, limit: string): number {
  const isNumeric = typeof raw === 'number' || (typeof raw === 'string' && raw !== '' && raw.trim() === raw)
  const number = isNumeric ? Number(raw) : Number.NaN
  if (!Number.isInteger(number) || number < 0) {
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" must be an integer from 0 to ${most}`)
  }
  if (number > most) throw new ServiceError('E_BAD_CRITERIA', `"${name}" must be at most ${most}`, { limit })
  return number
}

import { tooDeep } from '../../protocol/body-depth.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/**
 * Throws for a body that is longer with the values of its references, or nested deeper, than a body may be: a value may be
 * named any number of times, also in a value that is named itself. Stops at the limit, because all of it may be too long to
 * look at.
 */
export function requireBoundedValues(body: Json, limits: Limits): void {
  let left = limits.maxBodyBytes
  const count = (bytes: number): void => {
    left -= bytes
    if (left < 0) throw tooLarge(limits)
  }
  const visit = (value: Json, levels: number): void => {
    count(typeof value === 'string' ? value.length : 1)
    if (typeof value !== 'object' || value === null) return
    if (levels === 0) throw tooDeep(limits)
    if (Array.isArray(value)) {
      for (const item of value) visit(item, levels - 1)
      return
    }
    for (const [name, member] of Object.entries(value as JsonObject)) {
      count(name.length)
      visit(member, levels - 1)
    }
  }
  visit(body, limits.maxJsonDepth)
}

const tooLarge = ({ maxBodyBytes }: Limits): ServiceError =>
  new ServiceError(
    'E_BODY_TOO_LARGE',
    `With the values that it refers to, the body is larger than ${maxBodyBytes} bytes`,
    {
      limit: 'maxBodyBytes',
    },
  )

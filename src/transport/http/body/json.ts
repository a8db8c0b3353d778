import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import type { Limits } from '../../../support/limits.ts'
import type { BodyFormat } from '../body-format.ts'
import { findJsonError } from './json-error.ts'

export const json: BodyFormat = {
  name: 'application/json',
  accepts: (type) => type === 'application/json' || type === 'text/json' || type.endsWith('+json'),
  parse(text, limits) {
    let value: Json
    try {
      value = JSON.parse(text)
    } catch {
      throw notJson(text)
    }
    return acceptJson(value, limits)
  },
}

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

function notJson(text: string): ServiceError {
  const at = findJsonError(text)
  const before = text.slice(0, at).split('\n')
  const place = `at position ${at} (line ${before.length}, column ${(before.at(-1) as string).length + 1})`
  const [found] = text.slice(at, at + 2)
  return new ServiceError(
    'E_BAD_BODY',
    found === undefined
      ? `The body is not valid JSON: it ends too early, ${place}`
      : `The body is not valid JSON: unexpected ${JSON.stringify(found)} ${place}`,
  )
}

import { requireBody } from '../../../protocol/body-depth.ts'
import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import { checkedLength, requireBounded } from '../../../protocol/json-size.ts'
import type { BodyFormat } from '../body-format.ts'
import { findJsonError } from './json-error.ts'

export const json: BodyFormat = {
  name: 'application/json',
  accepts: (type) => type === 'application/json' || type === 'text/json' || type.endsWith('+json'),
  parse(text, limits) {
    const isLong = text.length > checkedLength
    if (isLong) requireBounded(text, limits)
    let value: Json
    try {
      value = JSON.parse(text)
    } catch {
      throw invalidJson(text)
    }
    return requireBody(value, limits, !isLong)
  },
}

function invalidJson(text: string): ServiceError {
  const at = findJsonError(text)
  const before = text.slice(0, at).split('\n')
  const position = `at position ${at} (line ${before.length}, column ${(before.at(-1) as string).length + 1})`
  const [found] = text.slice(at, at + 2)
  return new ServiceError(
    'E_BAD_BODY',
    found === undefined
      ? `The body is not valid JSON: it ends too early, ${position}`
      : `The body is not valid JSON: unexpected ${JSON.stringify(found)} ${position}`,
  )
}

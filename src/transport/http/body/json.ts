import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import { acceptJson } from '../accept-json.ts'
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

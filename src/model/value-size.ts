import type { Json, JsonObject } from '../protocol/json.ts'

/** Whether a text, or the encoded text of a JSON value, is longer than `maxBytes`. */
export function isLarger(value: Json, maxBytes: number): boolean {
  if (typeof value === 'string') {
    // A UTF-16 unit takes at most three bytes, so short texts need no counting.
    return value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes
  }
  return (
    typeof value === 'object' && upperBound(value) > maxBytes && Buffer.byteLength(JSON.stringify(value)) > maxBytes
  )
}

/** An encoded UTF-16 unit takes at most six bytes (`\u0001`), and a number at most 25 characters. */
function upperBound(value: Json): number {
  if (typeof value === 'string') return value.length * 6 + 3
  if (typeof value !== 'object' || value === null) return 26
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) bytes += upperBound(item)
  } else {
    const members = value as JsonObject
    for (const name of Object.keys(members)) bytes += name.length * 6 + 3 + upperBound(members[name] as Json)
  }
  return bytes
}

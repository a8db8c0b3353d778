import type { Json } from '../protocol/json.ts'

/** Whether the value's text, for JSON its encoded text, is longer than this many bytes. */
export function isLarger(value: Json, maxBytes: number): boolean {
  if (typeof value === 'string') {
    // A UTF-16 unit is three bytes at most, so short texts need no counting.
    return value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes
  }
  return typeof value === 'object' && atMost(value) > maxBytes && Buffer.byteLength(JSON.stringify(value)) > maxBytes
}

/** Encoded, a unit is six bytes at most (`\u0001`), and a number has no more than 25 characters. */
function atMost(value: Json): number {
  if (typeof value === 'string') return value.length * 6 + 3
  if (typeof value !== 'object' || value === null) return 26
  let bytes = 2
  if (Array.isArray(value)) {
    for (const item of value) bytes += atMost(item)
  } else {
    for (const [name, member] of Object.entries(value)) bytes += name.length * 6 + 3 + atMost(member)
  }
  return bytes
}

import type { Json } from '../protocol/json.ts'
import { unreachable } from '../support/assert.ts'
import { isoTime } from './iso-time.ts'
import type { Attribute } from './model.ts'

/** A moment in the form in which the attribute keeps it: ISO 8601, or milliseconds where the declaration says number. */
export function stampOf(attribute: Attribute, atMs: number): Json {
  const { storedAs } = attribute.type
  switch (storedAs) {
    case 'timestamp':
    case 'text':
      return isoTime(atMs)
    case 'integer':
    case 'real':
      return atMs
    case 'bigint':
      return String(atMs)
    default:
      return unreachable(storedAs as never)
  }
}

import type { Json } from '../protocol/json.ts'
import type { Attribute } from './model.ts'

/**
 * Converts input to a value of the attribute; undefined: it is none. A key, and a reference to one, is a number or a text: the
 * number type converts `true` to 1, which is the key of another record.
 */
export function parseValue(raw: Json, { type, isPrimaryKey, references }: Attribute): Json | undefined {
  if (typeof raw === 'boolean' && (isPrimaryKey || references) && type.storedAs !== 'boolean') return undefined
  return type.parse(raw)
}

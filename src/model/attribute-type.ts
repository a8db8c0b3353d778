import type { Json } from '../protocol/json.ts'

/** How a value is kept. The list is closed: every dialect spells all of it. */
export const storageClasses = [
  'text',
  'integer',
  'bigint',
  'real',
  'boolean',
  'json',
  'timestamp',
  'uuid',
  'binary',
] as const
export type StorageClass = (typeof storageClasses)[number]

/** What values an attribute holds. To add one: a file in `types/` and a line in `types.ts`. */
export interface AttributeType {
  readonly name: string
  /** For messages: 'a whole number'. */
  readonly noun: string
  readonly storedAs: StorageClass
  /** Sorting makes sense, and so do `<`, `<=`, `>`, `>=` unless it is only true or false. */
  readonly ordered: boolean
  /**
   * The one form in which a value is stored, compared and answered, wherever it came from: a JSON body, a form, a
   * query string. Undefined: it cannot be such a value. Never called with null.
   */
  parse(raw: Json): Json | undefined
}

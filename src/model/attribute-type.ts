import type { Json } from '../protocol/json.ts'

/** How a value is stored. Every dialect implements all of them. */
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

/** A type of attribute values. To add one, add a file in `types/` and a line in `types.ts`. */
export interface AttributeType {
  readonly name: string
  /** For messages: 'an integer'. */
  readonly noun: string
  readonly storedAs: StorageClass
  /** Whether values can be sorted and, except booleans, compared by `<`, `<=`, `>` and `>=`. */
  readonly ordered: boolean
  /**
   * Converts input to the canonical form that is stored, compared and returned, for JSON bodies, forms and query strings
   * alike. Undefined: not a value of this type. Never called with null.
   */
  parse(raw: Json): Json | undefined
}

import type { Json, JsonObject } from '../protocol/json.ts'

/** An object or a list. */
export const isComposite = (value: Json | undefined): value is JsonObject | readonly Json[] =>
  typeof value === 'object' && value !== null

export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

import type { JsonObject } from './json.ts'

export type RecordId = number | string

/** A place in the log of changes. Opaque: only the log that gave it can read it. */
export type Position = string

export const verbs = ['created', 'updated', 'destroyed'] as const
export type Verb = (typeof verbs)[number]

/** One row that changed: who, what, before and after. Rows changed by one operation share its number. */
export interface Change {
  readonly position: Position
  readonly operation: string
  readonly model: string
  readonly verb: Verb
  /** The record's key; for a junction row the list of its keys, in the order of the model's `key`. */
  readonly id: RecordId | readonly RecordId[]
  readonly before?: JsonObject
  readonly after?: JsonObject
  /** When it was written, ISO 8601. */
  readonly at: string
  /** Who caused it, as the request named its origin; absent for writes that named none. */
  readonly origin?: string
}

import type { JsonObject } from './json.ts'

/** The key of a record. A 64-bit key is a string. */
export type RecordId = number | string

/** A position in the change log. Opaque: only the log that issued it can read it. */
export type Position = string

export const verbs = ['created', 'updated', 'destroyed'] as const
export type Verb = (typeof verbs)[number]

/** One changed row, with its values before and after. Rows changed by one operation share `operation`. */
export interface Change {
  /** The position after this change. */
  readonly position: Position
  /** The operation that it belongs to: equal for all changes of one transaction. */
  readonly operation: string
  readonly model: string
  readonly verb: Verb
  /** The record's key; for a junction row the list of its keys, in the order of the model's `key`. */
  readonly id: RecordId | readonly RecordId[]
  /** The values before the change; absent for `created`. */
  readonly before?: JsonObject
  /** The values after the change; absent for `destroyed`. */
  readonly after?: JsonObject
  /** The time of the change, ISO 8601. */
  readonly at: string
  /** The origin that the request named; absent if it named none. */
  readonly origin?: string
  /** The key of the requester that caused it; absent where the service does not tell requesters apart. */
  readonly requester?: string
}

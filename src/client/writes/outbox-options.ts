import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'

/** Where writes are stored, and what happens if they conflict with other changes. */
export interface OutboxOptions {
  /** Keeps the writes beyond the page: `localStorage`, or anything with these two functions. Default: in memory. */
  readonly storage?: OutboxStorage
  /** The name under which the storage keeps the writes; default `keelson`. */
  readonly key?: string
  /**
   * Resolves a conflict: the service refused a write with 409 or 412, or the record has changed since. `theirs` is the stored
   * record, or undefined if it does not exist. Resolves with the values to write instead, or with undefined to drop the write,
   * which then rejects with ConflictError. Default: every such write is dropped.
   */
  readonly onConflict?: (
    mine: ConflictingWrite,
    theirs: JsonObject | undefined,
  ) => JsonObject | undefined | Promise<JsonObject | undefined>
  /** Receives the error of a write that an earlier page stored, whose promise no longer exists. */
  readonly onRefused?: (error: Error, write: ConflictingWrite) => void
}

/** The used part of `Storage`; its functions may return promises. */
export interface OutboxStorage {
  /** The stored text; null or undefined if there is none. */
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>
  /** Stores the text. A promise is awaited. */
  setItem(key: string, value: string): unknown
}

/** A write of the outbox. */
export interface ConflictingWrite {
  readonly kind: 'create' | 'update' | 'destroy'
  /** The name of the model. */
  readonly model: string
  /** The key of the record; for a create whose values contain no key, a temporary one. */
  readonly id: RecordId
  /** The values that are written; empty for a destroy. */
  readonly values: JsonObject
  /** The record as it was displayed when the write was made, if a live query contained it. */
  readonly base?: JsonObject | undefined
}

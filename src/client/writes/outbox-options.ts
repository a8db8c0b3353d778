import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'

/** Where writes are kept, and what happens when they conflict. */
export interface OutboxOptions {
  /** Keeps the writes beyond the page: `localStorage`, or anything with these two functions. Default: in memory. */
  readonly storage?: OutboxStorage
  /** The name under which the storage keeps the writes; default `keelson`. */
  readonly key?: string
  /**
   * Decides about a write that the service refused with 409 or 412, or whose record was changed since. `theirs` is the
   * stored record, undefined when there is none. Resolves with the values to write instead, or with undefined to give
   * the write up, which rejects it with ConflictError. Default: every such write is given up.
   */
  readonly onConflict?: (
    mine: ConflictingWrite,
    theirs: JsonObject | undefined,
  ) => JsonObject | undefined | Promise<JsonObject | undefined>
  /** Receives the refusal of a write that was kept from an earlier page, whose promise no longer exists. */
  readonly onRefused?: (error: Error, write: ConflictingWrite) => void
}

/** The used part of `Storage`; its functions may return promises. */
export interface OutboxStorage {
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>
  setItem(key: string, value: string): unknown
}

/** A write of the outbox. */
export interface ConflictingWrite {
  readonly kind: 'create' | 'update' | 'destroy'
  readonly model: string
  readonly id: RecordId
  readonly values: JsonObject
  /** The record as it was displayed when the write was made, if a live query contained it. */
  readonly base?: JsonObject | undefined
}

import type { Condition, Criteria } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { EncodedJson, JsonObject } from '../protocol/json.ts'
import type { Maybe } from '../support/maybe.ts'
import type { ChangeLog } from './change-log.ts'

/** Rows as the driver gave them: encoded to JSON text for the wire, decoded to objects only for code that asks. */
export interface Records {
  readonly length: number
  ids(): readonly RecordId[]
  /** All of them, as the text of a JSON array. */
  encode(): EncodedJson
  /** The first, as the text of a JSON object. There must be one. */
  encodeFirst(): EncodedJson
  decode(): readonly JsonObject[]
}

export interface Reads {
  find(model: Model, criteria: Criteria): Maybe<Records>
  count(model: Model, where: Condition): Maybe<number>
}

export interface Writes {
  /** Answers the new row. Throws E_INVALID_ATTRIBUTES for a value that is taken, or an association to nobody. */
  insert(model: Model, assignments: readonly Assignment[]): Maybe<Records>
  /** Answers the rows as they are now. */
  update(model: Model, where: Condition, assignments: readonly Assignment[]): Maybe<Records>
  /** Answers the rows as they were. */
  delete(model: Model, where: Condition): Maybe<Records>
}

/** Reads and writes that happen together or not at all. */
export interface Transaction extends Reads, Writes {}

export interface WriteContext {
  /** Who caused it, for the log of changes. */
  readonly origin?: string | undefined
}

/**
 * A database that can do these can be served. A write called on the store itself is a transaction of its own, and is
 * durable when its promise resolves.
 */
export interface Store extends Reads, AsyncDisposable {
  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records>
  update(model: Model, where: Condition, assignments: readonly Assignment[], context?: WriteContext): Promise<Records>
  delete(model: Model, where: Condition, context?: WriteContext): Promise<Records>
  /**
   * `work` may run again from its beginning when the database asks for it, so it has no effects but on the
   * transaction. It waits for nothing but the transaction's own statements.
   */
  transaction<T>(work: (transaction: Transaction) => Maybe<T>, context?: WriteContext): Promise<T>
  readonly changes: ChangeLog
  /** For people: `SQLite 3.53 (data/app.db)`. */
  readonly description: string
}

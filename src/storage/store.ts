import type { Condition, Criteria } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import type { Position } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Maybe } from '../support/maybe.ts'
import type { ChangeLog } from './change-log.ts'

/** Rows as the driver gave them: encoded to JSON text for the wire, decoded to objects only for code that asks. */
export interface Records {
  readonly length: number
  /** One attribute of each. */
  values(attribute: Attribute): readonly Json[]
  /** One of them, as the text of a JSON object. */
  encodeAt(index: number): string
  decode(): readonly JsonObject[]
  /** The same records with more members; one that has the name of an attribute, or of an earlier member, stands in its place. */
  embed(members: readonly Embedded[]): Records
  /** By what the last of a page is sorted, in the database's own values, when there are more behind it. */
  readonly next: readonly unknown[] | undefined
}

/** What records get in addition: the same member of each. */
export interface Embedded {
  readonly name: string
  encode(index: number): string
  decode(index: number): Json
}

/** All of them, as the text of a JSON array. */
export function encodeList(records: Records, from = 0, to = records.length): string {
  if (from === to) return '[]'
  let text = `[${records.encodeAt(from)}`
  for (let index = from + 1; index < to; index++) text += `,${records.encodeAt(index)}`
  return `${text}]`
}

/** Records in groups, one group a key, in the order of the keys. */
export interface Grouped {
  readonly records: Records
  /** Where each group ends. */
  readonly ends: readonly number[]
}

export interface Reads {
  find(model: Model, criteria: Criteria): Maybe<Records>
  count(model: Model, where: Condition): Maybe<number>
  /**
   * The records of an association, a page for each key, in one statement. The keys are those of the records that have
   * the association; for a to-one association the values of its foreign key. None is given twice.
   */
  related(association: Association, keys: readonly Json[], criteria: Criteria): Maybe<Grouped>
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
export interface Transaction extends Reads, Writes {
  /** As `insert`, but a row whose key is there already is left as it is, and nothing is answered. */
  insertMissing(model: Model, assignments: readonly Assignment[]): Maybe<Records>
}

export interface Snapshot<T> {
  readonly value: T
  readonly position: Position
}

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
  /** What `work` reads is of one moment, and the place in the log belongs to it. */
  snapshot<T>(work: (reads: Reads) => Maybe<T>): Maybe<Snapshot<T>>
  readonly changes: ChangeLog
  /** Known to every process that serves this database and to nobody else: cursors are sealed with it. */
  readonly secret: string
  /** For people: `SQLite 3.53 (data/app.db)`. */
  readonly description: string
}

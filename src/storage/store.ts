import type { Condition, Criteria, Selection } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import type { Position } from '../protocol/change.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { ByteBudget } from './byte-budget.ts'
import type { ChangeLog } from './change-log.ts'
import type { EncodedList } from './encoding.ts'
import type { StoredAnswer, StoredAnswers } from './stored-answers.ts'
import type { TableVersions } from './table-versions.ts'
import type { WriteOrigin } from './write-origin.ts'

/** Rows as the driver returned them: encoded to JSON text for responses, decoded to objects only on demand. */
export interface Records {
  readonly length: number
  /** The values of one attribute, one for each record. */
  values(attribute: Attribute): readonly Json[]
  /** One record as the text of a JSON object. Throws E_BAD_CRITERIA when it is longer than `maxBytes`. */
  encodeAt(index: number, maxBytes?: number): string
  /** The same text in pieces, so that a record that embeds many others need not be encoded at once. */
  pieces(index: number, maxBytes?: number): Iterable<string>
  /** The number of these records and of those that are embedded in them. */
  readonly size: number
  decode(): readonly JsonObject[]
  /** One of the records as an object. */
  decodeAt(index: number): JsonObject
  /** Those that are embedded under this name, in all of the records together. */
  embedded(name: string): Records | undefined
  /** The same records with more members. A member replaces an attribute or an earlier member of its name. */
  embed(members: readonly Embedded[]): Records
  /** The list, where another process has encoded it. */
  readonly encoded?: EncodedList | undefined
  /** The sort values of the last record, as the database returned them; undefined when no page follows. */
  readonly next: readonly unknown[] | undefined
}

/** One additional member of each record. */
export interface Embedded {
  readonly name: string
  encode(index: number, maxBytes?: number): string
  /** As `encode`, where many records may be embedded in one. */
  pieces?(index: number, maxBytes?: number): Iterable<string>
  decode(index: number): Json
  /** The number of records that are embedded, in all of them together. */
  readonly size?: number
  /** These records; absent where no others read them. */
  records?(): Records
}

/**
 * The records as the text of a JSON array. Throws E_BAD_CRITERIA as soon as it is longer than `maxBytes`: embedding repeats
 * a record in every record that refers to it, so that a limit on the number of records does not bound the text.
 */
export function encodeList(records: Records, maxBytes?: number, from = 0, to = records.length): string {
  if (from === to) return '[]'
  let text = `[${records.encodeAt(from, maxBytes)}`
  for (let index = from + 1; index < to; index++) {
    text += `,${records.encodeAt(index, maxBytes)}`
    requireLength(text, maxBytes)
  }
  return `${text}]`
}

/** As `encodeList`, in pieces. */
export function* listPieces(records: Records, maxBytes?: number, from = 0, to = records.length): Iterable<string> {
  for (let index = from; index < to; index++) {
    yield index === from ? '[' : ','
    yield* records.pieces(index, maxBytes)
  }
  yield from === to ? '[]' : ']'
}

/** A text has at least as many bytes as characters; `requireBytes` counts exactly. */
export function requireLength(text: string, maxBytes = Number.POSITIVE_INFINITY): void {
  if (text.length > maxBytes) throw answerTooLarge(maxBytes)
}

export function requireBytes(text: string, maxBytes: number): void {
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) throw answerTooLarge(maxBytes)
}

export const answerTooLarge = (maxBytes: number): ServiceError =>
  new ServiceError(
    'E_BAD_CRITERIA',
    `The response is larger than ${maxBytes} bytes: ask for fewer records with limit, or for less of each with select or populate`,
    { limit: 'maxAnswerBytes' },
  )

/** Records in groups, one group for each key, in the order of the keys. */
export interface Grouped {
  readonly records: Records
  /** The index after the last record of each group. */
  readonly ends: readonly number[]
}

export interface ReadOptions {
  /** Aborts a read whose client has disconnected: a waiting scan is not started, a running one is stopped. */
  readonly signal?: AbortSignal | undefined
  /** Ends reads whose rows have more bytes than all reads of the request may have. Absent: they may have any number. */
  readonly budget?: ByteBudget | undefined
  /** The poll of the event loop before which the client had begun to send the request. Absent: the read is of this moment. */
  readonly poll?: number | undefined
  /** Within a transaction that has written: the caller can do without this read, which may throw PostponedRead. */
  readonly isPostponable?: boolean | undefined
}

export interface Reads {
  /** Reads that are begun while others are answered take less time together. Absent: one waits for the other anyway. */
  readonly overlaps?: boolean | undefined
  /**
   * The record with this key, or none: `find` with the fewest steps. Absent where conditions are added to every read; `find`
   * is called then.
   */
  findByKey?(model: Model, id: Json, select: Selection, options?: ReadOptions): MaybePromise<Records>
  /**
   * `members`: the records are encoded and nothing else, with these members embedded in them, so that texts of records may be
   * given that were encoded before.
   */
  find(model: Model, criteria: Criteria, options?: ReadOptions, members?: readonly string[]): MaybePromise<Records>
  count(model: Model, where: Condition, options?: ReadOptions): MaybePromise<number>
  /**
   * The records of an association, one page for each key, in one statement. The keys are the primary keys of the records
   * that have the association; for a to-one association the values of its foreign key. Keys are distinct.
   */
  related(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
    options?: ReadOptions,
  ): MaybePromise<Grouped>
  /**
   * As `related`, for records that are encoded and nothing else: for each key the text of the list, or of the record of a
   * to-one association, or `null`. Undefined: `related` is to be called.
   */
  relatedTexts?(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
  ): MaybePromise<readonly string[] | undefined>
}

export interface Writes {
  /** Returns the new row. Throws E_INVALID_ATTRIBUTES for a value that is not unique or a reference to a missing record. */
  insert(model: Model, assignments: readonly Assignment[]): MaybePromise<Records>
  /** Returns the rows after the update. */
  update(model: Model, where: Condition, assignments: readonly Assignment[]): MaybePromise<Records>
  /** Returns the deleted rows. */
  delete(model: Model, where: Condition): MaybePromise<Records>
}

/** Reads and writes that are committed together or not at all. */
export interface Transaction extends Reads, Writes {
  /** As `insert`, but returns no record and changes nothing when a row with this key exists. */
  insertMissing(model: Model, assignments: readonly Assignment[]): MaybePromise<Records>
  /** Throws E_CONFLICT where so many records, or such large ones, may not be changed; absent where a change alone shows it. */
  requireAffectable?(model: Model, where: Condition): MaybePromise<void>
  /**
   * Sets a reference to null in records that the transaction deletes afterwards: they are counted once, and hooks are given them as they
   * were. Absent: `update` is called.
   */
  clearBeforeDelete?(model: Model, where: Condition, reference: Attribute): MaybePromise<Records>
  /**
   * Says which records of a model the transaction deletes together. Where a hook is given each as it was, they are read now: foreign keys may
   * clear or delete one with another. Absent: no hook is given them.
   */
  beforeDelete?(model: Model, ids: readonly Json[]): MaybePromise<void>
  /** Stores an answer with what the transaction writes. Returns false and stores nothing when there is one under its id. */
  keepAnswer?(answer: StoredAnswer): MaybePromise<boolean>
}

export interface Snapshot<T> {
  readonly value: T
  readonly position: Position
}

export interface WriteContext {
  /** What caused the write, recorded in the change log. */
  readonly origin?: WriteOrigin | undefined
}

export interface TransactionContext extends WriteContext {
  /**
   * Given for a work that runs code of the application, which may wait for anything: after this time it is rolled back
   * with E_TIMEOUT, and on a database with one writer no other operation shares its transaction.
   */
  readonly timeoutMs?: number | undefined
  /** The processor time of one of its reads, for a work that a client has composed, on a database that runs in the event loop. */
  readonly maxReadMs?: number | undefined
  /** Concurrent serializable transactions have the effect of some sequence of them. Databases with one writer always do this. */
  readonly isSerializable?: boolean | undefined
}

/**
 * The interface of a database. A write on the store itself is its own transaction and is durable when its promise
 * resolves.
 */
export interface Store extends Reads, AsyncDisposable {
  /** Transactions overlap, and are serializable only where this is asked for. Absent: they run one after the other. */
  readonly hasConcurrentWriters?: boolean | undefined
  /** True for a store that is part of a transaction under way. */
  readonly isWithin?: boolean
  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records>
  /**
   * The record with this key: `update` with the fewest steps. Absent where conditions or hooks are added to writes; `update`
   * is called then.
   */
  updateByKey?(model: Model, id: Json, assignments: readonly Assignment[], context?: WriteContext): Promise<Records>
  update(model: Model, where: Condition, assignments: readonly Assignment[], context?: WriteContext): Promise<Records>
  delete(model: Model, where: Condition, context?: WriteContext): Promise<Records>
  /**
   * `work` may be run again from the beginning after a conflict, so it must have no effects outside the transaction. It
   * may await only the statements of the transaction, unless a time limit is given.
   */
  transaction<T>(work: (transaction: Transaction) => MaybePromise<T>, context?: TransactionContext): Promise<T>
  /** For each condition, which of the records with these keys fulfil it: one statement, however many conditions. */
  matching(
    model: Model,
    ids: readonly Json[],
    conditions: readonly Condition[],
  ): MaybePromise<readonly ReadonlySet<Json>[]>
  /** `work` reads one snapshot; `position` is the position of that snapshot in the change log. */
  snapshot<T>(work: (reads: Reads) => MaybePromise<T>, options?: ReadOptions): MaybePromise<Snapshot<T>>
  readonly changes: ChangeLog
  /** Undefined: answers are not kept, and requests with an Idempotency-Key are refused. */
  readonly answers?: StoredAnswers | undefined
  /** Undefined: the database cannot tell which tables have changed. */
  readonly versions?: TableVersions | undefined
  /** Texts of records take half of `maxKeptBytes`. */
  readonly keepsTexts?: boolean
  /** Shared by the processes that serve this database: cursors are signed with it. */
  readonly secret: string
  /** False: the database has no place for a secret, and each process has another. */
  readonly isSecretShared: boolean
  /** For log output: `SQLite 3.53 (data/app.db)`. */
  readonly description: string
}

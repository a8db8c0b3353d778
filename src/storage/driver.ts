import type { Condition, Sort } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { EncodedPage, Encoding } from './encoding.ts'
import type { ReadOptions } from './store.ts'
import type { ErrorSubject } from './to-service-error.ts'
import type { WriteOrigin } from './write-origin.ts'

/** A row as an array, in the order of the select list. */
export type Row = readonly unknown[]
export type Query = (text: string, values: readonly unknown[], options?: ReadOptions) => MaybePromise<readonly Row[]>

/**
 * What the criteria tell about the cost of a statement. *key*: one row by its primary key. *page*: the first rows in an
 * order, without a condition. *filter*: any other; its cost depends on the indexes.
 */
export type Access = 'key' | 'page' | 'filter'

/** *indexed*: the rows that are read are bounded by the page. *scan*: they grow with the table. */
export type CostClass = 'indexed' | 'scan'

/** What a statement was compiled from. */
export interface QueryShape {
  readonly model: Model
  readonly where: Condition
  readonly sort: readonly Sort[]
}

/** A statement that reads whole tables, as its plan says, or has taken as long as one. */
export interface Scan {
  readonly text: string
  readonly shape?: QueryShape | undefined
  readonly tables: readonly string[]
}

/** One statement for lookups that differ in the key alone. Such lookups share the object. */
export interface GroupedLookup {
  readonly text: string
  /** Those after the array of the keys. */
  readonly values: readonly unknown[]
  /** Where the key is in its rows, in the same form as in the values of a lookup. */
  readonly keyAt: number
}

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly access: Access
  /** Of a lookup by key, which is the first of its values. */
  readonly group?: GroupedLookup | undefined
  readonly shape?: QueryShape
}

/** Runs statements that read committed rows. */
export interface Reader {
  read(statement: Statement, options?: ReadOptions): MaybePromise<readonly Row[]>
  /**
   * As `read`, for a page of which nothing but the texts of the records is needed: if another process reads it, that
   * process encodes it. Absent: rows are never read in another process.
   */
  readPage?(
    statement: Statement,
    encoding: () => Encoding | undefined,
    options?: ReadOptions,
  ): MaybePromise<readonly Row[] | EncodedPage>
}

/** As `Reader.read`, where nothing may wait. */
export type CurrentRead = (statement: Statement, options?: ReadOptions) => readonly Row[]

/** What a transaction needs of its connection. */
export interface TransactionOptions {
  /** On an embedded database no other operation shares the transaction. */
  readonly isExclusive?: boolean
  /** On an embedded database it runs before the writes that wait: what is written is trimmed as fast. */
  readonly isFirst?: boolean
  /** The processor time of one of its reads, on a database that runs in the event loop. */
  readonly maxReadMs?: number | undefined
  readonly isSerializable?: boolean | undefined
}

/** The connections to one database. Every failure is thrown as a DatabaseError. */
export interface Driver extends Reader, AsyncDisposable {
  /** Reads committed rows by key or index: for the statements of the change log and the metadata. */
  readonly query: Query
  /** Scans run where they delay no other statement. */
  read(statement: Statement, options?: ReadOptions): MaybePromise<readonly Row[]>
  /** Several reads in one snapshot. `work` may be run again from the beginning. */
  snapshot<T>(work: (reader: Reader) => MaybePromise<T>, options?: ReadOptions): MaybePromise<T>
  /** One writing statement in its own transaction; resolves when it is durable. `row` names the only one that it can change. */
  write(
    text: string,
    values: readonly unknown[],
    origin: WriteOrigin | undefined,
    row?: string | undefined,
  ): Promise<readonly Row[]>
  /** `work` may be run again from the beginning. */
  transaction<T>(
    work: (query: Query) => MaybePromise<T>,
    origin: WriteOrigin | undefined,
    options?: TransactionOptions,
  ): Promise<T>
}

/** The table whose constraint a statement has violated, where the database names it. */
interface OfTable {
  readonly table: string | undefined
  /** Whether a statement of a trigger has violated it. Undefined: the database does not tell. */
  readonly isOfTrigger?: boolean
}

/** The kinds of database errors, common to all databases. */
export type DatabaseErrorKind =
  | (OfTable & { readonly kind: 'unique'; readonly columns: readonly string[] })
  | { readonly kind: 'foreignKey'; readonly table?: string | undefined; readonly columns?: readonly string[] }
  | (OfTable & { readonly kind: 'notNull'; readonly column: string })
  /** A value for a column that only the database gives one. */
  | { readonly kind: 'generated'; readonly column: string }
  /**
   * A value that the column refuses: out of range, too long, or against a check constraint. `parameter` is the number of
   * the bound value, from 1, where its type refuses it. `isOfRow`: it may be a stored one, as where the schema reads a text as JSON.
   */
  | {
      readonly kind: 'value'
      readonly column?: string | undefined
      readonly parameter?: number
      readonly isOfRow?: true
    }
  /** An insert of what may exist already, against a unique constraint that is checked later. */
  | { readonly kind: 'deferrable'; readonly constraint: string }
  /** A lock, a conflict of two transactions, or a full queue: a retry may succeed. */
  | { readonly kind: 'busy' }
  /** The disk has no space left. */
  | { readonly kind: 'full' }
  /** The statement exceeded its time limit. */
  | { readonly kind: 'timeout' }
  /** The rows have more bytes than the request may read. */
  | { readonly kind: 'large'; readonly maxAnswerBytes: number }
  /** The read was aborted: its client has disconnected. */
  | { readonly kind: 'aborted' }
  /** The database cannot be reached or cannot answer. */
  | { readonly kind: 'lost' }
  /** The file of an embedded database is damaged, or its disk fails. */
  | { readonly kind: 'damaged' }
  /** The file of an embedded database was deleted or replaced while it is open. */
  | { readonly kind: 'replaced' }
  /** The statement exceeds a limit of the database on its size or depth. */
  | { readonly kind: 'complex' }
  /** There is no such table or column, or not any more. */
  | { readonly kind: 'missing' }
  /** A write to a view or a foreign table that the database only reads. */
  | { readonly kind: 'onlyRead' }
  /** The database refuses: no permission, read-only, or out of memory. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown' }

/**
 * Thrown by a postponable read instead of holding up others: its transaction has written, so that only its own connection sees
 * what it should read.
 */
export class PostponedRead extends Error {}

export class DatabaseError extends Error {
  readonly reason: DatabaseErrorKind
  /** The model and values of the failed statement, for the message. */
  subject: ErrorSubject | undefined

  constructor(reason: DatabaseErrorKind, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'DatabaseError'
    this.reason = reason
  }
}

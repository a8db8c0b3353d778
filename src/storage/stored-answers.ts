import type { MaybePromise } from '../support/maybe-promise.ts'

/** The answer to a write that a client may repeat: stored with the write, so that a repetition gets it again. */
export interface StoredAnswer {
  /** Identifies the requester and its `Idempotency-Key`. */
  readonly id: string
  /** A hash of the request. */
  readonly request: string
  readonly status: number
  /** A JSON object. */
  readonly headers: string
  /** As it is read, it may be UTF-8: a long text takes several times as long to decode as to read. */
  readonly body: string | Uint8Array | null
  /** In milliseconds. */
  readonly at: number
}

/** What is kept of the answers, as of the change log. */
export interface AnswerRetention {
  readonly olderThan: number
  readonly rows: number
  readonly bytes: number
}

/** What differs between the databases that keep answers in a table. */
export interface AnswerTable {
  /** The body as an expression of SQL. */
  readonly body: string
  /** About the bytes that it takes. */
  size(): MaybePromise<number>
  trim(retention: AnswerRetention): Promise<void>
}

/** The stored answers of a database. They are written by `Transaction.keepAnswer`. */
export interface StoredAnswers {
  /** Creates the table when it is first needed. Rejects where the schema must not change. */
  prepare(): Promise<void>
  find(id: string): MaybePromise<StoredAnswer | undefined>
  trim(retention: AnswerRetention): Promise<void>
  /** About the bytes of them, where this process has stored some. Absent: they are not bounded. */
  size?(): MaybePromise<number>
}

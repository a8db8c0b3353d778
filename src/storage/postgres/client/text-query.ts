import type * as pg from 'pg'
import type { ByteBudget } from '../../byte-budget.ts'
import type { Row } from '../../driver.ts'
import type { DataRows } from './data-rows.ts'

/** A query for one connection. */
export interface QueryRequest {
  readonly text: string
  readonly values: readonly unknown[]
  /** `kept`: a prepared statement. `anew`: planned for these values. `several`: a script without values. */
  readonly how: 'kept' | 'anew' | 'several'
  /** For a script that begins or ends a transaction. */
  readonly transaction?: 'begin' | 'end'
  /** The peer that caused it, for the change log. */
  readonly origin?: string | undefined
  /** Fails with `large`, and keeps no rows, once they have more bytes. */
  readonly budget?: ByteBudget | undefined
}

/** A row that the parser of `pg` has read. */
interface DataRow {
  readonly fields: Row
  readonly length: number
}

/** Writes the protocol messages; returns the number of statements that run before the one whose rows are wanted. */
export type Send = (request: QueryRequest, wire: pg.Connection) => number

export type MakeTextQuery = (
  request: QueryRequest,
  send: Send,
  resolve: (rows: readonly Row[]) => void,
  reject: (error: unknown) => void,
) => pg.Submittable

/**
 * A query whose rows stay the arrays of texts from the wire. The class of `pg` requests a description of the columns each
 * time, looks up a parser for each and builds each row again, which costs more than the rest of a read by key. The cursor
 * and stream packages of `pg` use the same calls.
 */
export function textQueries(Query: typeof pg.Query): MakeTextQuery {
  // In a pipeline, `pg` accepts only instances of its own class, of which the types declare only the callback.
  const Base = Query as unknown as new (text: string) => object

  class TextQuery extends Base {
    readonly #request: QueryRequest
    readonly #send: Send
    readonly #resolve: (rows: readonly Row[]) => void
    readonly #reject: (error: unknown) => void
    #rows: Row[] = [] // `rows` is an option of the class below
    readonly #budget: ByteBudget | undefined
    #rowBytes = 0
    #preceding = 0
    #isSettled = false

    constructor(...[request, send, resolve, reject]: Parameters<MakeTextQuery>) {
      super('')
      this.#request = request
      this.#budget = request.budget
      this.#send = send
      this.#resolve = resolve
      this.#reject = reject
    }

    submit(wire: pg.Connection): null {
      this.#preceding = this.#send(this.#request, wire)
      return null
    }

    handleRowDescription(): void {}

    handleDataRow(message: DataRows | DataRow): void {
      if (this.#preceding > 0 || this.#isSettled) return
      const rows = 'rows' in message ? message.rows : [message.fields]
      if (this.#rows.length === 0) this.#rows = rows
      else for (const row of rows) this.#rows.push(row)
      this.#rowBytes += message.length
      if (this.#budget !== undefined && !this.#budget.take(message.length)) this.handleError(this.#budget.exceeded)
    }

    handleCommandComplete(): void {
      if (this.#preceding > 0) this.#preceding--
    }

    handleReadyForQuery(): void {
      if (this.#isSettled) return
      this.#isSettled = true
      this.#resolve(this.#rows)
    }

    handleError(error: unknown): void {
      if (this.#isSettled) return
      this.#isSettled = true
      this.#rows.length = 0
      this.#budget?.giveBack(this.#rowBytes)
      this.#reject(error)
    }
  }
  return (...parts) => new TextQuery(...parts) as unknown as pg.Submittable
}

import type * as pg from 'pg'
import type { Row } from '../driver.ts'

/** What is asked of a connection. */
export interface Ask {
  readonly text: string
  readonly values: readonly unknown[]
  /** Prepared once and kept by the server; otherwise planned anew for these values. Several statements are neither. */
  readonly how: 'kept' | 'anew' | 'several'
  /** Who causes it, for the log of changes. */
  readonly origin?: string | undefined
}

/** Writes the messages for what is asked; answers how many statements run before the one whose rows are wanted. */
export type Send = (ask: Ask, wire: pg.Connection) => number

export type MakeTextQuery = (
  ask: Ask,
  send: Send,
  resolve: (rows: readonly Row[]) => void,
  reject: (error: unknown) => void,
) => pg.Submittable

/**
 * A query whose rows stay the arrays of texts that came over the wire. `pg`'s own asks for a description of the columns
 * every time, finds a parser for each and builds every row anew, which costs more than all the rest of a read by key.
 * Its cursor and stream packages are made of the same calls.
 */
export function textQueries(Query: typeof pg.Query): MakeTextQuery {
  // In a pipeline `pg` takes nothing that is not made of its own class, of which the types know the callback only.
  const Base = Query as unknown as new (text: string) => object

  class TextQuery extends Base {
    readonly #ask: Ask
    readonly #send: Send
    readonly #resolve: (rows: readonly Row[]) => void
    readonly #reject: (error: unknown) => void
    readonly #rows: Row[] = [] // `rows` is an option of the class below
    #preceding = 0
    #isSettled = false

    constructor(...[ask, send, resolve, reject]: Parameters<MakeTextQuery>) {
      super('')
      this.#ask = ask
      this.#send = send
      this.#resolve = resolve
      this.#reject = reject
    }

    submit(wire: pg.Connection): null {
      this.#preceding = this.#send(this.#ask, wire)
      return null
    }

    handleRowDescription(): void {}

    handleDataRow(message: { readonly fields: Row }): void {
      if (this.#preceding === 0) this.#rows.push(message.fields)
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
      this.#reject(error)
    }
  }
  return (...parts) => new TextQuery(...parts) as unknown as pg.Submittable
}

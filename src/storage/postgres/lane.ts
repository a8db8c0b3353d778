import { DatabaseError, type Row } from '../driver.ts'
import type { Connection } from './connection.ts'
import type { Ask } from './text-query.ts'

/** Queries that may wait for one connection; more than it could answer in time are told to come back. */
const mostPending = 5_000

/** One connection that many share, opened when it is wanted and again after it was lost. */
export class Lane {
  readonly #open: () => Promise<Connection>
  #connection: Connection | undefined
  #opening: Promise<Connection> | undefined
  /** Queries that wait for the connection to open. */
  #waiting = 0
  #isClosed = false

  constructor(open: () => Promise<Connection>) {
    this.#open = open
  }

  get connection(): Connection | undefined {
    return this.#connection
  }

  get load(): number {
    return this.#waiting + (this.#connection?.pending ?? 0)
  }

  send(ask: Ask, resolve: (rows: readonly Row[]) => void, reject: (error: DatabaseError) => void): void {
    const connection = this.#connection
    if (connection === undefined || connection.failure !== undefined) {
      this.#waiting++
      this.#reopened()
        .finally(() => this.#waiting--)
        .then((opened) => opened.send(ask, resolve, reject), reject)
    } else if (connection.pending >= mostPending) {
      reject(new DatabaseError({ kind: 'busy' }, `${mostPending} queries are waiting for this connection`))
    } else connection.send(ask, resolve, reject)
  }

  #reopened(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new DatabaseError({ kind: 'lost' }, 'The store is closed'))
    this.#opening ??= this.#open()
      .then((connection) => {
        this.#connection = connection
        return connection
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening?.catch(() => {}) // there is nothing to close then
    await new Promise(setImmediate) // those who waited for it ask before it is closed
    await this.#connection?.close()
  }
}

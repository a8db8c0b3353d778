import { DatabaseError, type Row } from '../../driver.ts'
import type { Connection } from './connection.ts'
import type { QueryRequest } from './text-query.ts'

/** Pending queries of one connection; further ones are rejected as busy. */
const maxPending = 5_000

/** One shared connection, opened on first use and again after it was lost. */
export class PipelinedConnection {
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

  /** Whether one of the queries that are pending now is pending still. */
  sent(): () => boolean {
    const connection = this.#connection
    const last = connection ? connection.answered + connection.pending : 0
    return () => connection !== undefined && connection.answered < last
  }

  send(request: QueryRequest, resolve: (rows: readonly Row[]) => void, reject: (error: DatabaseError) => void): void {
    const connection = this.#connection
    if (connection === undefined || connection.failure !== undefined) {
      this.#waiting++
      this.#reopen()
        .finally(() => this.#waiting--)
        .then((opened) => opened.send(request, resolve, reject), reject)
    } else if (connection.pending >= maxPending) {
      reject(new DatabaseError({ kind: 'busy' }, `${maxPending} queries are queued on this connection`))
    } else connection.send(request, resolve, reject)
  }

  /** As `Connection.beforeWriting`. False: the connection is not open. */
  beforeWriting(send: () => void): boolean {
    const connection = this.#connection
    if (connection === undefined || connection.failure !== undefined || connection.isPooled) return false
    connection.beforeWriting(send)
    return true
  }

  #reopen(): Promise<Connection> {
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

  /** Closes the connection at once and opens another for what follows. Queries that wait for an answer are rejected as lost. */
  leave(): void {
    this.#connection?.destroy(new DatabaseError({ kind: 'lost' }, 'The connection was left'))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening?.catch(() => {}) // not opened
    await new Promise(setImmediate) // queries that waited for the connection are sent before it is closed
    await this.#connection?.close()
  }
}

export const sendOn = (connection: PipelinedConnection, request: QueryRequest): Promise<readonly Row[]> =>
  new Promise((resolve, reject) => connection.send(request, resolve, reject))

export function idlest(pipelined: readonly PipelinedConnection[]): PipelinedConnection {
  let found = pipelined[0] as PipelinedConnection
  for (let index = 1; index < pipelined.length && found.load > 0; index++) {
    const connection = pipelined[index] as PipelinedConnection
    if (connection.load < found.load) found = connection
  }
  return found
}

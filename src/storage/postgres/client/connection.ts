import type * as pg from 'pg'
import { DatabaseError, type Row } from '../../driver.ts'
import { isStale } from '../errors.ts'
import type { MakeTextQuery, QueryRequest } from './text-query.ts'

export interface ConnectionParts {
  readonly client: pg.Client
  readonly makeQuery: MakeTextQuery
  readonly explain: (error: unknown) => DatabaseError
}

/** Prepared statements of one connection; each takes about ten kilobytes on the server. */
const keptStatements = 500

/** Sets the origin for the rest of the transaction, where the triggers read it. */
export const setOriginStatement = `select set_config('keelson.origin', $1, true)`

/**
 * One pipelined connection: queries are written once in a turn of the event loop, without waiting for earlier answers, and
 * answered in order. Never throws and never emits: every error is the rejection of a query.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #makeQuery: MakeTextQuery
  readonly #explain: (error: unknown) => DatabaseError
  readonly #names = new Map<string, string>()
  /** Names of prepared statements that are closed with the next query. */
  #statementsToClose: string[] = []
  #named = 0
  #isCorked = false
  #failure: DatabaseError | undefined
  /** The process of the server that serves this connection. */
  processId = 0
  /** Queries without an answer yet. */
  pending = 0
  /** Queries that were answered; the watchdog reads it to detect progress. */
  answered = 0

  constructor({ client, makeQuery, explain }: ConnectionParts) {
    this.#client = client
    this.#makeQuery = makeQuery
    this.#explain = explain
    client.on('error', (error) => this.#fail(error))
    client.on('end', () => this.#fail(new Error('The connection has ended')))
  }

  /** Undefined while the connection is usable. */
  get failure(): DatabaseError | undefined {
    return this.#failure
  }

  /** The process that the server has named; behind a pooler it is another one. */
  get announcedProcessId(): number {
    return (this.#client as unknown as { readonly processID: number }).processID
  }

  run(request: QueryRequest): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => this.send(request, resolve, reject))
  }

  /** As `run`, without a promise, for the hot path. Errors are DatabaseErrors. */
  send(request: QueryRequest, resolve: (rows: readonly Row[]) => void, reject: (error: DatabaseError) => void): void {
    if (this.#failure !== undefined) {
      reject(this.#failure)
      return
    }
    this.#cork()
    this.pending++
    const namedBefore = this.#named
    let hasParsed = false
    const answer = (rows: readonly Row[]): void => {
      this.pending--
      this.answered++
      resolve(rows)
    }
    const fail = (error: unknown): void => {
      this.pending--
      this.answered++
      // It is unknown whether the server has the prepared statement, so it is prepared again under another name.
      if (hasParsed || isStale(error)) this.#forget(request)
      const failure = this.#explain(error)
      // The server announces the end of the session before it closes the connection.
      if (failure.reason.kind === 'lost') this.destroy(failure)
      reject(failure)
    }
    this.#client.query(this.#makeQuery(request, this.#write, answer, fail))
    hasParsed = this.#named !== namedBefore
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''))
  }

  /** Waits for pending answers. */
  async close(): Promise<void> {
    await this.#client.end()
  }

  /** Closes at once; pending queries are rejected. */
  destroy(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#fail(reason)
    this.#client.connection.stream.destroy()
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof DatabaseError ? error : new DatabaseError({ kind: 'lost' }, error)
  }

  /** One write for all queries of this turn: system calls are a third of the cost of a short read. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  /** Called as `submit` of the query, in wire order. */
  readonly #write = (request: QueryRequest, wire: pg.Connection): number => {
    if (request.how === 'several') {
      wire.query(request.text)
      return 0
    }
    for (const name of this.#statementsToClose) wire.close({ type: 'S', name }, true)
    this.#statementsToClose = []
    // Everything up to `sync` is one transaction, so the setting applies to this statement only.
    if (request.origin !== undefined) this.#execute(wire, this.#prepare(wire, setOriginStatement), [request.origin])
    this.#execute(
      wire,
      request.how === 'kept' ? this.#prepare(wire, request.text) : this.#parse(wire, '', request.text),
      request.values,
    )
    wire.sync()
    return request.origin === undefined ? 0 : 1
  }

  #execute(wire: pg.Connection, statement: string, values: readonly unknown[]): void {
    wire.bind({ statement, values: values as string[], valueMapper: textOf }, true)
    wire.execute(null, true)
  }

  #prepare(wire: pg.Connection, text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= keptStatements) this.#discard(this.#names.keys().next().value as string)
    const name = `k${++this.#named}`
    this.#names.set(text, name)
    return this.#parse(wire, name, text)
  }

  #parse(wire: pg.Connection, name: string, text: string): string {
    wire.parse({ name, text, types: [] }, true)
    return name
  }

  #forget({ text, origin }: QueryRequest): void {
    this.#discard(text)
    if (origin !== undefined) this.#discard(setOriginStatement)
  }

  /** Names are not reused, so it does not matter whether the server has this one. */
  #discard(text: string): void {
    const name = this.#names.get(text)
    if (name === undefined) return
    this.#names.delete(text)
    this.#statementsToClose.push(name)
  }
}

/** All values but null are sent as text. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : value === null || value === undefined ? null : String(value)

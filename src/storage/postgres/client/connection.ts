import type * as pg from 'pg'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import { DatabaseError, type Row } from '../../driver.ts'
import { isStale } from '../errors.ts'
import type { StatementWriter } from './statement-writer.ts'
import type { MakeTextQuery, QueryRequest } from './text-query.ts'

export interface ConnectionParts {
  readonly client: pg.Client
  readonly makeQuery: MakeTextQuery
  readonly explain: (error: unknown) => DatabaseError
  readonly statements: StatementWriter
  /** A pooler may serve each transaction by another process of the server. */
  readonly isPooled: boolean
  /** Asks the server to stop the request that it executes. */
  readonly cancel: (client: pg.Client) => Promise<void>
}

interface WaitingRequest {
  readonly request: QueryRequest
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: DatabaseError) => void
}

/**
 * One pipelined connection: queries are written once in a turn of the event loop, without waiting for earlier answers, and
 * answered in order. Never throws and never emits: every error is the rejection of a query.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #makeQuery: MakeTextQuery
  readonly #explain: (error: unknown) => DatabaseError
  readonly #statements: StatementWriter
  readonly #cancel: (client: pg.Client) => Promise<void>
  /**
   * Behind a pooler of transactions, one request at a time: when a transaction has ended, some poolers let go of the process
   * although a part of the next one was read already, or drop the answers to it.
   */
  readonly #waiting: WaitingRequest[] | undefined
  #isBusy = false
  #drained: (() => void) | undefined
  #isCorked = false
  readonly #beforeWriting: (() => void)[] = []
  #failure: DatabaseError | undefined
  #onEnd: (() => void) | undefined
  /** The process of the server that serves this connection. */
  processId = 0
  /** Queries without an answer yet. */
  pending = 0
  /** Queries that were answered; the watchdog reads it to detect progress. */
  answered = 0

  constructor({ client, makeQuery, explain, statements, isPooled, cancel }: ConnectionParts) {
    this.#client = client
    this.#makeQuery = makeQuery
    this.#explain = explain
    this.#statements = statements
    this.#cancel = cancel
    if (isPooled) {
      this.#waiting = []
      // After an error as well; the client itself handles the message first.
      client.connection.on('readyForQuery', () => process.nextTick(() => this.#sendNext()))
    }
    client.on('error', (error) => this.#fail(error))
    client.on('end', () => this.#fail(new Error('The connection has ended')))
  }

  /** Undefined while the connection is usable. */
  get failure(): DatabaseError | undefined {
    return this.#failure
  }

  /** Whether a pooler may serve each transaction by another process of the server. */
  get isPooled(): boolean {
    return this.#waiting !== undefined
  }

  /** The process that the server has named; behind a pooler it is another one. */
  get announcedProcessId(): number {
    return (this.#client as unknown as { readonly processID: number }).processID
  }

  /**
   * Once the turn of the event loop is used, what the server sends next is read in a later one: rows are decoded while they
   * are read, and several results may have arrived.
   */
  readInTurns(): this {
    const { stream } = this.#client.connection
    stream.prependListener('data', () => {
      if (!eventLoopTurn.isUsed) return
      stream.pause()
      void eventLoopTurn.next().then(() => stream.resume())
    })
    return this
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
    this.pending++
    if (this.#waiting !== undefined && this.#isBusy) this.#waiting.push({ request, resolve, reject })
    else this.#submit(request, resolve, reject)
  }

  /** `send` is called at the end of the turn of the event loop: what it sends is written with all other queries of the turn. */
  beforeWriting(send: () => void): void {
    this.#cork()
    this.pending++
    this.#beforeWriting.push(send)
  }

  #submit(
    request: QueryRequest,
    resolve: (rows: readonly Row[]) => void,
    reject: (error: DatabaseError) => void,
  ): void {
    this.#cork()
    this.#isBusy = true
    const statements = this.#statements
    const preparedBefore = statements.prepared
    let hasPrepared = false
    const answer = (rows: readonly Row[]): void => {
      this.pending--
      this.answered++
      resolve(rows)
    }
    const fail = (error: unknown): void => {
      this.pending--
      this.answered++
      // It is unknown whether the server has the prepared statement, so it is prepared again under another name.
      if (hasPrepared || isStale(error)) statements.forget(request)
      const failure = this.#explain(error)
      // The server announces the end of the session before it closes the connection.
      if (failure.reason.kind === 'lost') this.destroy(failure)
      reject(failure)
    }
    this.#client.query(this.#makeQuery(request, this.#write, answer, fail))
    hasPrepared = statements.prepared !== preparedBefore
  }

  #sendNext(): void {
    this.#isBusy = false
    const next = this.#waiting?.shift()
    if (next) this.#submit(next.request, next.resolve, next.reject)
    else this.#drained?.()
  }

  /** Stops the request that is executed; it fails as a timeout does. Resolves when it can stop no later one. */
  cancel(): Promise<void> {
    return this.#cancel(this.#client)
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''))
  }

  /** Waits for pending answers. */
  async close(): Promise<void> {
    if (this.#waiting?.length) await new Promise<void>((resolve) => (this.#drained = resolve))
    await this.#client.end()
  }

  /** Closes at once; pending queries are rejected. */
  destroy(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#fail(reason)
    this.#client.connection.stream.destroy()
  }

  /** Called once, before a query of this connection fails for it; at once where the connection has ended. */
  onEnd(listener: () => void): void {
    if (this.#failure === undefined) this.#onEnd = listener
    else listener()
  }

  #fail(error: unknown): void {
    const failure = error instanceof DatabaseError ? error : new DatabaseError({ kind: 'lost' }, error)
    if (this.#failure === undefined) {
      this.#failure = failure
      this.#onEnd?.()
    }
    for (const { reject } of this.#waiting?.splice(0) ?? []) {
      this.pending--
      reject(failure)
    }
    this.#drained?.()
  }

  /** One write for all queries of this turn: system calls are a third of the cost of a short read. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    setImmediate(() => {
      for (const send of this.#beforeWriting.splice(0)) {
        this.pending--
        send()
      }
      this.#isCorked = false
      stream.uncork()
    })
  }

  readonly #write = (request: QueryRequest, wire: pg.Connection): number => this.#statements.write(request, wire)
}

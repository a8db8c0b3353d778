import type * as pg from 'pg'
import { DatabaseError, type Row } from '../driver.ts'
import { isStale } from './errors.ts'
import type { Ask, MakeTextQuery } from './text-query.ts'

export interface ConnectionParts {
  readonly client: pg.Client
  readonly makeQuery: MakeTextQuery
  readonly explain: (error: unknown) => DatabaseError
}

/** Statements that the server keeps prepared for one connection; each costs it some ten kilobytes. */
const keptStatements = 500

/** For the rest of the transaction. The triggers find it there. */
export const setOrigin = `select set_config('keelson.origin', $1, true)`

/**
 * One connection. Queries do not wait for each other's answers: they are written together, once in a turn of the event
 * loop, and answered in their order. Never throws and never emits: every fault is the rejection of a query.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #makeQuery: MakeTextQuery
  readonly #explain: (error: unknown) => DatabaseError
  readonly #names = new Map<string, string>()
  /** To be given back to the server with the next query. */
  #leavings: string[] = []
  #named = 0
  #isCorked = false
  #failure: DatabaseError | undefined
  /** Queries that have no answer yet. */
  pending = 0
  /** Queries that were answered; for whoever watches whether there is any progress. */
  answered = 0

  constructor({ client, makeQuery, explain }: ConnectionParts) {
    this.#client = client
    this.#makeQuery = makeQuery
    this.#explain = explain
    client.on('error', (error) => this.#fail(error))
    client.on('end', () => this.#fail(new Error('The connection has ended')))
  }

  /** Undefined as long as it can be used. */
  get failure(): DatabaseError | undefined {
    return this.#failure
  }

  run(ask: Ask): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => this.send(ask, resolve, reject))
  }

  /** As `run`, for the one place where a promise more is too many. Faults are DatabaseErrors. */
  send(ask: Ask, resolve: (rows: readonly Row[]) => void, reject: (error: DatabaseError) => void): void {
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
      // Whether the server has come to know the name is not said, so it is prepared under another one.
      if (hasParsed || isStale(error)) this.#forget(ask)
      const failure = this.#explain(error)
      // The server says that it ends the session before it does: nothing more is asked here.
      if (failure.fault.kind === 'lost') this.destroy(failure)
      reject(failure)
    }
    this.#client.query(this.#makeQuery(ask, this.#write, answer, fail))
    hasParsed = this.#named !== namedBefore
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => listener(payload ?? ''))
  }

  /** Waits for the answers that are under way. */
  async close(): Promise<void> {
    await this.#client.end()
  }

  /** Gives up; what is under way is lost. */
  destroy(reason: Error): void {
    if (this.#failure !== undefined) return
    this.#fail(reason)
    this.#client.connection.stream.destroy()
  }

  #fail(error: unknown): void {
    this.#failure ??= error instanceof DatabaseError ? error : new DatabaseError({ kind: 'lost' }, error)
  }

  /** One write for everything that is asked in this turn: system calls are a third of what a short read costs. */
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

  /** Runs as `submit` of the query, in the order of the wire. */
  readonly #write = (ask: Ask, wire: pg.Connection): number => {
    if (ask.how === 'several') {
      wire.query(ask.text)
      return 0
    }
    for (const name of this.#leavings) wire.close({ type: 'S', name }, true)
    this.#leavings = []
    // Up to the `sync` all of it is one transaction, so the setting belongs to this statement and to no other.
    if (ask.origin !== undefined) this.#execute(wire, this.#prepare(wire, setOrigin), [ask.origin])
    this.#execute(
      wire,
      ask.how === 'kept' ? this.#prepare(wire, ask.text) : this.#parse(wire, '', ask.text),
      ask.values,
    )
    wire.sync()
    return ask.origin === undefined ? 0 : 1
  }

  #execute(wire: pg.Connection, statement: string, values: readonly unknown[]): void {
    wire.bind({ statement, values: values as string[], valueMapper: textOf }, true)
    wire.execute(null, true)
  }

  #prepare(wire: pg.Connection, text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    if (this.#names.size >= keptStatements) this.#letGo(this.#names.keys().next().value as string)
    const name = `k${++this.#named}`
    this.#names.set(text, name)
    return this.#parse(wire, name, text)
  }

  #parse(wire: pg.Connection, name: string, text: string): string {
    wire.parse({ name, text, types: [] }, true)
    return name
  }

  #forget({ text, origin }: Ask): void {
    this.#letGo(text)
    if (origin !== undefined) this.#letGo(setOrigin)
  }

  /** The name is never used again, so it does not matter whether the server ever knew it. */
  #letGo(text: string): void {
    const name = this.#names.get(text)
    if (name === undefined) return
    this.#names.delete(text)
    this.#leavings.push(name)
  }
}

/** Everything travels as text, null aside. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : value === null || value === undefined ? null : String(value)

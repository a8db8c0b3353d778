import type { Limits } from '../../support/limits.ts'
import type { Maybe } from '../../support/maybe.ts'
import type { Driver, Query, Row, Weight } from '../driver.ts'
import type { Wake } from '../wake.ts'
import { Background } from './background.ts'
import { Connection } from './connection.ts'
import { sqliteError } from './errors.ts'
import { type OperationMarker, operationMarker } from './operation-marker.ts'
import { whenFree } from './patience.ts'
import { checkpointPages, WriteAhead } from './write-ahead.ts'
import { Writer } from './writer.ts'

/** One writer, one reader that sees only what is committed, and a thread for the long and the background. */
export class SqliteDriver implements Driver {
  readonly #busyTimeoutMs: number
  readonly #writing: Connection
  /** In memory there is one connection only. */
  readonly #reading: Connection
  readonly #writer: Writer
  readonly #background: Background | undefined
  #marker: OperationMarker | undefined

  constructor(path: string, limits: Limits, wake: Wake) {
    this.#busyTimeoutMs = limits.busyTimeoutMs
    const inMemory = path === ':memory:'
    this.#writing = new Connection(path, { readOnly: false })
    this.#reading = inMemory ? this.#writing : new Connection(path, { readOnly: true })
    this.#background = inMemory ? undefined : new Background(path, limits.statementTimeoutMs)
    const writeAhead = this.#background && new WriteAhead(path, this.#writing, this.#background)
    this.#writer = new Writer(
      this.#writing,
      limits,
      () => this.#marker,
      () => {
        wake.call()
        return writeAhead?.committed()
      },
    )
  }

  /** To be awaited before anything else: another program may hold the file. */
  async prepare(): Promise<void> {
    if (this.#reading === this.#writing) return
    const pragmas = `pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = ${checkpointPages}`
    await whenFree(() => this.#writing.exec(pragmas), this.#busyTimeoutMs)
  }

  /** For setting up, before anything is served. */
  get setup(): Connection {
    return this.#writing
  }

  /** From now on the rows of the log that one operation writes get a common number. */
  markOperations(): void {
    this.#marker = operationMarker(this.#writing)
  }

  read(text: string, values: readonly unknown[], weight: Weight): Maybe<readonly Row[]> {
    if (weight === 'long' && this.#background) return this.#background.run(text, values)
    // In memory an open transaction would show what is not committed.
    if (this.#reading === this.#writing && this.#reading.inTransaction)
      return this.#writer.run((query) => query(text, values), { single: true, origin: undefined })
    try {
      return this.#reading.read(text, values)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  snapshot<T>(work: (query: Query) => Maybe<T>): Maybe<T> {
    const reading = this.#reading
    if (reading === this.#writing) return this.#writer.run(work, { single: false, origin: undefined })
    const end = <R>(result: R): R => {
      reading.exec('commit')
      return result
    }
    const fail = (error: unknown): never => {
      if (reading.inTransaction) reading.exec('rollback')
      throw sqliteError(error)
    }
    try {
      // Nothing here is ever awaited, so no other reading comes in between.
      reading.exec('begin')
      const result = work((text, values) => reading.read(text, values))
      return result instanceof Promise ? result.then(end, fail) : end(result)
    } catch (error) {
      return fail(error)
    }
  }

  write(text: string, values: readonly unknown[], origin: string | undefined): Promise<readonly Row[]> {
    return this.#writer.run((query) => query(text, values), { single: true, origin })
  }

  transaction<T>(work: (query: Query) => Maybe<T>, origin: string | undefined): Promise<T> {
    return this.#writer.run((query) => work(faults(query)), { single: false, origin })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writer.close()
    await this.#background?.close()
    if (this.#reading !== this.#writing) this.#reading[Symbol.dispose]()
    this.#writing[Symbol.dispose]()
  }
}

/** What fails inside a transaction is told in the words of every database. */
const faults =
  (query: Query): Query =>
  (text, values) => {
    try {
      return query(text, values)
    } catch (error) {
      throw sqliteError(error)
    }
  }

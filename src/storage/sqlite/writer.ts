import type { Limits } from '../../support/limits.ts'
import type { Maybe } from '../../support/maybe.ts'
import { DatabaseError, type Query, type Row } from '../driver.ts'
import type { Connection } from './connection.ts'
import { isBusy, isOutOfRange, sqliteError } from './errors.ts'
import type { OperationMarker } from './operation-marker.ts'

/** Commits wait for the disk, so what arrives together is committed together; this bounds how long one batch takes. */
const largestBatch = 500
const retryMs = 5

interface Job {
  readonly run: (query: Query) => Maybe<unknown>
  /** One statement undoes itself when it fails; several need a savepoint. */
  readonly single: boolean
  readonly origin: string | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

interface Settled {
  readonly job: Job
  readonly value: unknown
}

/**
 * The only one who writes. Whole operations run strictly one after another; those that arrived in one turn share a
 * transaction, each undone alone if it fails, and are acknowledged after the commit. When a fault ends the shared
 * transaction under all of them, each is run again in one of its own.
 */
export class Writer {
  readonly #connection: Connection
  readonly #marker: () => OperationMarker | undefined
  readonly #limits: Limits
  readonly #committed: () => void
  #queue: Job[] = []
  #draining: Promise<void> | undefined
  #closed = false

  constructor(
    connection: Connection,
    limits: Limits,
    marker: () => OperationMarker | undefined,
    committed: () => void,
  ) {
    this.#connection = connection
    this.#limits = limits
    this.#marker = marker
    this.#committed = committed
  }

  run<T>(run: (query: Query) => Maybe<T>, options: { single: boolean; origin: string | undefined }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) return reject(new DatabaseError({ kind: 'lost' }, 'The database is closed'))
      if (this.#queue.length >= this.#limits.maxQueuedWrites) {
        return reject(
          new DatabaseError({ kind: 'busy' }, `More than ${this.#limits.maxQueuedWrites} writes are waiting`),
        )
      }
      this.#queue.push({ run, ...options, resolve: resolve as Job['resolve'], reject })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    try {
      await nextTurn()
      while (this.#queue.length > 0) {
        if (await this.#begin()) await this.#batch(this.#queue.splice(0, largestBatch))
        if (this.#queue.length > 0) await nextTurn()
      }
    } finally {
      this.#draining = undefined
      // A job may have arrived while the last promise settled.
      if (this.#queue.length > 0) this.#draining = this.#drain()
    }
  }

  /** Waits without stopping the process while another program holds the database. */
  async #begin(): Promise<boolean> {
    const giveUpAt = performance.now() + this.#limits.busyTimeoutMs
    for (;;) {
      try {
        this.#connection.exec('begin immediate')
        return true
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) {
          for (const job of this.#queue.splice(0)) job.reject(sqliteError(error))
          return false
        }
        await new Promise((resolve) => setTimeout(resolve, retryMs + Math.random() * retryMs))
      }
    }
  }

  async #batch(jobs: readonly Job[]): Promise<void> {
    const settled: Settled[] = []
    const failed: [Job, unknown][] = []
    for (const job of jobs) {
      try {
        const value = this.#runOne(job)
        settled.push({ job, value: value instanceof Promise ? await value : value })
      } catch (error) {
        if (!this.#connection.inTransaction || isOutOfRange(error)) return this.#replay(jobs, error)
        failed.push([job, error])
      }
    }
    try {
      this.#connection.exec('commit')
    } catch (error) {
      return this.#replay(jobs, error)
    }
    this.#settle(settled, failed)
  }

  #settle(settled: readonly Settled[], failed: readonly [Job, unknown][]): void {
    for (const { job, value } of settled) job.resolve(value as never)
    for (const [job, error] of failed) job.reject(sqliteError(error))
    if (settled.length > 0) this.#committed()
  }

  /** Nothing of the batch is stored: each job gets a transaction of its own, and only the guilty one fails. */
  async #replay(jobs: readonly Job[], error: unknown): Promise<void> {
    this.#rollback()
    if (jobs.length === 1 && !isOutOfRange(error)) return (jobs[0] as Job).reject(sqliteError(error))
    for (const job of jobs) await this.#alone(job)
  }

  async #alone(job: Job): Promise<void> {
    try {
      this.#connection.exec('begin immediate')
      const value = await this.#runOne(job)
      this.#connection.exec('commit')
      this.#settle([{ job, value }], [])
    } catch (error) {
      this.#rollback()
      job.reject(sqliteError(error))
    }
  }

  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.exec('rollback')
  }

  #runOne(job: Job): Maybe<unknown> {
    if (job.single)
      return job.origin === undefined ? job.run(this.#query) : this.#marked(job, () => job.run(this.#query))
    return this.#several(job)
  }

  async #several(job: Job): Promise<unknown> {
    this.#connection.exec('savepoint operation')
    try {
      const value = await this.#marked(job, () => job.run(this.#query))
      this.#connection.exec('release operation')
      return value
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec('rollback to operation; release operation')
      throw error
    }
  }

  /** Rows of the log that one operation wrote are told apart from those of the others in the same transaction. */
  #marked(job: Job, run: () => Maybe<unknown>): Maybe<unknown> {
    const marker = this.#marker()
    if (!marker) return run()
    const before = marker.begin()
    const value = run()
    if (!(value instanceof Promise)) {
      marker.end(before, job.origin)
      return value
    }
    return value.then((result) => {
      marker.end(before, job.origin)
      return result
    })
  }

  readonly #query: Query = (text: string, values: readonly unknown[]): readonly Row[] =>
    this.#connection.all(text, values)

  /** Lets what was accepted finish, and accepts nothing more. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#draining) await this.#draining
  }
}

/** After the requests that have arrived were read, so that their writes share a commit. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

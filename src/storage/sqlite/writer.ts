import type { Limits } from '../../support/limits.ts'
import type { Maybe } from '../../support/maybe.ts'
import { nextTurn } from '../../support/next-turn.ts'
import { DatabaseError, type Query, type Row } from '../driver.ts'
import type { Connection } from './connection.ts'
import { isConstraint, isOutOfRange, sqliteError } from './errors.ts'
import type { OperationMarker } from './operation-marker.ts'
import { whenFree } from './patience.ts'
import { Turns } from './turns.ts'

/** Commits wait for the disk, so what arrives together is committed together; this bounds how long one batch takes. */
const largestBatch = 500
/** Each run finds another statement whose rows hold integers beyond 2^53; no operation has as many. */
const mostRuns = 100

interface Job {
  readonly run: (query: Query) => Maybe<unknown>
  /** One statement undoes itself when it fails; several need a savepoint. */
  readonly single: boolean
  readonly origin: string | undefined
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
  /** How often it was run again because of its integers. */
  runs: number
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
  /** Told of every commit; what it returns is awaited before the next transaction. */
  readonly #committed: () => Promise<void> | undefined
  readonly #turns = new Turns()
  #queue: Job[] = []
  #draining: Promise<void> | undefined
  #resting: Promise<void> | undefined
  #closed = false

  constructor(
    connection: Connection,
    limits: Limits,
    marker: () => OperationMarker | undefined,
    committed: () => Promise<void> | undefined,
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
      this.#queue.push({ run, ...options, resolve: resolve as Job['resolve'], reject, runs: 0 })
      this.#draining ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    try {
      await nextTurn() // the requests that have arrived are read, so that their writes share a commit
      while (this.#queue.length > 0) {
        if (await this.#begin(this.#queue)) await this.#batch(this.#queue.splice(0, largestBatch))
        if (this.#queue.length > 0) await nextTurn()
      }
    } finally {
      this.#draining = undefined
      // A job may have arrived while the last promise settled.
      if (this.#queue.length > 0) this.#draining = this.#drain()
    }
  }

  /** Waits while another program holds the database; when that takes too long, none of these is done. */
  async #begin(jobs: Job[]): Promise<boolean> {
    try {
      await this.#resting
      await this.#turns.next()
      await whenFree(
        () => this.#connection.exec('begin immediate'),
        this.#limits.busyTimeoutMs,
        () => this.#turns.contended(),
      )
      return true
    } catch (error) {
      for (const job of jobs.splice(0)) job.reject(sqliteError(error))
      return false
    }
  }

  /** `careful`: no statement is trusted to undo itself when it fails. */
  async #batch(jobs: readonly Job[], careful = false): Promise<void> {
    const settled: Settled[] = []
    const failed: [Job, unknown][] = []
    for (const job of jobs) {
      try {
        const value = job.single && !careful ? this.#single(job) : this.#several(job)
        settled.push({ job, value: value instanceof Promise ? await value : value })
      } catch (error) {
        if (!this.#connection.inTransaction || isOutOfRange(error)) return this.#replay(jobs, error)
        if (job.single && !careful && isConstraint(error) && this.#mayKeepHalves()) return this.#repeat(jobs, error)
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
    this.#turns.ended()
    if (settled.length > 0) this.#resting = this.#committed()
  }

  /**
   * A trigger or a constraint that refuses with FAIL keeps what the statement did before. Nobody else pays for a
   * savepoint because of them.
   */
  #mayKeepHalves(): boolean {
    return this.#connection.all(`select 1 from sqlite_schema where sql like '%fail%' limit 1`, []).length > 0
  }

  /** Nothing of the batch is stored: it is run again, each statement in a savepoint. */
  async #repeat(jobs: readonly Job[], error: unknown): Promise<void> {
    if (jobs.length === 1) return this.#replay(jobs, error)
    this.#rollback()
    if (await this.#begin([...jobs])) await this.#batch(jobs, true)
  }

  /** Nothing of the batch is stored: each job gets a transaction of its own, and only the guilty one fails. */
  async #replay(jobs: readonly Job[], error: unknown): Promise<void> {
    this.#rollback()
    if (jobs.length === 1 && !isOutOfRange(error)) return (jobs[0] as Job).reject(sqliteError(error))
    for (const left = [...jobs]; left.length > 0; ) {
      if (!(await this.#begin(left))) return
      if (await this.#alone(left[0] as Job)) left.shift()
    }
  }

  /** Whether it is done with. Where not, its rows hold integers that will be read otherwise when it is run again. */
  async #alone(job: Job): Promise<boolean> {
    try {
      const value = await (job.single ? this.#single(job) : this.#several(job))
      this.#connection.exec('commit')
      this.#settle([{ job, value }], [])
    } catch (error) {
      this.#rollback()
      if (isOutOfRange(error) && job.runs++ < mostRuns) return false
      job.reject(sqliteError(error))
    }
    return true
  }

  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.exec('rollback')
  }

  #single(job: Job): Maybe<unknown> {
    return job.origin === undefined ? job.run(this.#query) : this.#marked(job, () => job.run(this.#query))
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

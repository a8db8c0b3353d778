import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { yieldToEventLoop } from '../../../support/yield-to-event-loop.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import type { Query, Row } from '../../driver.ts'
import type { OperationMarker } from '../change-log/operation-marker.ts'
import { isBusy, isConstraint, isOutOfRange, sqliteError } from '../errors.ts'
import { bounds } from './commit-bounds.ts'
import type { Connection } from './connection.ts'
import { hasFailClause } from './fail-clause.ts'
import { type FlushedCommits, FlushFailed } from './flushed-commits.ts'
import { NeedsOwnTransaction } from './limited-reads.ts'
import { retryWhileBusy } from './retry-while-busy.ts'
import { inSavepoint } from './savepoint.ts'
import { checkMs, commitsPerCheck, type WalCheckpointer } from './wal-checkpointer.ts'
import type { Job } from './write-job.ts'
import { WriterFairness } from './writer-fairness.ts'

const none: readonly never[] = []

/**
 * Runs operations in one transaction, one after another. Each is undone alone if it fails, and answered after the commit. When
 * an error ends the shared transaction, each operation is run again in a transaction of its own.
 */
export class GroupCommit {
  readonly #connection: Connection
  readonly #limits: Limits
  readonly #notifier: ChangeNotifier
  /** Undefined for a database in memory. */
  readonly #checkpointer: WalCheckpointer | undefined
  readonly #fairness = new WriterFairness()
  #checkpointing: Promise<void> | undefined
  /** The number of commits since the size of the WAL was checked, and the time of that check. */
  #commits = 0
  #checkedAt = 0
  /** The number of the last log row of the open transaction, where it is known. */
  #lastLogRow: number | undefined
  /** Undefined if the commit itself waits for the disk, and in memory. */
  flushed: FlushedCommits | undefined
  /** The bytes of the rows that the open transaction has written. */
  #writtenBytes = 0
  /** Whether the open transaction has written. */
  hasWritten = false
  /** Set where there is a change log. */
  marker: OperationMarker | undefined

  constructor(
    connection: Connection,
    limits: Limits,
    notifier: ChangeNotifier,
    checkpointer: WalCheckpointer | undefined,
  ) {
    this.#connection = connection
    this.#limits = limits
    this.#notifier = notifier
    this.#checkpointer = checkpointer
  }

  /**
   * Begins a transaction, synchronously if possible. False: the lock was not free in time, and all jobs were rejected and removed
   * from the list.
   */
  begin(jobs: Job[]): true | Promise<boolean> {
    this.#lastLogRow = undefined
    this.#writtenBytes = 0
    this.hasWritten = false
    const pause = this.#checkpointing ?? this.#fairness.next(performance.now())
    this.#checkpointing = undefined
    if (pause) return this.#beginAfter(pause, jobs)
    try {
      this.#connection.begin(jobs)
      return true
    } catch (error) {
      return isBusy(error) ? this.#beginAfter(undefined, jobs) : refuse(jobs, error)
    }
  }

  /** Waits while another program holds the write lock; after `busyTimeoutMs` all of these jobs are rejected. */
  async #beginAfter(pause: Promise<void> | undefined, jobs: Job[]): Promise<boolean> {
    try {
      await pause
      await retryWhileBusy(
        () => this.#connection.begin(jobs),
        this.#limits.busyTimeoutMs,
        () => this.#fairness.contended(performance.now()),
      )
      return true
    } catch (error) {
      return refuse(jobs, error)
    }
  }

  /**
   * Runs jobs in the transaction that has begun, and commits it. Returns those that would have made it too long, or that need
   * one of their own.
   * `careful`: every job runs in a savepoint, also a single statement.
   */
  async run(given: readonly Job[], careful = false): Promise<readonly Job[]> {
    const done: Job[] = []
    const failed: [Job, unknown][] = []
    const alone: Job[] = []
    let jobs = given
    let left: readonly Job[] = none
    const begun = performance.now()
    let resumed = begun
    for (let index = 0; index < given.length; index++) {
      const job = given[index] as Job
      const now = performance.now()
      const isLong = this.#writtenBytes > bounds.maxTransactionBytes || now - begun > bounds.maxTransactionMs
      if (isLong && index > 0) {
        jobs = given.slice(0, index)
        left = given.slice(index)
        break
      }
      if (now - resumed > bounds.maxTurnMs) {
        await yieldToEventLoop()
        resumed = performance.now()
      }
      const hadWritten = this.hasWritten
      try {
        const value = (job.single ? careful : hadWritten)
          ? inSavepoint(this.#connection, () => this.#run(job))
          : this.#run(job)
        job.value = value instanceof Promise ? await value : value
        done.push(job)
      } catch (error) {
        if (error instanceof NeedsOwnTransaction) {
          alone.push({ ...job, isExclusive: true })
          continue
        }
        if (!this.#connection.inTransaction || isOutOfRange(error)) return this.#replay(jobs, left, error)
        if (job.single && !careful && isConstraint(error) && hasFailClause(this.#connection))
          return this.#repeat(jobs, error)
        failed.push([job, error])
        if (job.single || hadWritten || !this.hasWritten) continue
        // The failed job was the first that wrote, so a rollback undoes nothing else.
        this.#rollback()
        this.#settle(done, failed)
        return [...alone, ...given.slice(index + 1)]
      }
    }
    try {
      await this.#commit()
    } catch (error) {
      if (!(error instanceof FlushFailed)) return this.#replay(jobs, left, error)
      for (const job of done.splice(0)) failed.push([job, error])
    }
    const atOnce = this.#writtenBytes > bounds.answeredBytes ? 1 : bounds.answeredAtOnce
    for (; done.length > atOnce; await yieldToEventLoop())
      for (const { settled, value } of done.splice(0, atOnce)) settled.resolve(value)
    this.#settle(done, failed)
    return alone.length === 0 ? left : [...alone, ...left]
  }

  /** Throws FlushFailed after the commit, any other error before it. */
  async #commit(): Promise<void> {
    const isLarge = this.#writtenBytes > bounds.answeredBytes
    if (isLarge) await eventLoopTurn.end()
    if (this.flushed && this.hasWritten) await this.flushed.commit(this.#writtenBytes)
    else this.#connection.exec('commit')
    if (isLarge) await eventLoopTurn.end()
  }

  #settle(done: readonly Job[], failed: readonly [Job, unknown][]): void {
    for (const { settled, value } of done) settled.resolve(value)
    for (const [{ settled }, error] of failed) settled.reject(sqliteError(error))
    const now = performance.now()
    this.#fairness.endedAt = now
    if (done.length === 0) return
    if (this.#notifier.hasListeners) this.#notifier.call()
    const isEarly = ++this.#commits < commitsPerCheck
    if (isEarly && now - this.#checkedAt < checkMs) return
    if (!isEarly) this.#commits = 0
    this.#checkedAt = now
    this.#checkpointing = this.#checkpointer?.check(isEarly)
  }

  /** Rolls back the batch and runs it again, each statement in a savepoint. */
  async #repeat(jobs: readonly Job[], error: unknown): Promise<readonly Job[]> {
    if (jobs.length === 1) return this.#replay(jobs, none, error)
    this.#rollback()
    return (await this.begin([...jobs])) ? this.run(jobs, true) : none
  }

  /** Rolls back the batch and runs each job in its own transaction, so that only the failing one is rejected. Returns `left`. */
  async #replay(jobs: readonly Job[], left: readonly Job[], error: unknown): Promise<readonly Job[]> {
    this.#rollback()
    if (jobs.length === 1 && !isOutOfRange(error)) jobs[0]?.settled.reject(sqliteError(error))
    else
      for (const again = [...jobs]; again.length > 0 && (await this.begin(again)); )
        if (await this.runAlone(again[0] as Job)) again.shift()
    return left
  }

  /** False: the job must run again, because a statement returned integers that are now read as big integers. */
  async runAlone(job: Job): Promise<boolean> {
    try {
      job.value = await this.#run(job)
      await this.#commit()
      this.#settle([job], [])
    } catch (error) {
      this.#rollback()
      if (isOutOfRange(error) && job.runs++ < bounds.maxRuns) return false
      job.settled.reject(sqliteError(error))
    }
    return true
  }

  #rollback(): void {
    if (this.#connection.inTransaction) this.#connection.exec('rollback')
  }

  /**
   * Gives the log rows of one operation a common number, distinct from others in the same transaction. Nothing else writes
   * to the log in between, so the last row of one operation precedes the first of the next.
   */
  #run(job: Job): MaybePromise<unknown> {
    // The rows of a single statement without an origin are not marked.
    const marker = job.single && job.origin === undefined ? undefined : this.marker
    const before = marker ? (this.#lastLogRow ?? marker.last()) : 0
    this.#lastLogRow = undefined // what fails is rolled back
    if (!job.single) marker?.begin(before, job.origin)
    const value = job.run ? job.run(this.#query) : this.#query(job.text, job.values)
    if (!marker) return value
    if (value instanceof Promise)
      return value.then((value) => {
        this.#lastLogRow = marker.end(before, job.origin)
        return value
      })
    this.#lastLogRow = marker.end(before, job.origin)
    return value
  }

  readonly #query: Query = (text, values, options): readonly Row[] => {
    if (options?.budget) return this.#connection.read(text, values, options.budget)
    const rows = this.#connection.all(text, values)
    if (text.startsWith('select')) return rows
    this.hasWritten = true
    let [bound, stored] = [0, 0]
    for (const value of values) if (typeof value === 'string') bound += value.length
    // Also what an update leaves as it is: the log has it twice, and the answer once.
    for (const row of rows) for (const value of row) if (typeof value === 'string') stored += value.length
    this.#writtenBytes += Math.max(bound, stored)
    return rows
  }
}

function refuse(jobs: Job[], error: unknown): Promise<false> {
  for (const { settled } of jobs.splice(0)) settled.reject(sqliteError(error))
  return Promise.resolve(false)
}

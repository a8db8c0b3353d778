import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { yieldToEventLoop } from '../../../support/yield-to-event-loop.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import { DatabaseError, type Query, type Row } from '../../driver.ts'
import type { WriteOrigin } from '../../write-origin.ts'
import type { OperationMarker } from '../change-log/operation-marker.ts'
import { isBusy, isConstraint, isOutOfRange, sqliteError } from '../errors.ts'
import { bounds } from './commit-bounds.ts'
import type { Connection } from './connection.ts'
import { hasFailClause } from './fail-clause.ts'
import { retryWhileBusy } from './retry-while-busy.ts'
import { inSavepoint } from './savepoint.ts'
import { checkMs, commitsPerCheck, type WalCheckpointer } from './wal-checkpointer.ts'
import { type Job, type JobOptions, takeOverdue, type Work } from './write-job.ts'
import { WriterFairness } from './writer-fairness.ts'

/**
 * Runs all writes of this process, strictly one operation after another. Operations that arrive in one turn of the event
 * loop share a transaction; each is undone alone if it fails, and acknowledged after the commit. When an error ends the
 * shared transaction, each operation is run again in a transaction of its own.
 */
export class GroupCommitQueue {
  readonly #connection: Connection
  readonly #limits: Limits
  readonly #notifier: ChangeNotifier
  /** Undefined for a database in memory. */
  readonly #checkpointer: WalCheckpointer | undefined
  readonly #fairness = new WriterFairness()
  readonly #queue: Job[] = []
  #exclusive = 0
  #isDraining = false
  /** Queued writes that wait for others to join them, and the turns since the first. */
  #gathered = 0
  #gatherTurns = 0
  #drained: PromiseWithResolvers<void> | undefined
  #checkpointing: Promise<void> | undefined
  /** Since the last check of the write-ahead log, and the time of that check. */
  #commits = 0
  #checkedAt = 0
  /** The number of the last log row of the open transaction, where it is known. */
  #lastLogRow: number | undefined
  /** Of the values of the open transaction. */
  #writtenBytes = 0
  #closed = false
  /** Set where there is a change log. */
  marker: OperationMarker | undefined

  constructor(connection: Connection, limits: Limits, notifier: ChangeNotifier, checkpointer?: WalCheckpointer) {
    this.#connection = connection
    this.#limits = limits
    this.#notifier = notifier
    this.#checkpointer = checkpointer
  }

  write(text: string, values: readonly unknown[], origin: WriteOrigin | undefined): Promise<readonly Row[]> {
    return this.#add(undefined, text, values, true, origin, false) as Promise<readonly Row[]>
  }

  run<T>(run: (query: Query) => MaybePromise<T>, { single, origin, isExclusive = false }: JobOptions): Promise<T> {
    return this.#add(run, '', [], single, origin, isExclusive) as Promise<T>
  }

  #add(
    run: Work | undefined,
    text: string,
    values: readonly unknown[],
    single: boolean,
    origin: WriteOrigin | undefined,
    isExclusive: boolean,
  ): Promise<unknown> {
    if (this.#closed) return Promise.reject(new DatabaseError({ kind: 'lost' }, 'The database is closed'))
    const { maxQueuedWrites } = this.#limits
    if (this.#queue.length >= maxQueuedWrites)
      return Promise.reject(new DatabaseError({ kind: 'busy' }, `More than ${maxQueuedWrites} writes are queued`))
    if (isExclusive) this.#exclusive++
    const settled = Promise.withResolvers<unknown>()
    const queuedAt = performance.now()
    this.#queue.push({ run, text, values, single, origin, isExclusive, queuedAt, settled, value: undefined, runs: 0 })
    if (!this.#isDraining) {
      this.#isDraining = true
      setImmediate(this.#gather)
    }
    return settled.promise
  }

  /** A commit takes the time of some twenty writes: as long as each turn of the event loop brings further ones, it waits. */
  readonly #gather = (): void => {
    const { length } = this.#queue
    const isOver = performance.now() - (this.#queue[0] as Job).queuedAt > bounds.maxGatherMs
    if (length > this.#gathered && ++this.#gatherTurns <= bounds.maxGatherTurns && !isOver) {
      this.#gathered = length
      setImmediate(this.#gather)
      return
    }
    this.#gathered = 0
    this.#gatherTurns = 0
    void this.#drain()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const begun = this.#begin(this.#queue)
        if (begun === true || (await begun)) {
          if (this.#exclusive === 0) await this.#batch(this.#queue.splice(0, bounds.maxBatch))
          else await this.#next()
        }
        if (this.#queue.length > 0) await yieldToEventLoop()
      }
    } finally {
      this.#isDraining = false
      this.#drained?.resolve()
    }
  }

  /** Runs the first jobs of the queue in the transaction that has begun: an exclusive one, or those before it. */
  async #next(): Promise<void> {
    const first = this.#queue.findIndex(({ isExclusive }) => isExclusive)
    if (first !== 0) return this.#batch(this.#queue.splice(0, Math.min(first, bounds.maxBatch)))
    this.#exclusive--
    const job = this.#queue.shift() as Job
    const overdue = setInterval(() => {
      for (const late of takeOverdue(this.#queue, this.#limits.busyTimeoutMs)) {
        if (late.isExclusive) this.#exclusive--
        late.settled.reject(new DatabaseError({ kind: 'busy' }, 'A transaction holds the writer'))
      }
    }, bounds.overdueCheckMs)
    try {
      while (!(await this.#alone(job)) && (await this.#begin([job])));
    } finally {
      clearInterval(overdue)
    }
  }

  /** Begins a transaction, at once where nothing is in the way. */
  #begin(jobs: Job[]): true | Promise<boolean> {
    this.#lastLogRow = undefined
    this.#writtenBytes = 0
    const pause = this.#checkpointing ?? this.#fairness.next(performance.now())
    this.#checkpointing = undefined
    if (pause) return this.#beginAfter(pause, jobs)
    try {
      this.#connection.begin(jobs)
      return true
    } catch (error) {
      return isBusy(error) ? this.#beginAfter(undefined, jobs) : this.#refuse(jobs, error)
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
      return this.#refuse(jobs, error)
    }
  }

  async #refuse(jobs: Job[], error: unknown): Promise<false> {
    if (jobs === this.#queue) this.#exclusive = 0
    for (const { settled } of jobs.splice(0)) settled.reject(sqliteError(error))
    return false
  }

  /** `careful`: every job runs in a savepoint, also a single statement. */
  async #batch(given: readonly Job[], careful = false): Promise<void> {
    const done: Job[] = []
    const failed: [Job, unknown][] = []
    let jobs = given
    const begun = performance.now()
    let resumed = begun
    for (let index = 0; index < given.length; index++) {
      const job = given[index] as Job
      const now = performance.now()
      const isLong = this.#writtenBytes > bounds.maxTransactionBytes || now - begun > bounds.maxTransactionMs
      if (isLong && index > 0) {
        this.#queue.unshift(...given.slice(index))
        jobs = given.slice(0, index)
        break
      }
      if (now - resumed > bounds.maxTurnMs) {
        await yieldToEventLoop()
        resumed = performance.now()
      }
      try {
        const value = job.single && !careful ? this.#run(job) : inSavepoint(this.#connection, () => this.#run(job))
        job.value = value instanceof Promise ? await value : value
        done.push(job)
      } catch (error) {
        if (!this.#connection.inTransaction || isOutOfRange(error)) return this.#replay(jobs, error)
        if (job.single && !careful && isConstraint(error) && hasFailClause(this.#connection))
          return this.#repeat(jobs, error)
        failed.push([job, error])
      }
    }
    try {
      if (performance.now() - begun > bounds.maxTurnMs) await this.#checkpointer?.sync()
      else if (this.#writtenBytes > bounds.answeredBytes) await eventLoopTurn.end()
      this.#connection.exec('commit')
    } catch (error) {
      return this.#replay(jobs, error)
    }
    const atOnce = this.#writtenBytes > bounds.answeredBytes ? 1 : bounds.answeredAtOnce
    for (; done.length > atOnce; await yieldToEventLoop())
      for (const { settled, value } of done.splice(0, atOnce)) settled.resolve(value)
    this.#settle(done, failed)
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
  async #repeat(jobs: readonly Job[], error: unknown): Promise<void> {
    if (jobs.length === 1) return this.#replay(jobs, error)
    this.#rollback()
    if (await this.#begin([...jobs])) await this.#batch(jobs, true)
  }

  /** Rolls back the batch and runs each job in its own transaction, so that only the failing one is rejected. */
  async #replay(jobs: readonly Job[], error: unknown): Promise<void> {
    this.#rollback()
    if (jobs.length === 1 && !isOutOfRange(error)) return (jobs[0] as Job).settled.reject(sqliteError(error))
    for (const left = [...jobs]; left.length > 0; ) {
      if (!(await this.#begin(left))) return
      if (await this.#alone(left[0] as Job)) left.shift()
    }
  }

  /** False: the job must run again, because a statement returned integers that are now read as big integers. */
  async #alone(job: Job): Promise<boolean> {
    const begun = performance.now()
    try {
      job.value = await (job.single ? this.#run(job) : inSavepoint(this.#connection, () => this.#run(job)))
      if (performance.now() - begun > bounds.maxTurnMs) await this.#checkpointer?.sync()
      else if (this.#writtenBytes > bounds.answeredBytes) await eventLoopTurn.end()
      this.#connection.exec('commit')
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
    for (const value of values) if (typeof value === 'string') this.#writtenBytes += value.length
    return options?.budget ? this.#connection.read(text, values, options.budget) : this.#connection.all(text, values)
  }

  /** Finishes accepted operations and rejects new ones. */
  async close(): Promise<void> {
    this.#closed = true
    if (!this.#isDraining) return
    this.#drained ??= Promise.withResolvers()
    await this.#drained.promise
  }
}

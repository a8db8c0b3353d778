import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { yieldToEventLoop } from '../../../support/yield-to-event-loop.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import { closingMs } from '../../closing-ms.ts'
import { DatabaseError, type Query, type Row } from '../../driver.ts'
import type { WriteOrigin } from '../../write-origin.ts'
import type { OperationMarker } from '../change-log/operation-marker.ts'
import { bounds } from './commit-bounds.ts'
import type { Connection } from './connection.ts'
import type { FlushedCommits } from './flushed-commits.ts'
import { GroupCommit } from './group-commit.ts'
import type { WalCheckpointer } from './wal-checkpointer.ts'
import { type Job, type JobOptions, takeOverdue, type Work } from './write-job.ts'

/**
 * All writes of this process, which run strictly one operation after another. Operations that arrive in one turn of the event
 * loop, and in turns that follow it, share a transaction.
 */
export class GroupCommitQueue {
  readonly #limits: Limits
  readonly #commit: GroupCommit
  readonly #queue: Job[] = []
  #isDraining = false
  #drained: PromiseWithResolvers<void> | undefined
  #closed = false
  /** Why writes are rejected; undefined: they are not. */
  refusal: DatabaseError | undefined

  constructor(connection: Connection, limits: Limits, notifier: ChangeNotifier, checkpointer?: WalCheckpointer) {
    this.#limits = limits
    this.#commit = new GroupCommit(connection, limits, notifier, checkpointer)
  }

  /** Whether writes are queued, or their commit has not ended. */
  get isBusy(): boolean {
    return this.#isDraining
  }

  /** Set where there is a change log. */
  set marker(marker: OperationMarker) {
    this.#commit.marker = marker
  }

  /** Set where a commit need not wait for the disk. */
  set flushed(flushed: FlushedCommits | undefined) {
    this.#commit.flushed = flushed
  }

  /** Whether the open transaction has written. */
  get hasWritten(): boolean {
    return this.#commit.hasWritten
  }

  write(text: string, values: readonly unknown[], origin: WriteOrigin | undefined): Promise<readonly Row[]> {
    return this.#add(undefined, text, values, true, origin, false) as Promise<readonly Row[]>
  }

  run<T>(run: (query: Query) => MaybePromise<T>, options: JobOptions): Promise<T> {
    const { single, origin, isExclusive = false, isFirst = false } = options
    const { length } = this.#queue
    const result = this.#add(run, '', [], single, origin, isExclusive) as Promise<T>
    if (isFirst && this.#queue.length > length) this.#queue.unshift(this.#queue.pop() as Job)
    return result
  }

  get isClosed(): boolean {
    return this.#closed
  }

  #add(
    run: Work | undefined,
    text: string,
    values: readonly unknown[],
    single: boolean,
    origin: WriteOrigin | undefined,
    isExclusive: boolean,
  ): Promise<unknown> {
    if (this.#closed) return Promise.reject(closed())
    if (this.refusal) return Promise.reject(this.refusal)
    const { maxQueuedWrites } = this.#limits
    if (this.#queue.length >= maxQueuedWrites)
      return Promise.reject(new DatabaseError({ kind: 'busy' }, `More than ${maxQueuedWrites} writes are queued`))
    const settled = Promise.withResolvers<unknown>()
    const queuedAt = performance.now()
    this.#queue.push({ run, text, values, single, origin, isExclusive, queuedAt, settled, value: undefined, runs: 0 })
    if (!this.#isDraining) {
      this.#isDraining = true
      void this.#drain()
    }
    return settled.promise
  }

  /** Waits for more writes as long as each turn of the event loop brings some: a commit takes as long as some twenty writes. */
  async #gather(): Promise<void> {
    const begun = performance.now()
    let gathered = 0
    for (let turn = 0; turn <= bounds.maxGatherTurns; turn++) {
      await yieldToEventLoop()
      const { length } = this.#queue
      if (length === gathered || performance.now() - begun > bounds.maxGatherMs) return
      gathered = length
    }
  }

  async #drain(): Promise<void> {
    const queue = this.#queue
    try {
      while (queue.length > 0) {
        await this.#gather()
        const begun = this.#commit.begin(queue)
        if (begun === true || (await begun)) {
          // Jobs before an exclusive one share the transaction; the exclusive one has its own.
          let count = 0
          while (count < bounds.maxBatch && queue[count]?.isExclusive === false) count++
          if (count === 0) await this.#runExclusive(queue.shift() as Job)
          else queue.unshift(...(await this.#commit.run(queue.splice(0, count))))
        }
      }
    } finally {
      this.#isDraining = false
      this.#drained?.resolve()
    }
  }

  async #runExclusive(job: Job): Promise<void> {
    const overdue = setInterval(() => {
      for (const { settled } of takeOverdue(this.#queue, this.#limits.busyTimeoutMs))
        settled.reject(new DatabaseError({ kind: 'busy' }, 'A transaction holds the writer'))
    }, bounds.overdueCheckMs)
    try {
      while (!(await this.#commit.runAlone(job)) && (await this.#commit.begin([job])));
    } finally {
      clearInterval(overdue)
    }
  }

  /** Rejects new operations and, after a time, those that still wait. Resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#closed = true
    if (!this.#isDraining) return
    this.#drained ??= Promise.withResolvers()
    const timer = setTimeout(() => {
      for (const { settled } of this.#queue.splice(0)) settled.reject(closed())
    }, closingMs(this.#limits))
    await this.#drained.promise
    clearTimeout(timer)
  }
}

const closed = (): DatabaseError => new DatabaseError({ kind: 'lost' }, 'The database is closed')

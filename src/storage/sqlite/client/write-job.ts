import type { MaybePromise } from '../../../support/maybe-promise.ts'
import type { Query } from '../../driver.ts'
import type { WriteOrigin } from '../../write-origin.ts'

export type Work = (query: Query) => MaybePromise<unknown>

/** One operation in the queue of the writer. */
export interface Job {
  /** Undefined: the one statement `text`. */
  readonly run: Work | undefined
  readonly text: string
  readonly values: readonly unknown[]
  /** One statement is undone by SQLite when it fails; several need a savepoint. */
  readonly single: boolean
  readonly origin: WriteOrigin | undefined
  /** Its transaction is shared with no other job: it may wait for code of the application. */
  readonly isExclusive: boolean
  readonly queuedAt: number
  readonly settled: PromiseWithResolvers<unknown>
  /** Its result, with which it resolves after the commit. */
  value: unknown
  /** Number of reruns because of large integers. */
  runs: number
}

export interface JobOptions {
  readonly single: boolean
  readonly origin: WriteOrigin | undefined
  readonly isExclusive?: boolean
  readonly isFirst?: boolean
}

/** Writes do not wait for a transaction of the application any longer than for another program. */
export function takeOverdue(queue: Job[], busyTimeoutMs: number): readonly Job[] {
  const oldest = performance.now() - busyTimeoutMs
  const { overdue = [], others = [] } = Object.groupBy(queue, ({ queuedAt }) =>
    queuedAt < oldest ? 'overdue' : 'others',
  )
  if (overdue.length > 0) queue.splice(0, queue.length, ...others)
  return overdue
}

import type { Change, Position } from '../protocol/change.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Query } from './driver.ts'

export interface ChangeBatch {
  /** Whole operations, in the order of the log. */
  readonly changes: readonly Change[]
  /** The position for the next read, also when the batch is empty. */
  readonly position: Position
  /** Approximate memory of the images, if they were read for this batch alone. */
  readonly bytes?: number
}

/** The changes that a trim does not delete. */
export interface Keep {
  readonly ageMs: number
  readonly rows: number
  /** The bytes of the images; absent: unlimited. */
  readonly bytes?: number
  /** Limits for changes that a job has not handled yet. Absent: such changes are trimmed like others. */
  readonly forJobs?: Omit<Keep, 'forJobs'>
}

/** Selects models by name; without it all are wanted. */
export type IsWanted = (model: string) => boolean

/** Committed changes in commit order. All subscriptions read from it. */
export interface ChangeLog {
  /** The position after the last committed change. */
  head(): MaybePromise<Position>
  /** The position before the oldest change that is still kept. */
  tail(): MaybePromise<Position>
  /**
   * Reads about `limit` changes after a position; operations are never divided. 'reset': the position was trimmed or belongs to
   * another history, and the reader must start from a new snapshot. Changes of models that are not wanted are skipped without
   * being decoded.
   */
  read(after: Position, limit: number, isWanted?: IsWanted): MaybePromise<ChangeBatch | 'reset'>
  /** Whether a snapshot at this position includes the change. */
  includes(position: Position, change: Change): boolean
  /** Whether everything before `target` was seen at `position`. Undefined if `target` is not a position of this log. */
  reaches(position: Position, target: Position): boolean | undefined
  /** Calls back soon after a commit. A hint only: it may be called without a new change, and does not replace a read. */
  onChange(listener: () => void): Disposable
  /** Whether the position can still be read from: it was not trimmed, and is of this history. */
  isKept(position: Position): MaybePromise<boolean>
  /**
   * What a position is in the present history of the server, if it was stored in the database: what a crash or a promotion leaves of
   * the database contains every change before a position that it contains. Absent: the history of the server never changes.
   */
  renewed?(position: Position, query?: Query): MaybePromise<Position>
  /** Deletes changes older than `ageMs`, and the oldest ones above `rows` and `bytes`. */
  trim(keep: Keep): Promise<void>
  /**
   * The approximate size of the stored log in bytes. It is cheap: only what was written since the last call is counted. Absent:
   * the log is not limited by bytes.
   */
  size?(): MaybePromise<number>
  /**
   * The tables whose changes are no longer captured, because another program has dropped or disabled their triggers. Absent: no
   * other program can.
   */
  uncaptured?(): MaybePromise<readonly string[]>
  /** Which changes the log cannot contain, as a text for the operator; undefined if it contains all of them. */
  readonly limitation: string | undefined
}

/** A log in a table: its head can be read in the same snapshot as records. */
export interface SqlChangeLog extends ChangeLog {
  /** The position of the snapshot that this query reads. */
  headIn(query: Query): MaybePromise<Position>
}

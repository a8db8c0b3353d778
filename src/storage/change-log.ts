import type { Change, Position } from '../protocol/change.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Query } from './driver.ts'

export interface ChangeBatch {
  /** Whole operations, in the order of the log. */
  readonly changes: readonly Change[]
  /** The position for the next read, also when the batch is empty. */
  readonly position: Position
  /** About what the images of the changes take in memory, where they were read for this batch alone. */
  readonly bytes?: number
}

/** What a trim leaves. */
export interface Keep {
  readonly ageMs: number
  readonly rows: number
  /** Of the images; without it they are not bounded. */
  readonly bytes?: number
  /** The bounds for changes that a job has yet to handle; without it none are kept for jobs. */
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
   * About `limit` changes after a position, always whole operations. 'reset': the position was trimmed or belongs to
   * another history, and the reader must start from a new snapshot. Changes of models that are not wanted are left out
   * without being decoded.
   */
  read(after: Position, limit: number, isWanted?: IsWanted): MaybePromise<ChangeBatch | 'reset'>
  /** Whether a snapshot with this position contains the change already. */
  includes(position: Position, change: Change): boolean
  /** Whether a reader at a position has passed another; undefined: that is not a position of this log. */
  reaches(position: Position, target: Position): boolean | undefined
  /** Calls back soon after a commit. A hint only: it may be called without a new change, and does not replace a read. */
  onChange(listener: () => void): Disposable
  /** Whether the position can still be read from: it was not trimmed, and is of this history. */
  isKept(position: Position): MaybePromise<boolean>
  /** Deletes changes older than `ageMs`, and the oldest ones above `rows` and `bytes`. */
  trim(keep: Keep): Promise<void>
  /**
   * About how many bytes it takes where it is stored, at little cost: what was written since it was asked for is counted.
   * Absent: its bytes are not bounded.
   */
  size?(): MaybePromise<number>
  /**
   * The tables of models whose changes are not captured any more, since another program has dropped or disabled their triggers.
   * Absent: no other program can.
   */
  uncaptured?(): MaybePromise<readonly string[]>
  /** The changes that the log cannot contain, as text for the operator; undefined when it contains all of them. */
  readonly limitation: string | undefined
}

/** A log in a table: its head can be read in the same snapshot as records. */
export interface SqlChangeLog extends ChangeLog {
  /** The position of the snapshot that this query reads. */
  headIn(query: Query): MaybePromise<Position>
}

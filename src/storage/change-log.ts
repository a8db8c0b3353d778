import type { Change, Position } from '../protocol/change.ts'
import type { Maybe } from '../support/maybe.ts'
import type { Query } from './driver.ts'

export interface ChangeBatch {
  /** Whole operations, in the order of the log. */
  readonly changes: readonly Change[]
  /** Where the next read goes on, also when there was nothing to read. */
  readonly position: Position
}

/** By the name of a model; without it all are. */
export type IsWanted = (model: string) => boolean

/** What happened, in the order of the commits. Everything live reads it. */
export interface ChangeLog {
  /** The place behind all that is committed now. */
  head(): Maybe<Position>
  /** The place before the oldest change that is still there. */
  tail(): Maybe<Position>
  /**
   * The changes after a place: about `limit` of them, never part of an operation. 'reset': the place is gone, or
   * belongs to another history, and the reader must start from a fresh snapshot. Changes of models that are not wanted
   * are left out: what is not told to anybody need not be understood.
   */
  read(after: Position, limit: number, isWanted?: IsWanted): Maybe<ChangeBatch | 'reset'>
  /** Whether what was read at a place holds a change already. */
  covers(position: Position, change: Change): boolean
  /** Calls back soon after there may be something new. A hint: it may come for nothing, and is no replacement for a read. */
  onWake(listener: () => void): Disposable
  /** Lets go of changes that are older than this, and of the oldest past the number of rows. */
  trim(keep: { readonly ageMs: number; readonly rows: number }): Promise<void>
  /** What it cannot promise, for people; undefined when it holds every change anybody makes. */
  readonly caveat: string | undefined
}

/** A log that is a table: its head can be read together with other things. */
export interface SqlChangeLog extends ChangeLog {
  /** The place that belongs to the snapshot which this query reads. */
  headIn(query: Query): Maybe<Position>
}

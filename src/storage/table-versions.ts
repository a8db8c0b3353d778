import type { Json } from '../protocol/json.ts'

/** One record of a table. */
export interface RecordKey {
  readonly table: string
  /** Of the key. */
  readonly column: string
  readonly id: Json
}

/** Tells whether tables have changed since they were read, without reading them again. */
export interface TableVersions {
  /** False: for a bounded time, a version may miss what other programs have committed. */
  readonly isCurrent: boolean
  /**
   * A text that differs from an earlier one if any program has committed a change of one of the tables, or of the record,
   * in between. To be asked before the tables are read. It means nothing outside of this process. Undefined: that cannot be
   * told now. `isSeen`: what was committed since the last call need not be seen.
   */
  of(tables: readonly string[], record?: RecordKey, isSeen?: boolean): string | undefined
}

import type { Json } from '../protocol/json.ts'

/** One record of a table. */
export interface RecordKey {
  readonly table: string
  /** The column of the key. */
  readonly column: string
  readonly id: Json
}

/** Records of a table that follow one another in the order of the key: a page of all records. */
export interface PageKeys {
  readonly table: string
  /** The column of the key. */
  readonly column: string
  readonly ids: readonly Json[]
}

/** Tells whether tables have changed since they were read, without reading them again. */
export interface TableVersions {
  /** False: for a bounded time, a version may miss what other programs have committed. */
  readonly isCurrent: boolean
  /**
   * A text that differs from an earlier one if any program has committed a change of one of the tables, or of the record,
   * in between. To be asked before the tables are read. It means nothing outside of this process. Undefined: that is
   * not known now. `isSeen`: what was committed since the last call need not be seen.
   */
  of(tables: readonly string[], record?: RecordKey, isSeen?: boolean): string | undefined
  /**
   * As `of`, up to the changes that it has seen: differs if a record of the page was changed, or any record has come, gone or
   * got another key. Undefined, or absent: only the version of the table can tell.
   */
  ofPage?(page: PageKeys): string | undefined
}

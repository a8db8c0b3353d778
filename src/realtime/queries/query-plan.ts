import type { Condition, Sort } from '../../criteria/criteria.ts'
import type { Model } from '../../model/model.ts'
import type { Change, Position, RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import type { HeldRow } from './row-difference.ts'

/** What a read of the query has found. */
export interface QueryResult {
  readonly position: Position
  readonly rows: readonly HeldRow[]
  /** The rows as JSON text. */
  readonly texts: readonly string[]
  /** The length of all texts. */
  readonly length: number
  /** How many there are on all pages, when that was asked for. */
  readonly total: number | undefined
  /** Further rows may follow after the last one. */
  readonly hasMore: boolean
}

/** A query whose result follows from the images of changes, with the rules of its requester in its condition. */
export interface LocalQuery {
  readonly where: Condition
  readonly sort: readonly Sort[]
  readonly limit: number
  /** The row of a record in the answer, and what is kept of it. */
  textOf(record: JsonObject): string
  digestOf(text: string): string
}

/** A query for one view of the records. Requesters with equal plans share one computation. */
export interface QueryPlan {
  /** The content: equal for queries with the same result. */
  readonly key: string
  readonly model: Model
  /** Every record of the result fulfils it. */
  readonly where: Condition
  /** Undefined: the query is run again when a change may concern it. */
  readonly local: LocalQuery | undefined
  /** Other models whose records its result depends on. */
  readonly through: ReadonlySet<string>
  /** Whether a change may alter the result. `holds`: whether a record of the model is in it. */
  isConcernedBy(change: Change, holds: (id: RecordId) => boolean): boolean
  /** Reads one snapshot. */
  run(): MaybePromise<QueryResult>
}

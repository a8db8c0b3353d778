import { compareSorted, matches, sortValue } from '../../criteria/matches.ts'
import { matchesInTurns } from '../../criteria/matches-in-turns.ts'
import type { Change, RecordId } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { LocalQuery } from './query-plan.ts'
import type { HeldRow } from './row-difference.ts'

/** What a change did to the rows. `unknown`: a row that is not held may have come into the window. */
export type LocalEffect = 'none' | 'changed' | 'unknown'

/** Whether a record fulfils the condition before and after a change. */
export interface Matched {
  readonly before: boolean
  readonly after: boolean
}

/**
 * The rows of a query on the attributes of one model, maintained from the images of changes. If the result has more rows than the
 * page, the database is asked when a row leaves the page: the row that replaces it is not in memory.
 */
export class LocalRows {
  readonly #query: LocalQuery
  #rows: HeldRow[] = []
  #hasMore = false
  /** The rows that came or changed since `take`. */
  #texts: Map<RecordId, string> | undefined

  constructor(query: LocalQuery) {
    this.#query = query
  }

  get rows(): readonly HeldRow[] {
    return this.#rows
  }

  /** False: a row has no sort values, or the database sorts in another order than memory does. */
  reset(rows: readonly HeldRow[], hasMore: boolean): boolean {
    this.#rows = [...rows]
    this.#hasMore = hasMore
    this.#texts = undefined
    if (!rows.every((row) => row.sort)) return false
    return rows.every((row, index) => index === 0 || this.#compare(rows[index - 1] as HeldRow, row) < 0)
  }

  /** Returns the texts of rows that entered or changed since the last call. */
  take(): ReadonlyMap<RecordId, string> {
    const texts = this.#texts ?? noTexts
    this.#texts = undefined
    return texts
  }

  /** `matched` is the result of `matchInTurns`, if that was called. */
  apply({ id, before, after }: Change, matched?: Matched): LocalEffect {
    const { where } = this.#query
    const isIn = after !== undefined && (matched ? matched.after : matches(where, after))
    if (!isIn && !(before !== undefined && (matched ? matched.before : matches(where, before)))) return 'none'
    const place = this.#rows.findIndex((row) => row.id === id)
    if (isIn) return this.#put(id as RecordId, after, place)
    if (place === -1) return 'none'
    this.#rows.splice(place, 1)
    return this.#hasMore ? 'unknown' : 'changed'
  }

  /** For a change with long texts. */
  async matchInTurns({ before, after }: Change): Promise<Matched> {
    const { where } = this.#query
    return {
      before: before !== undefined && (await matchesInTurns(where, before)),
      after: after !== undefined && (await matchesInTurns(where, after)),
    }
  }

  #put(id: RecordId, record: JsonObject, place: number): LocalEffect {
    const sort = heldSortOf(record, this.#query)
    if (!sort) return 'unknown'
    const text = this.#query.textOf(record)
    const row = { id, digest: this.#query.digestOf(text), sort }
    const held = this.#rows[place]
    if (held) this.#rows.splice(place, 1)
    const next = this.#placeOf(row)
    // The row sorts after the last row of the page: it is on a later page, or another row of a later page precedes it.
    if (this.#hasMore && next === this.#rows.length) return held ? 'unknown' : 'none'
    this.#rows.splice(next, 0, row)
    if (this.#rows.length > this.#query.limit) {
      this.#rows.pop()
      this.#hasMore = true
      if (next === this.#rows.length) return 'none'
    }
    if (held && next === place && held.digest === row.digest) return 'none'
    this.#texts ??= new Map()
    this.#texts.set(id, text)
    return 'changed'
  }

  #placeOf(row: HeldRow): number {
    let [from, to] = [0, this.#rows.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.#compare(this.#rows[middle] as HeldRow, row) < 0) from = middle + 1
      else to = middle
    }
    return from
  }

  #compare(a: HeldRow, b: HeldRow): number {
    return compareSorted(a.sort as readonly Json[], b.sort as readonly Json[], this.#query.sort)
  }
}

const noTexts: ReadonlyMap<RecordId, string> = new Map()

export const sortValuesOf = (record: JsonObject, { sort }: Pick<LocalQuery, 'sort'>): readonly Json[] =>
  sort.map((item) => sortValue(item, record))

/** Every row of every query keeps its sort values: of at most so many characters. */
const longestSort = 255

/** Undefined where they are longer: a query with such a row is not maintained from images. */
export function heldSortOf(record: JsonObject, query: Pick<LocalQuery, 'sort'>): readonly Json[] | undefined {
  const values = sortValuesOf(record, query)
  const length = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
  return length > longestSort ? undefined : values
}

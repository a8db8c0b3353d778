import type { Json, JsonObject } from '../../protocol/json.ts'

type Placed<T> = readonly (readonly [index: number, T])[]

/** The data of a `diff` frame, parsed. */
export interface DifferenceData {
  readonly leave?: readonly Json[]
  readonly change?: readonly JsonObject[]
  readonly enter?: Placed<JsonObject>
  readonly move?: Placed<Json>
}

/** The rows after a difference: what leaves and moves is removed, and what enters and moves is inserted in ascending order. */
export function rowsAfter(
  rows: readonly JsonObject[],
  { leave = [], change = [], enter = [], move = [] }: DifferenceData,
  key: string,
): readonly JsonObject[] {
  const changed = new Map(change.map((row) => [row[key], row]))
  const current = (row: JsonObject): JsonObject => changed.get(row[key]) ?? row
  const byKey = new Map(rows.map((row) => [row[key], current(row)]))
  const removed = new Set([...leave, ...move.map(([, id]) => id)])
  const result = rows.filter((row) => !removed.has(row[key] as Json)).map(current)
  const inserted = [...enter, ...move.map(([index, id]) => [index, byKey.get(id) as JsonObject] as const)]
  for (const [index, row] of inserted.sort(([a], [b]) => a - b)) result.splice(index, 0, row)
  return result
}

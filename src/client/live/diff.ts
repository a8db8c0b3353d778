import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'

export type Rows = readonly JsonObject[]

/** The difference between the rows that a client holds and those at a later position. */
export interface Diff {
  readonly leave?: readonly RecordId[]
  readonly change?: Rows
  readonly enter?: readonly (readonly [index: number, record: JsonObject])[]
  readonly move?: readonly (readonly [index: number, id: RecordId])[]
}

/** The rows after a difference. Indexes are those of the final list. */
export function applyDiff(rows: Rows, { leave = [], change = [], enter = [], move = [] }: Diff, key: string): Rows {
  const changed = new Map([...rows, ...change].map((row) => [row[key], row]))
  const taken = new Set<RecordId>([...leave, ...move.map(([, id]) => id)])
  const result = rows
    .filter((row) => !taken.has(row[key] as RecordId))
    .map((row) => changed.get(row[key]) as JsonObject)
  const inserted = [...enter, ...move.map(([index, id]) => [index, changed.get(id)] as const)]
  for (const [index, row] of inserted.sort(([a], [b]) => a - b)) if (row) result.splice(index, 0, row)
  return result
}

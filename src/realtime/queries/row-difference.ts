import type { RecordId } from '../../protocol/change.ts'
import type { Json } from '../../protocol/json.ts'

/** What is kept of a row of a result. Rows with the same key and digest have the same values. */
export interface HeldRow {
  readonly id: RecordId
  readonly digest: string
  /** The values that the row is sorted by, where its place is found in memory. */
  readonly sort?: readonly Json[]
}

/** How one list of rows becomes another. `change`, `enter` and `move` are indexes in the later list. */
export interface RowDifference {
  readonly leave: readonly RecordId[]
  readonly change: readonly number[]
  readonly enter: readonly number[]
  readonly move: readonly number[]
}

/** Undefined when both lists are equal. As few rows as possible are moved. */
export function differenceOf(
  before: readonly Pick<HeldRow, 'id'>[],
  after: readonly HeldRow[],
  isChanged: (earlier: number, later: number) => boolean,
): RowDifference | undefined {
  const places = new Map(before.map(({ id }, index) => [id, index]))
  const change: number[] = []
  const enter: number[] = []
  /** Of the rows that stay: the place in the later list, and in the earlier one. */
  const kept: (readonly [later: number, earlier: number])[] = []
  for (const [index, { id }] of after.entries()) {
    const earlier = places.get(id)
    if (earlier === undefined) {
      enter.push(index)
      continue
    }
    places.delete(id)
    kept.push([index, earlier])
    if (isChanged(earlier, index)) change.push(index)
  }
  const move = movedIn(kept)
  const leave = [...places.keys()]
  return leave.length + change.length + enter.length + move.length === 0 ? undefined : { leave, change, enter, move }
}

/** The rows outside of the longest part that keeps its order. */
function movedIn(kept: readonly (readonly [later: number, earlier: number])[]): readonly number[] {
  if (kept.every(([, earlier], index) => index === 0 || earlier > (kept[index - 1] as readonly number[])[1]!)) return []
  /** For each length, the index in `kept` of the row that ends an increasing part of that length with the smallest place. */
  const ends: number[] = []
  const previous: number[] = []
  for (const [index, [, earlier]] of kept.entries()) {
    let [from, to] = [0, ends.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((kept[ends[middle] as number] as readonly number[])[1]! < earlier) from = middle + 1
      else to = middle
    }
    previous[index] = from === 0 ? -1 : (ends[from - 1] as number)
    ends[from] = index
  }
  const inOrder = new Set<number>()
  for (let index = ends.at(-1) ?? -1; index >= 0; index = previous[index] as number) inOrder.add(index)
  return kept.flatMap(([later], index) => (inOrder.has(index) ? [] : [later]))
}

/** The members of a difference as JSON text, each with a comma before it; empty members are left out. */
export function encodeDifference(
  { leave, change, enter, move }: RowDifference,
  after: readonly HeldRow[],
  textAt: (index: number) => string,
): string {
  const idAt = (index: number): string => JSON.stringify(after[index]?.id)
  return [
    member(
      'leave',
      leave.map((id) => JSON.stringify(id)),
    ),
    member('change', change.map(textAt)),
    member(
      'enter',
      enter.map((index) => `[${index},${textAt(index)}]`),
    ),
    member(
      'move',
      move.map((index) => `[${index},${idAt(index)}]`),
    ),
  ].join('')
}

const member = (name: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `,"${name}":[${items.join()}]`

import type { Association } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { compareValues } from './compare.ts'
import type { Condition, Sort } from './criteria.ts'

/** The records on the other side of an association. */
export type Neighbours = (association: Association, record: JsonObject) => readonly JsonObject[]

const alone: Neighbours = (association) => {
  throw new Error(`Bug in keelson: "${association.name}" needs more than the record itself`)
}

/** What a condition means. Every database is held to this. */
export function matches(condition: Condition, record: JsonObject, neighbours: Neighbours = alone): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((part) => matches(part, record, neighbours))
    case 'or':
      return condition.conditions.some((part) => matches(part, record, neighbours))
    case 'not':
      return !matches(condition.condition, record, neighbours)
    case 'related':
      return neighbours(condition.association, record).some((other) => matches(condition.condition, other, neighbours))
    case 'compare': {
      const { attribute, modifier, operand } = condition
      return modifier.matches(record[attribute.name] ?? null, operand, attribute)
    }
  }
}

/** What a record is sorted by. */
export const sortValue = ({ attribute, through }: Sort, record: JsonObject, neighbours: Neighbours = alone): Json =>
  (through ? neighbours(through, record)[0]?.[attribute.name] : record[attribute.name]) ?? null

/** The order of two lists of values that records are sorted by. */
export function compareSorted(a: readonly Json[], b: readonly Json[], sorts: readonly Sort[]): number {
  for (let index = 0; index < sorts.length; index++) {
    const { attribute, direction } = sorts[index] as Sort
    const order = compareValues(a[index] ?? null, b[index] ?? null, attribute)
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  return 0
}

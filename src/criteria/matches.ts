import type { Association } from '../model/model.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { compareValues } from './compare.ts'
import type { Condition, Sort } from './criteria.ts'

/** Finds the records of an association of a record. */
export type RelatedLookup = (association: Association, record: JsonObject) => readonly JsonObject[]

const unavailable: RelatedLookup = (association) => {
  throw new Error(`Bug in keelson: "${association.name}" needs related records`)
}

/** The reference meaning of a condition: tests compare every database with it. */
export function matches(condition: Condition, record: JsonObject, related: RelatedLookup = unavailable): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((part) => matches(part, record, related))
    case 'or':
      return condition.conditions.some((part) => matches(part, record, related))
    case 'not':
      return !matches(condition.condition, record, related)
    case 'related':
      return related(condition.association, record).some((other) => matches(condition.condition, other, related))
    case 'compare': {
      const { attribute, operator, operand } = condition
      return operator.matches(record[attribute.name] ?? null, operand, attribute)
    }
  }
}

/** The value of a record that a sort term compares. */
export const sortValue = (
  { attribute, through }: Sort,
  record: JsonObject,
  related: RelatedLookup = unavailable,
): Json => (through ? related(through, record)[0]?.[attribute.name] : record[attribute.name]) ?? null

/** Compares two lists of sort values. */
export function compareSorted(a: readonly Json[], b: readonly Json[], sorts: readonly Sort[]): number {
  for (let index = 0; index < sorts.length; index++) {
    const { attribute, direction } = sorts[index] as Sort
    const order = compareValues(a[index] ?? null, b[index] ?? null, attribute)
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  return 0
}

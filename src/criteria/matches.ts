import type { JsonObject } from '../protocol/json.ts'
import { compareValues } from './compare.ts'
import type { Condition, Sort } from './criteria.ts'

/** What a condition means. Every database is held to this. */
export function matches(condition: Condition, record: JsonObject): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.every((part) => matches(part, record))
    case 'or':
      return condition.conditions.some((part) => matches(part, record))
    case 'not':
      return !matches(condition.condition, record)
    case 'compare': {
      const { attribute, modifier, operand } = condition
      return modifier.matches(record[attribute.name] ?? null, operand, attribute)
    }
  }
}

/** The order of two records, for `Array.prototype.sort`. */
export function compareRecords(a: JsonObject, b: JsonObject, sorts: readonly Sort[]): number {
  for (const { attribute, direction } of sorts) {
    const order = compareValues(a[attribute.name] ?? null, b[attribute.name] ?? null, attribute)
    if (order !== 0) return direction === 'asc' ? order : -order
  }
  return 0
}

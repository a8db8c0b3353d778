import type { Json } from '../protocol/json.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { type Comparison, type Condition, leavesOf } from './criteria.ts'
import { equals } from './operators/equals.ts'
import { isIn } from './operators/in.ts'

/** The comparison that names the keys of all records that can match; of several, the one with the fewest. */
export function keysIn(where: Condition): Comparison | undefined {
  if (where.kind === 'compare')
    return where.attribute.isPrimaryKey && (where.operator === equals || where.operator === isIn) ? where : undefined
  if (where.kind !== 'and') return undefined
  let fewest: Comparison | undefined
  for (const condition of where.conditions) {
    const keys = keysIn(condition)
    if (keys && (!fewest || countOf(keys) < countOf(fewest))) fewest = keys
  }
  return fewest
}

const countOf = ({ operator, operand }: Comparison): number =>
  operator === isIn ? (operand as readonly Json[]).length : 1

/** The number of records that a condition can match, from the keys that it names. */
export function maxMatches(where: Condition): number {
  const keys = keysIn(where)
  return keys ? countOf(keys) : Number.POSITIVE_INFINITY
}

/** The condition, restricted to these of the keys that it names. */
export function withKeys(where: Condition, ids: readonly Json[]): Condition {
  const keys = keysIn(where)
  return keys ? replaced(where, keys, { ...keys, operator: isIn, operand: ids }) : where
}

function replaced(where: Condition, given: Comparison, other: Comparison): Condition {
  if (where === given) return other
  if (where.kind !== 'and') return where
  return { ...where, conditions: where.conditions.map((part) => replaced(part, given, other)) }
}

/**
 * The condition in parts, each for at most `size` of the keys that it names; a repeated key is in one part only. The condition
 * itself if it names no more keys than that, or none.
 */
export function* inParts(where: Condition, size: number): Generator<Condition> {
  const keys = keysIn(where)
  if (!keys || countOf(keys) <= size) yield where
  else for (const some of chunksOf([...new Set(keys.operand as readonly Json[])], size)) yield withKeys(where, some)
}

/** Whether records of other models decide a condition. */
export const readsRelated = (condition: Condition): boolean =>
  leavesOf(condition).some(({ kind }) => kind === 'related')

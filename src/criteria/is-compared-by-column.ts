import type { Comparison } from './criteria.ts'

/** Whether the database compares by rules of the column, which `matches` does not know. A search in a text knows the text only. */
export function isComparedByColumn({ attribute, operator, operand }: Comparison): boolean {
  const { foldsText, ownComparison } = attribute.stored
  if (foldsText) return true
  if (ownComparison === 'fraction') return !operator.ignoresFractions && operand !== null
  if (operator.isOrdering) return ownComparison !== 'none'
  return ownComparison === 'equality' && !operator.isText && operand !== null
}

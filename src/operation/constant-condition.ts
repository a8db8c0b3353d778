import type { Condition } from '../criteria/criteria.ts'

/** True or false where every record, or none, fulfils a condition whatever its values: `{ or: [{}, …] }`. Otherwise undefined. */
export function constantOf(condition: Condition): boolean | undefined {
  switch (condition.kind) {
    case 'and':
      return combined(condition.conditions, false)
    case 'or':
      return combined(condition.conditions, true)
    case 'not': {
      const constant = constantOf(condition.condition)
      return constant === undefined ? undefined : !constant
    }
    case 'related':
      // One that every record fulfils still requires that there is a record.
      return constantOf(condition.condition) === false ? false : undefined
    case 'compare': {
      const { operator, operand } = condition
      return Array.isArray(operand) && operand.length === 0 ? operator.name === 'nin' : undefined
    }
  }
}

/** One part that is `decisive` decides; without such, all must be constant. */
function combined(conditions: readonly Condition[], decisive: boolean): boolean | undefined {
  const constants = conditions.map(constantOf)
  if (constants.includes(decisive)) return decisive
  return constants.includes(undefined) ? undefined : !decisive
}

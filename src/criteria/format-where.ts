import type { Json } from '../protocol/json.ts'
import type { Condition } from './criteria.ts'
import { equals } from './operators/equals.ts'
import { sameJson } from './operators/same-json.ts'

/** A condition in the grammar of `where`: the inverse of `parseWhere`. */
export function formatWhere(condition: Condition): Json {
  switch (condition.kind) {
    case 'and':
      return condition.conditions.length === 0 ? {} : { and: condition.conditions.map(formatWhere) }
    case 'or':
      return { or: condition.conditions.map(formatWhere) }
    case 'not':
      return { not: formatWhere(condition.condition) }
    case 'related':
      return { [condition.association.name]: formatWhere(condition.condition) }
    case 'compare': {
      const { attribute, operator, operand } = condition
      return { [attribute.name]: operator === equals || operator === sameJson ? operand : { [operator.name]: operand } }
    }
  }
}

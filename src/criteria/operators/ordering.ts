import { raw, sql } from '../../sql/sql.ts'
import { compareValues } from '../compare.ts'
import type { Operator } from '../operator.ts'
import { parseOperand, refuse } from '../operator.ts'

type Test = (order: number) => boolean

const ordering = (name: string, alias: string, test: Test, ignoresFractions = false): Operator => ({
  name,
  aliases: [alias],
  isOrdering: true,
  ignoresFractions,
  parse(value, attribute) {
    if (!attribute.type.ordered || attribute.type.storedAs === 'boolean') {
      throw refuse(attribute, `"${name}" requires an ordered attribute: "${attribute.name}" is ${attribute.type.noun}`)
    }
    return parseOperand(value, attribute, name)
  },
  matches: (value, operand, attribute) => value !== null && test(compareValues(value, operand, attribute)),
  sql: (column, operand, attribute, dialect) =>
    sql`${raw(`${dialect.compared(attribute, column)} ${name} `)}${dialect.operand(attribute, operand)}`,
})

export const lessThan = ordering('<', 'lessThan', (order) => order < 0, true)
export const lessThanOrEqual = ordering('<=', 'lessThanOrEqual', (order) => order <= 0)
export const greaterThan = ordering('>', 'greaterThan', (order) => order > 0)
export const greaterThanOrEqual = ordering('>=', 'greaterThanOrEqual', (order) => order >= 0, true)

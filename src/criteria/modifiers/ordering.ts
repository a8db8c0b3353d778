import { raw, sql } from '../../sql/sql.ts'
import { compareValues } from '../compare.ts'
import type { Modifier } from '../modifier.ts'
import { parseOperand, refuse } from '../modifier.ts'

const ordering = (name: string, alias: string, holds: (order: number) => boolean): Modifier => ({
  name,
  aliases: [alias],
  parse(value, attribute) {
    if (!attribute.type.ordered || attribute.type.storedAs === 'boolean') {
      throw refuse(
        attribute,
        `"${attribute.name}" holds ${attribute.type.noun}, which has no order: "${name}" cannot be asked`,
      )
    }
    return parseOperand(value, attribute, name)
  },
  matches: (value, operand, attribute) => value !== null && holds(compareValues(value, operand, attribute)),
  sql: (column, operand, attribute, dialect) =>
    sql`${raw(`${dialect.compared(attribute, column)} ${name} `)}${dialect.operand(attribute, operand)}`,
})

export const lessThan = ordering('<', 'lessThan', (order) => order < 0)
export const lessThanOrEqual = ordering('<=', 'lessThanOrEqual', (order) => order <= 0)
export const greaterThan = ordering('>', 'greaterThan', (order) => order > 0)
export const greaterThanOrEqual = ordering('>=', 'greaterThanOrEqual', (order) => order >= 0)

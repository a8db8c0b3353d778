import { raw, sql } from '../../sql/sql.ts'
import type { Operator } from '../operator.ts'
import { assertComparable, parseOperand } from '../operator.ts'

/** Another value. Records with null do not match, unlike with the combination `not`. */
export const notEquals: Operator = {
  name: '!=',
  aliases: ['!', 'not'],
  parse(value, attribute) {
    if (value === null) return null
    assertComparable(attribute, '!=')
    return parseOperand(value, attribute, '!=')
  },
  matches: (value, operand) => (operand === null ? value !== null : value !== null && value !== operand),
  sql(column, operand, attribute, dialect) {
    if (operand === null) return raw(dialect.isNotNull(attribute, column))
    return sql`${raw(dialect.compared(attribute, column))} <> ${dialect.operand(attribute, operand)}`
  },
}

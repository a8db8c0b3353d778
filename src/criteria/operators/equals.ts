import { raw, sql } from '../../sql/sql.ts'
import type { Operator } from '../operator.ts'
import { comparable, parseOperand } from '../operator.ts'

/** The meaning of `{ name: 'Rex' }`. Null matches records without a value. */
export const equals: Operator = {
  name: '=',
  parse(value, attribute) {
    if (value === null) return null
    comparable(attribute, '=')
    return parseOperand(value, attribute, '=')
  },
  matches: (value, operand) => value === operand,
  sql(column, operand, attribute, dialect) {
    if (operand === null) return raw(dialect.isNull(attribute, column))
    return sql`${raw(dialect.compared(attribute, column))} = ${dialect.operand(attribute, operand)}`
  },
}

import { raw, sql } from '../../sql/sql.ts'
import type { Operator } from '../operator.ts'
import { parseOperand } from '../operator.ts'

/** The meaning of `{ name: 'Rex' }`. Null matches records without a value. JSON values are compared by `sameJson` instead. */
export const equals: Operator = {
  name: '=',
  parse(value, attribute) {
    return value === null ? null : parseOperand(value, attribute, '=')
  },
  matches: (value, operand) => value === operand,
  sql(column, operand, attribute, dialect) {
    if (operand === null) return raw(dialect.isNull(attribute, column))
    return sql`${raw(dialect.compared(attribute, column))} = ${dialect.operand(attribute, operand)}`
  },
}

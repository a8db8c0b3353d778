import { raw, sql } from '../../sql/sql.ts'
import type { Modifier } from '../modifier.ts'
import { comparable, parseOperand } from '../modifier.ts'

/** What `{ name: 'Rex' }` means; null asks for the records that have no value. */
export const equals: Modifier = {
  name: '=',
  parse(value, attribute) {
    if (value === null) return null
    comparable(attribute, '=')
    return parseOperand(value, attribute, '=')
  },
  matches: (value, operand) => value === operand,
  sql(column, operand, attribute, dialect) {
    if (operand === null) return raw(`${column} is null`)
    return sql`${raw(dialect.compared(attribute, column))} = ${dialect.operand(attribute, operand)}`
  },
}

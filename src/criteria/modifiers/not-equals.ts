import { raw, sql } from '../../sql/sql.ts'
import type { Modifier } from '../modifier.ts'
import { comparable, parseOperand } from '../modifier.ts'

/** Another value. A record without a value has no other value either: `not` asks for those as well. */
export const notEquals: Modifier = {
  name: '!=',
  aliases: ['!', 'not'],
  parse(value, attribute) {
    if (value === null) return null
    comparable(attribute, '!=')
    return parseOperand(value, attribute, '!=')
  },
  matches: (value, operand) => (operand === null ? value !== null : value !== null && value !== operand),
  sql(column, operand, attribute, dialect) {
    if (operand === null) return raw(`${column} is not null`)
    return sql`${raw(dialect.compared(attribute, column))} <> ${dialect.operand(attribute, operand)}`
  },
}

import type { Attribute } from '../../model/model.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import { raw, sql } from '../../sql/sql.ts'
import type { Limits } from '../../support/limits.ts'
import type { Operator } from '../operator.ts'
import { assertComparable, parseOperand, refuse } from '../operator.ts'
import { equals } from './equals.ts'

function parseList(value: Json, attribute: Attribute, limits: Limits, name: string): readonly Json[] {
  assertComparable(attribute, name)
  if (!Array.isArray(value)) throw refuse(attribute, `"${name}" of "${attribute.name}" must be a list of values`)
  if (value.length > limits.maxListItems) {
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" may have at most ${limits.maxListItems} values`, {
      attribute: attribute.name,
      limit: 'maxListItems',
    })
  }
  return value.map((item) => parseOperand(item, attribute, name))
}

/** One of these values. An empty list matches no record. */
export const isIn: Operator<readonly Json[]> = {
  name: 'in',
  parse: (value, attribute, limits) => parseList(value, attribute, limits, 'in'),
  matches: (value, operand) => value !== null && operand.includes(value),
  sql(column, operand, attribute, dialect) {
    if (operand.length === 0) return raw('1 = 0')
    // An index that begins with the column gives its rows in order, which a list of one prevents.
    const [first = null] = operand
    return operand.length === 1 && first !== null
      ? equals.sql(column, first, attribute, dialect)
      : dialect.isOneOf(attribute, column, operand)
  },
}

/** None of these values, and not null. An empty list matches every record, also those with null. */
export const notIn: Operator<readonly Json[]> = {
  name: 'nin',
  parse: (value, attribute, limits) => parseList(value, attribute, limits, 'nin'),
  matches: (value, operand) => operand.length === 0 || (value !== null && !operand.includes(value)),
  sql: (column, operand, attribute, dialect) =>
    operand.length === 0 ? raw('1 = 1') : sql`not (${dialect.isOneOf(attribute, column, operand)})`,
}

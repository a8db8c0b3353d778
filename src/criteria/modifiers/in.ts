import type { Attribute } from '../../model/model.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import { raw, sql } from '../../sql/sql.ts'
import type { Limits } from '../../support/limits.ts'
import type { Modifier } from '../modifier.ts'
import { comparable, parseOperand, refuse } from '../modifier.ts'

function parseList(value: Json, attribute: Attribute, limits: Limits, name: string): readonly Json[] {
  comparable(attribute, name)
  if (!Array.isArray(value)) throw refuse(attribute, `"${name}" for "${attribute.name}" takes a list of values`)
  if (value.length > limits.maxListItems) {
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" takes at most ${limits.maxListItems} values`, {
      attribute: attribute.name,
      limit: 'maxListItems',
    })
  }
  return value.map((item) => parseOperand(item, attribute, name))
}

/** One of these values; of none, none. */
export const isIn: Modifier<readonly Json[]> = {
  name: 'in',
  parse: (value, attribute, limits) => parseList(value, attribute, limits, 'in'),
  matches: (value, operand) => value !== null && operand.includes(value),
  sql: (column, operand, attribute, dialect) =>
    operand.length === 0 ? raw('1 = 0') : dialect.isOneOf(attribute, column, operand),
}

/** Some other value; of none, every record: even one without a value is not among them. */
export const notIn: Modifier<readonly Json[]> = {
  name: 'nin',
  parse: (value, attribute, limits) => parseList(value, attribute, limits, 'nin'),
  matches: (value, operand) => operand.length === 0 || (value !== null && !operand.includes(value)),
  sql: (column, operand, attribute, dialect) =>
    operand.length === 0 ? raw('1 = 1') : sql`not (${dialect.isOneOf(attribute, column, operand)})`,
}

import type { Attribute } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Sql } from '../sql/sql.ts'
import type { Limits } from '../support/limits.ts'

/**
 * One way to compare: what it accepts, what it means, how SQL says it. To add one: a file in `modifiers/` and a line
 * in `modifiers.ts`. `matches` is the reference; every database is held to it.
 */
export interface Modifier<Operand extends Json = Json> {
  /** As it is written in a condition. */
  readonly name: string
  readonly aliases?: readonly string[]
  /** Throws E_BAD_CRITERIA when the attribute, or this operand, does not go with the modifier. */
  parse(raw: Json, attribute: Attribute, limits: Limits): Operand
  /** `value` is of the attribute's type, or null. */
  matches(value: Json, operand: Operand, attribute: Attribute): boolean
  /** May be null instead of false. `column` is quoted. */
  sql(column: string, operand: Operand, attribute: Attribute, dialect: Dialect): Sql
}

export const refuse = (attribute: Attribute, message: string): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, { attribute: attribute.name })

/** The operand as a value of the attribute's type. */
export function parseOperand(raw: Json, attribute: Attribute, modifier: string): Json {
  const value = raw === null ? undefined : attribute.type.parse(raw)
  if (value === undefined) {
    throw refuse(attribute, `"${attribute.name}" is compared by "${modifier}" with what is not ${attribute.type.noun}`)
  }
  return value
}

/** Refuses comparisons of a whole JSON value or of bytes: databases do not agree on when two of them are equal. */
export function comparable(attribute: Attribute, modifier: string): void {
  const { storedAs } = attribute.type
  if (storedAs === 'json' || storedAs === 'binary') {
    throw refuse(
      attribute,
      `"${attribute.name}" holds ${attribute.type.noun}: only null can be asked for, not "${modifier}"`,
    )
  }
}

import type { Attribute } from '../model/model.ts'
import { parseValue } from '../model/parse-value.ts'
import { isStorableText, unstorable } from '../model/storable.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Sql } from '../sql/sql.ts'
import type { Limits } from '../support/limits.ts'

/**
 * A comparison: the operands it accepts, its meaning, its SQL. To add one, add a file in `operators/` and a line in
 * `operators.ts`. `matches` is the reference: tests compare every database with it.
 */
export interface Operator<Operand extends Json = Json> {
  /** The name in a condition. */
  readonly name: string
  readonly aliases?: readonly string[]
  /** Its operand is a text or a pattern of texts. */
  readonly isText?: boolean
  /** It compares by order. */
  readonly isOrdering?: boolean
  /** The result for a time is that for its whole milliseconds, as an operand has no fraction of them. */
  readonly ignoresFractions?: boolean
  /** It reads the whole value of a row, such as to search in a text: no index serves it, and its cost grows with the value. */
  readonly readsWholeValue?: boolean
  /** Throws E_BAD_CRITERIA if the operator does not support the attribute or the operand. */
  parse(raw: Json, attribute: Attribute, limits: Limits): Operand
  /** `value` is of the attribute's type, or null. */
  matches(value: Json, operand: Operand, attribute: Attribute): boolean
  /**
   * The same in steps of a few milliseconds, if it may take longer for one value: each call is a step, and returns undefined if
   * another one follows.
   */
  matchSteps?(value: Json, operand: Operand): () => boolean | undefined
  /** The result may be null instead of false. `column` is a quoted identifier, or the expression of a computed attribute. */
  sql(column: string, operand: Operand, attribute: Attribute, dialect: Dialect): Sql
}

export const refuse = (attribute: Attribute, message: string): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, { attribute: attribute.name })

/** Converts the operand to the attribute's type. Throws E_BAD_CRITERIA. */
export function parseOperand(raw: Json, attribute: Attribute, operator: string): Json {
  const value = raw === null ? undefined : parseValue(raw, attribute)
  if (value === undefined) {
    const isText = typeof raw === 'string' && attribute.type.storedAs === 'text'
    const problem = isText && !isStorableText(raw) ? unstorable : `must be ${attribute.type.noun}`
    throw refuse(attribute, `The operand of "${operator}" for "${attribute.name}" ${problem}`)
  }
  return value
}

/** Throws E_BAD_CRITERIA for attributes of JSON and bytes, which are compared by equality only. */
export function assertComparable(attribute: Attribute, operator: string): void {
  const { storedAs } = attribute.type
  if (storedAs === 'json' || storedAs === 'binary') {
    throw refuse(
      attribute,
      `"${operator}" does not support "${attribute.name}": ${attribute.type.noun} can only be compared with one value, by equality, and with null`,
    )
  }
}

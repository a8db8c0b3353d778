import { canonicalJson } from '../../protocol/canonical-json.ts'
import type { Json } from '../../protocol/json.ts'
import { jsonInText } from '../../protocol/json-size.ts'
import { raw } from '../../sql/sql.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { type Operator, parseOperand } from '../operator.ts'

/** Cached, because the conditions of all subscribers compare the same value of an event. */
const texts = new WeakMap<object, string>()
const textOf = (value: Json): string =>
  typeof value === 'object' && value !== null
    ? getOrInsertComputed(texts, value, () => canonicalJson(value))
    : canonicalJson(value)

/**
 * Equality of a JSON value, whatever the order of the members of its objects. An object or a list is given as a text, as in a
 * query string: text that is JSON is that value, and other text is a string. The operand is canonical text.
 */
export const sameJson: Operator<string | null> = {
  name: 'same json',
  readsWholeValue: true,
  parse(given, attribute, limits) {
    const parsed = typeof given === 'string' ? jsonInText(given, limits) : given
    const value = parsed === undefined ? given : parsed
    return value === null ? null : canonicalJson(parseOperand(value, attribute, '='))
  },
  matches: (value, operand) => (value === null || operand === null ? value === operand : textOf(value) === operand),
  sql: (column, operand, attribute, dialect) =>
    operand === null ? raw(dialect.isNull(attribute, column)) : dialect.sameJson(attribute, column, operand),
}

import type { Attribute } from '../../model/model.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { ilikeSteps, likeSteps, matchesIlike, matchesLike } from '../../sql/matches-like.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Limits } from '../../support/limits.ts'
import { linearIndexOf } from '../../support/linear-index-of.ts'
import type { Operator } from '../operator.ts'
import { parseOperand, refuse } from '../operator.ts'

function parseText(value: Json, attribute: Attribute, limits: Limits, name: string): string {
  if (attribute.type.storedAs !== 'text') {
    throw refuse(attribute, `"${name}" requires a text attribute: "${attribute.name}" is ${attribute.type.noun}`)
  }
  const text = parseOperand(value, attribute, name) as string
  if (text.length > limits.maxPatternLength) {
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" may have at most ${limits.maxPatternLength} characters`, {
      attribute: attribute.name,
      limit: 'maxPatternLength',
    })
  }
  return text
}

const textual = (
  name: 'contains' | 'startsWith' | 'endsWith',
  test: (value: string, operand: string) => boolean,
): Operator<string> => ({
  name,
  isText: true,
  readsWholeValue: name !== 'startsWith',
  parse: (value, attribute, limits) => parseText(value, attribute, limits, name),
  matches: (value, operand) => typeof value === 'string' && test(value, operand),
  sql: (column: string, operand: string, _: Attribute, dialect: Dialect): Sql => dialect[name](column, operand),
})

export const contains = textual('contains', (value, operand) => linearIndexOf(value, operand) !== -1)
export const startsWith = textual('startsWith', (value, operand) => value.startsWith(operand))
export const endsWith = textual('endsWith', (value, operand) => value.endsWith(operand))

const patterned = (
  name: 'like' | 'ilike',
  test: (value: string, pattern: string) => boolean,
  steps: (value: string, pattern: string) => () => boolean | undefined,
): Operator<string> => ({
  name,
  isText: true,
  readsWholeValue: true,
  parse(value, attribute, limits) {
    const pattern = parseText(value, attribute, limits, name)
    if (pattern === '') throw refuse(attribute, `"${name}" of "${attribute.name}" must not be empty`)
    return pattern
  },
  matches: (value, operand) => typeof value === 'string' && test(value, operand),
  matchSteps: (value, operand) => (typeof value === 'string' ? steps(value, operand) : () => false),
  sql: (column, operand, attribute, dialect) => dialect[name](column, operand, attribute),
})

/** SQL patterns: `%` matches any text, `_` one character, and a backslash escapes the next character. */
export const like = patterned('like', matchesLike, likeSteps)
/** The same, whatever the letter case. */
export const ilike = patterned('ilike', matchesIlike, ilikeSteps)

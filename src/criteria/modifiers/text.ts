import type { Attribute } from '../../model/model.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Dialect } from '../../sql/dialect.ts'
import { matchesLike } from '../../sql/like.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Limits } from '../../support/limits.ts'
import type { Modifier } from '../modifier.ts'
import { parseOperand, refuse } from '../modifier.ts'

function parseText(value: Json, attribute: Attribute, limits: Limits, name: string): string {
  if (attribute.type.storedAs !== 'text') {
    throw refuse(attribute, `"${attribute.name}" holds ${attribute.type.noun}: "${name}" is for text`)
  }
  const text = parseOperand(value, attribute, name) as string
  if (text.length > limits.maxPatternLength) {
    throw new ServiceError('E_BAD_CRITERIA', `"${name}" takes at most ${limits.maxPatternLength} characters`, {
      attribute: attribute.name,
      limit: 'maxPatternLength',
    })
  }
  return text
}

const textual = (
  name: 'contains' | 'startsWith' | 'endsWith',
  holds: (value: string, operand: string) => boolean,
): Modifier<string> => ({
  name,
  parse: (value, attribute, limits) => parseText(value, attribute, limits, name),
  matches: (value, operand) => typeof value === 'string' && holds(value, operand),
  sql: (column: string, operand: string, _: Attribute, dialect: Dialect): Sql => dialect[name](column, operand),
})

export const contains = textual('contains', (value, operand) => value.includes(operand))
export const startsWith = textual('startsWith', (value, operand) => value.startsWith(operand))
export const endsWith = textual('endsWith', (value, operand) => value.endsWith(operand))

/** SQL's own patterns: `%` is any text, `_` one character, a backslash makes the next character an ordinary one. */
export const like: Modifier<string> = {
  name: 'like',
  parse(value, attribute, limits) {
    const pattern = parseText(value, attribute, limits, 'like')
    if (pattern === '') throw refuse(attribute, `"like" for "${attribute.name}" needs a pattern`)
    return pattern
  },
  matches: (value, operand) => typeof value === 'string' && matchesLike(value, operand),
  sql: (column, operand, _, dialect) => dialect.like(column, operand),
}

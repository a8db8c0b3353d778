import { nearest } from '../support/nearest.ts'
import type { Operator } from './operator.ts'
import { isIn, notIn } from './operators/in.ts'
import { notEquals } from './operators/not-equals.ts'
import { greaterThan, greaterThanOrEqual, lessThan, lessThanOrEqual } from './operators/ordering.ts'
import { contains, endsWith, ilike, like, startsWith } from './operators/text.ts'

/** The operators of `{ attribute: { operator: operand } }`. */
export const operators: readonly Operator[] = [
  lessThan,
  lessThanOrEqual,
  greaterThan,
  greaterThanOrEqual,
  notEquals,
  isIn,
  notIn,
  contains,
  startsWith,
  endsWith,
  like,
  ilike,
]

const byName = new Map(
  operators.flatMap((operator) => [operator.name, ...(operator.aliases ?? [])].map((name) => [name, operator])),
)

/** Names that other systems use, in lower case and without `$`. */
const otherNames: Readonly<Record<string, string>> = {
  gt: '>',
  gte: '>=',
  ge: '>=',
  min: '>=',
  lt: '<',
  lte: '<=',
  le: '<=',
  max: '<=',
  ne: '!=',
  neq: '!=',
  '<>': '!=',
  notin: 'nin',
  not_in: 'nin',
}
const equalities = ['eq', '=', '==', '===', 'is', 'equals']

/** The names that a misspelt word may stand for: words, not symbols. */
const operatorNames: readonly string[] = [...byName.keys()].filter((name) => /\w/.test(name))

/** What an unknown operator was probably meant to be, as the end of a message. */
export function operatorSuggestion(name: string): string {
  const word = name.toLowerCase().replace(/^\$/, '')
  if (equalities.includes(word)) return '; equality is the value without an operator'
  const near = Object.hasOwn(otherNames, word) ? otherNames[word] : nearest(name, operatorNames)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

export const operatorNamed = (name: string): Operator | undefined => byName.get(name)

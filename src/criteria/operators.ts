import type { Operator } from './operator.ts'
import { isIn, notIn } from './operators/in.ts'
import { notEquals } from './operators/not-equals.ts'
import { greaterThan, greaterThanOrEqual, lessThan, lessThanOrEqual } from './operators/ordering.ts'
import { contains, endsWith, like, startsWith } from './operators/text.ts'

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
]

const byName = new Map(
  operators.flatMap((operator) => [operator.name, ...(operator.aliases ?? [])].map((name) => [name, operator])),
)

/** Symbols are not among them: a word is no misspelt symbol. */
export const operatorNames: readonly string[] = [...byName.keys()].filter((name) => /\w/.test(name))

export const operatorNamed = (name: string): Operator | undefined => byName.get(name)

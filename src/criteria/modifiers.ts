import type { Modifier } from './modifier.ts'
import { isIn, notIn } from './modifiers/in.ts'
import { notEquals } from './modifiers/not-equals.ts'
import { greaterThan, greaterThanOrEqual, lessThan, lessThanOrEqual } from './modifiers/ordering.ts'
import { contains, endsWith, like, startsWith } from './modifiers/text.ts'

/** The words that may stand in `{ attribute: { word: operand } }`. */
export const modifiers: readonly Modifier[] = [
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
  modifiers.flatMap((modifier) => [modifier.name, ...(modifier.aliases ?? [])].map((name) => [name, modifier])),
)

export const modifierNamed = (name: string): Modifier | undefined => byName.get(name)

import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Direction } from '../sql/dialect.ts'
import type { Modifier } from './modifier.ts'
import { equals } from './modifiers/equals.ts'

/**
 * A condition is a tree with two meanings: `matches` in memory and `toSql` in a database. Names are resolved: a
 * comparison holds the attribute. Logic is two-valued: a comparison with null is false, and `not` of it is true.
 */
export type Condition = Combination | Negation | Comparison
export interface Combination {
  readonly kind: 'and' | 'or'
  readonly conditions: readonly Condition[]
}
export interface Negation {
  readonly kind: 'not'
  readonly condition: Condition
}
export interface Comparison {
  readonly kind: 'compare'
  readonly attribute: Attribute
  readonly modifier: Modifier
  readonly operand: Json
}

export interface Sort {
  readonly attribute: Attribute
  readonly direction: Direction
}

/** The attributes an answer holds. The same selection is the same object: statements and encoders are kept by it. */
export type Selection = readonly Attribute[]

export interface Criteria {
  readonly where: Condition
  /** Total: the primary key is among them. */
  readonly sort: readonly Sort[]
  readonly limit: number
  readonly skip: number
  readonly select: Selection
}

export const everything: Condition = { kind: 'and', conditions: [] }

export const hasKey = (model: Model, id: Json): Comparison => ({
  kind: 'compare',
  attribute: model.primaryKey,
  modifier: equals,
  operand: id,
})

const selections = new WeakMap<Model, Selection>()

/** Every attribute of the model. */
export function allOf(model: Model): Selection {
  let selection = selections.get(model)
  if (!selection) {
    selection = [...model.attributes.values()]
    selections.set(model, selection)
  }
  return selection
}

/** The order of records that asked for none, and what breaks ties in every other. */
export const byKey = (model: Model): readonly Sort[] => model.key.map((attribute) => ({ attribute, direction: 'asc' }))

/** The one record with this key. */
export const oneByKey = (model: Model, id: Json, select: Selection = allOf(model)): Criteria => ({
  where: hasKey(model, id),
  sort: [],
  limit: 1,
  skip: 0,
  select,
})

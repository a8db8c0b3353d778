import type { Association, Attribute, BelongsTo, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Direction } from '../sql/dialect.ts'
import type { Modifier } from './modifier.ts'
import { equals } from './modifiers/equals.ts'

/**
 * A condition is a tree with two meanings: `matches` in memory and `toSql` in a database. Names are resolved: a
 * comparison holds the attribute. Logic is two-valued: a comparison with null is false, and `not` of it is true.
 */
export type Condition = Combination | Negation | Comparison | Related
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

/** Some record on the other side of an association fulfils a condition of its own. */
export interface Related {
  readonly kind: 'related'
  readonly association: Association
  readonly condition: Condition
}

export interface Sort {
  readonly attribute: Attribute
  readonly direction: Direction
  /** Given when the attribute is not the record's own but that of the one it points to. */
  readonly through?: BelongsTo
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
  /** Begin behind the record that had these values of `sort`, as the database itself gave them. */
  readonly after?: readonly unknown[] | undefined
  /** Nobody else may change the record until the transaction ends. For one record by its key. */
  readonly lock?: boolean
  /** For the store alone: what it made of these criteria, so that a plan that is kept is compiled once. */
  compiled?: unknown
}

/** The records of an association that an answer embeds, each list a page of its own. */
export interface Populate {
  readonly association: Association
  readonly criteria: Criteria
  readonly populate: readonly Populate[]
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

export const lockedByKey = (model: Model, id: Json): Criteria => ({ ...oneByKey(model, id), lock: true })

export const isEverything = (condition: Condition): boolean =>
  condition.kind === 'and' && condition.conditions.length === 0

export const allHold = (...conditions: readonly Condition[]): Condition => {
  const told = conditions.filter((condition) => !isEverything(condition))
  return told.length === 1 ? (told[0] as Condition) : { kind: 'and', conditions: told }
}

export const holds = (attribute: Attribute, value: Json): Comparison => ({
  kind: 'compare',
  attribute,
  modifier: equals,
  operand: value,
})

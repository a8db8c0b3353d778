import { type Association, type Attribute, type BelongsTo, everyAttribute, type Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Direction } from '../sql/dialect.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Operator } from './operator.ts'
import { equals } from './operators/equals.ts'
import { isIn, notIn } from './operators/in.ts'

/**
 * A condition is a tree with two interpretations: `matches` in memory and `toSql` in a database. Names are resolved: a
 * comparison has the `Attribute`. Logic is two-valued: a comparison with null is false, and `not` of it is true.
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
  readonly operator: Operator
  readonly operand: Json
  /** In a template only: the index of the operand in a request. */
  readonly slot?: number
}

/** At least one record of an association matches a condition. */
export interface Related {
  readonly kind: 'related'
  readonly association: Association
  readonly condition: Condition
}

export interface Sort {
  readonly attribute: Attribute
  readonly direction: Direction
  /** The to-one association whose record has the attribute; undefined for an attribute of the record itself. */
  readonly through?: BelongsTo
  /** The value counts as null for a record that does not fulfil this. */
  readonly mask?: Condition
  /** As `mask`, for the record of `through`. */
  readonly throughMask?: Condition
}

/** The values that are returned as null for records that do not fulfil a condition. */
export type Masks = ReadonlyMap<Attribute, Condition>

/** The attributes of a response. Equal selections are the same object: it is the cache key of statements and encoders. */
export type Selection = readonly Attribute[]

export interface Criteria {
  readonly where: Condition
  /** A total order: it includes the primary key. */
  readonly sort: readonly Sort[]
  readonly limit: number
  readonly skip: number
  readonly select: Selection
  /** Start after the record with these values of `sort`, in the representation of the database. */
  readonly after?: readonly unknown[] | undefined
  /** Lock the row until the transaction ends. Only for one record by its key. */
  readonly lock?: boolean
  /** The largest number of related records for all keys together. */
  readonly maxRows?: number
  readonly masks?: Masks
  /** For the members of a many-to-many association: what the row of the junction must fulfil. */
  readonly junction?: Condition
}

/** An association to embed in each record, and which of its records. */
export interface Populate {
  readonly association: Association
  readonly criteria: Criteria
  readonly populate: readonly Populate[]
}

export const matchAll: Condition = { kind: 'and', conditions: [] }
export const matchNone: Condition = { kind: 'or', conditions: [] }

export const not = (condition: Condition): Condition => ({ kind: 'not', condition })

export const primaryKeyEquals = (model: Model, id: Json): Comparison => ({
  kind: 'compare',
  attribute: model.primaryKey,
  operator: equals,
  operand: id,
})

export const isOneOf = (attribute: Attribute, values: readonly Json[]): Comparison => ({
  kind: 'compare',
  attribute,
  operator: isIn,
  operand: values,
})

/** For an empty list, every record matches. */
export const isNoneOf = (attribute: Attribute, values: readonly Json[]): Condition =>
  values.length === 0 ? matchAll : { kind: 'compare', attribute, operator: notIn, operand: values }

/** The records with one of these keys. */
export const idIn = (model: Model, ids: readonly Json[]): Comparison => isOneOf(model.primaryKey, ids)

const selections = new WeakMap<Model, Selection>()

/** All attributes that responses contain by default: every one that is not hidden. */
export function allAttributes(model: Model): Selection {
  let selection = selections.get(model)
  if (!selection) {
    selection = everyAttribute(model).filter(({ hidden }) => !hidden)
    selections.set(model, selection)
  }
  return selection
}

/** The default order, and the tie-breaker of every other order. */
export const orderByPrimaryKey = (model: Model): readonly Sort[] =>
  model.key.map((attribute) => ({ attribute, direction: 'asc' }))

/** The one record with this key. */
export const findByPrimaryKey = (model: Model, id: Json, select: Selection = allAttributes(model)): Criteria => ({
  where: primaryKeyEquals(model, id),
  sort: [],
  limit: 1,
  skip: 0,
  select,
})

export const lockByPrimaryKey = (model: Model, id: Json): Criteria => ({ ...findByPrimaryKey(model, id), lock: true })

const keySelections = new WeakMap<Model, Selection>()

/** Selects the key alone, to see whether the record exists: its other values may have megabytes, which are not read. */
export const findKey = (model: Model, id: Json): Criteria => {
  const select = getOrInsertComputed(keySelections, model, () => [model.primaryKey])
  return findByPrimaryKey(model, id, select)
}

export const lockKey = (model: Model, id: Json): Criteria => ({ ...findKey(model, id), lock: true })

export const isMatchAll = (condition: Condition): boolean =>
  condition.kind === 'and' && condition.conditions.length === 0

/** The comparisons and related conditions that a condition combines. */
export function leavesOf(condition: Condition): readonly (Comparison | Related)[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(leavesOf)
    case 'not':
      return leavesOf(condition.condition)
    default:
      return [condition]
  }
}

export const and = (...conditions: readonly Condition[]): Condition => {
  const restricting = conditions.filter((condition) => !isMatchAll(condition))
  return restricting.length === 1 ? (restricting[0] as Condition) : { kind: 'and', conditions: restricting }
}

export const eq = (attribute: Attribute, value: Json): Comparison => ({
  kind: 'compare',
  attribute,
  operator: equals,
  operand: value,
})

import type { Json, JsonObject } from '../../protocol/json.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { Simplify } from './record-of.ts'
import type { ToMany, ToOne, TypeOf, Unsearchable, ValueOf } from './value-of.ts'

/**
 * A condition on the records of a model: comparisons of attributes, all of which must match, and `and`, `or` and `not` of
 * conditions. A to-one association is compared with a key or has a condition on the other record; a to-many association
 * has a condition that at least one of its records matches. JSON and bytes can only be compared
 * by equality and with null: JSON that is an object or a list as a text.
 */
export type Where<M extends ModelDefinitions, N extends ModelName<M>> = string extends keyof AttributesOf<M, N>
  ? JsonObject // only known at run time
  : Simplify<Comparisons<M, AttributesOf<M, N>> & Combinations<M, N>>

interface Combinations<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly and?: readonly Where<M, N>[]
  readonly or?: readonly Where<M, N>[]
  readonly not?: Where<M, N>
}

type Comparisons<M extends ModelDefinitions, A> = {
  readonly [K in keyof A as A[K] extends Unsearchable ? never : K]?: A[K] extends ToMany
    ? Where<M, TargetOf<M, A[K]>>
    : Comparison<ValueOf<M, A[K]>, TypeOf<M, A[K]>> | (A[K] extends ToOne ? Where<M, TargetOf<M, A[K]>> : never)
}

type Comparison<Value, Type> = Type extends Incomparable
  ? string | (Type extends 'json' ? number | boolean : never) | null | NotNull
  : Type extends 'unknown'
    ? Json
    : Value | null | readonly Value[] | OperatorsOf<Value, Type>
type OperatorsOf<Value, Type> = Type extends 'boolean'
  ? EqualityOperators<Value>
  : Type extends 'text'
    ? TextOperators<Value>
    : OrderOperators<Value>

/** Databases have no order of these that they agree about. */
export type Incomparable = 'json' | 'binary'

interface NotNull {
  readonly '!='?: null
  readonly '!'?: null
  readonly not?: null
}

interface EqualityOperators<Value> {
  /** Not equal to this value, or to any value of this list; null matches records with a value. */
  readonly '!='?: Value | null | readonly Value[]
  readonly '!'?: Value | null | readonly Value[]
  readonly not?: Value | null | readonly Value[]
  readonly in?: readonly Value[]
  readonly nin?: readonly Value[]
}
interface OrderOperators<Value> extends EqualityOperators<Value> {
  readonly '<'?: Value
  readonly '<='?: Value
  readonly '>'?: Value
  readonly '>='?: Value
  readonly lessThan?: Value
  readonly lessThanOrEqual?: Value
  readonly greaterThan?: Value
  readonly greaterThanOrEqual?: Value
}
interface TextOperators<Value> extends OrderOperators<Value> {
  readonly contains?: string
  readonly startsWith?: string
  readonly endsWith?: string
  /** `%` matches any text, `_` one character, and a backslash escapes the next character. */
  readonly like?: string
  /** The same, whatever the letter case. */
  readonly ilike?: string
}

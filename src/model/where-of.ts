import type { Json, JsonObject } from '../protocol/json.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { Simplify } from './record-of.ts'
import type { ToMany, ToOne, TypeOf, ValueOf } from './value-of.ts'

/**
 * A condition on the records of a model: attributes that must all hold, and `and`, `or` and `not` of conditions. A
 * to-one association is compared by the other record's key, or by a condition on that record; a to-many association
 * takes a condition that at least one of its records fulfils. JSON can only be null or not.
 */
export type Where<M extends ModelDefinitions, N extends ModelName<M>> = string extends keyof AttributesOf<M, N>
  ? JsonObject // only known when the program runs
  : Simplify<Comparisons<M, AttributesOf<M, N>> & Combinations<M, N>>

interface Combinations<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly and?: readonly Where<M, N>[]
  readonly or?: readonly Where<M, N>[]
  readonly not?: Where<M, N>
}

type Comparisons<M extends ModelDefinitions, A> = {
  readonly [K in keyof A]?: A[K] extends ToMany
    ? Where<M, TargetOf<M, A[K]>>
    : Comparison<ValueOf<M, A[K]>, TypeOf<M, A[K]>> | (A[K] extends ToOne ? Where<M, TargetOf<M, A[K]>> : never)
}

type Comparison<Value, Type> = Type extends Incomparable
  ? null | NotNull
  : Type extends 'unknown'
    ? Json
    : Value | null | readonly Value[] | ModifiersOf<Value, Type>
type ModifiersOf<Value, Type> = Type extends 'boolean'
  ? EqualityModifiers<Value>
  : Type extends 'text'
    ? TextModifiers<Value>
    : OrderModifiers<Value>

/** Databases do not agree on when two of these are equal, nor on which comes first. */
export type Incomparable = 'json' | 'binary'

interface NotNull {
  readonly '!='?: null
  readonly '!'?: null
  readonly not?: null
}

interface EqualityModifiers<Value> {
  /** Another value than this one or these; null asks for those that have a value. */
  readonly '!='?: Value | null | readonly Value[]
  readonly '!'?: Value | null | readonly Value[]
  readonly not?: Value | null | readonly Value[]
  readonly in?: readonly Value[]
  readonly nin?: readonly Value[]
}
interface OrderModifiers<Value> extends EqualityModifiers<Value> {
  readonly '<'?: Value
  readonly '<='?: Value
  readonly '>'?: Value
  readonly '>='?: Value
  readonly lessThan?: Value
  readonly lessThanOrEqual?: Value
  readonly greaterThan?: Value
  readonly greaterThanOrEqual?: Value
}
interface TextModifiers<Value> extends OrderModifiers<Value> {
  readonly contains?: string
  readonly startsWith?: string
  readonly endsWith?: string
  /** `%` is any text, `_` one character, a backslash makes the next character an ordinary one. */
  readonly like?: string
}

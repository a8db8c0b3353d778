import type { Json, JsonObject } from '../protocol/json.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { Simplify } from './record-of.ts'
import type { ToMany, TypeOf, ValueOf } from './value-of.ts'

/**
 * A condition on the records of a model: attributes that must all hold, and `and`, `or` and `not` of conditions. A
 * to-one association is compared by the other record's key; JSON can only be null or not.
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
  readonly [K in keyof A as A[K] extends ToMany ? never : K]?: Comparison<ValueOf<M, A[K]>, TypeOf<M, A[K]>>
}

type Comparison<Value, Type> = Type extends Unordered
  ? null | NotNull
  : Type extends 'unknown'
    ? Json
    : Value | null | readonly Value[] | ModifiersOf<Value, Type>
type ModifiersOf<Value, Type> = Type extends 'boolean'
  ? EqualityModifiers<Value>
  : Type extends 'text'
    ? TextModifiers<Value>
    : OrderModifiers<Value>

type Unordered = 'json' | 'binary'

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

/** An order: `'name'`, `'name DESC'`, a list of those or of `{ name: 'DESC' }`, or an object `{ age: -1, name: 1 }`. */
export type Sort<M extends ModelDefinitions, N extends ModelName<M>> = SortBy<
  keyof Sortable<M, AttributesOf<M, N>> & string
>

/** The same by the names of the attributes, which an error shows then instead of all models. */
export type SortBy<Name extends string> =
  | SortTerm<Name>
  | readonly (SortTerm<Name> | { readonly [K in Name]?: 'ASC' | 'DESC' })[]
  | { readonly [K in Name]?: 1 | -1 | 'ASC' | 'DESC' }
type SortTerm<Name extends string> = Name | `${Name} ASC` | `${Name} DESC`
export type Sortable<M extends ModelDefinitions, A> = {
  [K in keyof A as A[K] extends ToMany ? never : TypeOf<M, A[K]> extends Unordered ? never : K]: A[K]
}

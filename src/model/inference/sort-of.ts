import type { ModelDefinitions } from '../definition.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { Flag, ToMany, ToOne, TypeOf, Unsearchable } from './value-of.ts'
import type { Incomparable } from './where-of.ts'

/**
 * An order: `'name'`, `'name DESC'`, a list of those or of `{ name: 'DESC' }`, or an object `{ age: -1, name: 1 }`.
 * `owner.name` is the `name` of the record of the to-one association `owner`.
 */
export type Sort<M extends ModelDefinitions, N extends ModelName<M>> = SortBy<
  keyof Sortable<M, AttributesOf<M, N>> & string
>

/** An order by attribute names. Compile errors show these names instead of all models. */
export type SortBy<Name extends string> =
  | SortTerm<Name>
  | readonly (SortTerm<Name> | { readonly [K in Name]?: 'ASC' | 'DESC' })[]
  | { readonly [K in Name]?: 1 | -1 | 'ASC' | 'DESC' }
/** An attribute name with an optional direction. */
export type SortTerm<Name extends string> = Name | `${Name} ASC` | `${Name} DESC`

/** The attributes with an order, including those of to-one associations. */
export type Sortable<M extends ModelDefinitions, A> = Ordered<M, A> & OrderedThrough<M, A>

type Ordered<M extends ModelDefinitions, A> = {
  [K in keyof A as A[K] extends ToMany | Flag<'hidden'> | Unsearchable<A[K]>
    ? never
    : TypeOf<M, A[K]> extends Incomparable
      ? never
      : K]: A[K]
}
type OrderedThrough<M extends ModelDefinitions, A> = {
  [K in keyof A & string as A[K] extends ToOne ? `${K}.${NameOrdered<M, TargetOf<M, A[K]>>}` : never]: A[K]
}
type NameOrdered<M extends ModelDefinitions, N extends ModelName<M>> = keyof Ordered<M, AttributesOf<M, N>> & string

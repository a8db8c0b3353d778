import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { ToMany, ToOne, TypeOf } from './value-of.ts'
import type { Incomparable } from './where-of.ts'

/**
 * An order: `'name'`, `'name DESC'`, a list of those or of `{ name: 'DESC' }`, or an object `{ age: -1, name: 1 }`.
 * `owner.name` is the name of the record that the to-one association `owner` leads to.
 */
export type Sort<M extends ModelDefinitions, N extends ModelName<M>> = SortBy<
  keyof Sortable<M, AttributesOf<M, N>> & string
>

/** The same by the names of the attributes, which an error shows then instead of all models. */
export type SortBy<Name extends string> =
  | SortTerm<Name>
  | readonly (SortTerm<Name> | { readonly [K in Name]?: 'ASC' | 'DESC' })[]
  | { readonly [K in Name]?: 1 | -1 | 'ASC' | 'DESC' }
type SortTerm<Name extends string> = Name | `${Name} ASC` | `${Name} DESC`

/** What has an order, of these attributes and of those of the records that they lead to. */
export type Sortable<M extends ModelDefinitions, A> = Ordered<M, A> & OrderedThrough<M, A>

type Ordered<M extends ModelDefinitions, A> = {
  [K in keyof A as A[K] extends ToMany ? never : TypeOf<M, A[K]> extends Incomparable ? never : K]: A[K]
}
type OrderedThrough<M extends ModelDefinitions, A> = {
  [K in keyof A & string as A[K] extends ToOne ? `${K}.${NameOrdered<M, TargetOf<M, A[K]>>}` : never]: A[K]
}
type NameOrdered<M extends ModelDefinitions, N extends ModelName<M>> = keyof Ordered<M, AttributesOf<M, N>> & string

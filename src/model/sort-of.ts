import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { ToMany, ToOne, TypeOf } from './value-of.ts'
import type { Incomparable } from './where-of.ts'

/**
 * An order: `'name'`, `'name DESC'`, a list of those or of `{ name: 'DESC' }`, or an object `{ age: -1, name: 1 }`.
 * `owner.name` is the name of the record that the to-one association `owner` leads to.
 */
export type Sort<M extends ModelDefinitions, N extends ModelName<M>> = SortBy<SortName<M, AttributesOf<M, N>>>

/** What has an order, of a model with these attributes and of the records it points to. */
export type SortName<M extends ModelDefinitions, A> = OwnName<M, A> | ThroughName<M, A>

/** The same by its names, which an error shows then instead of all models. */
export type SortBy<Name extends string> =
  | SortTerm<Name>
  | readonly (SortTerm<Name> | { readonly [K in Name]?: 'ASC' | 'DESC' })[]
  | { readonly [K in Name]?: 1 | -1 | 'ASC' | 'DESC' }
type SortTerm<Name extends string> = Name | `${Name} ASC` | `${Name} DESC`

type OwnName<M extends ModelDefinitions, A> = {
  [K in keyof A]: A[K] extends ToMany ? never : TypeOf<M, A[K]> extends Incomparable ? never : K
}[keyof A] &
  string

type ThroughName<M extends ModelDefinitions, A> = {
  [K in keyof A & string]: A[K] extends ToOne ? `${K}.${OwnName<M, AttributesOf<M, TargetOf<M, A[K]>>>}` : never
}[keyof A & string]

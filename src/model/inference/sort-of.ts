import type { ModelDefinitions } from '../definition.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { DeclaredType, Flag, ToMany, ToOne, Unsearchable } from './value-of.ts'
import type { Incomparable } from './where-of.ts'

/**
 * An order: `'name'`, `'name DESC'`, a list of those or of `{ name: 'DESC' }`, or an object `{ age: -1, name: 1 }`.
 * `owner.name` is the `name` of the record of the to-one association `owner`.
 */
export type Sort<M extends ModelDefinitions, N extends ModelName<M>> = SortBy<SortName<M, N>>

/** An order by attribute names. Compile errors show these names instead of all models. */
export type SortBy<Name extends string> =
  | SortTerm<Name>
  | readonly (SortTerm<Name> | { readonly [K in Name]?: 'ASC' | 'DESC' })[]
  | { readonly [K in Name]?: 1 | -1 | 'ASC' | 'DESC' }
/** An attribute name with an optional direction. */
export type SortTerm<Name extends string> = Name | `${Name} ASC` | `${Name} DESC`

/** The names of the attributes with an order, and those of to-one associations: `owner.name`. */
export type SortName<M extends ModelDefinitions, N extends ModelName<M>> =
  | OrderedName<AttributesOf<M, N>>
  | NameThrough<M, AttributesOf<M, N>>

type OrderedName<A> = {
  [K in keyof A]: A[K] extends ToMany | Unsearchable
    ? never
    : A[K] extends AlwaysOrdered
      ? K
      : DeclaredType<A[K]> extends Incomparable
        ? never
        : K
}[keyof A] &
  string
/** Whatever column they have; a to-one association is ordered as the key of its target. */
type AlwaysOrdered = { readonly type: 'string' | 'number' | 'boolean' | 'datetime' | 'bigint' } | ToOne

type NameThrough<M extends ModelDefinitions, A> = {
  [K in keyof A]: A[K] extends ToOne
    ? A[K] extends Flag<'hidden'>
      ? never
      : `${K & string}.${OrderedName<AttributesOf<M, TargetOf<M, A[K]>>>}`
    : never
}[keyof A]

import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { ToMany, ToOne } from './value-of.ts'

/** The associations of a model by name. */
export type AssociationsOf<M extends ModelDefinitions, N extends ModelName<M>> = Those<
  AttributesOf<M, N>,
  ToOne | ToMany
>
/** Those that lead to one record. */
export type ToOneOf<M extends ModelDefinitions, N extends ModelName<M>> = Those<AttributesOf<M, N>, ToOne>
/** Those that lead to many. */
export type ToManyOf<M extends ModelDefinitions, N extends ModelName<M>> = Those<AttributesOf<M, N>, ToMany>

/** The name of the model that an attribute leads to; never, when only the running program knows which. */
export type TargetOf<M extends ModelDefinitions, A> = A extends ToOne<infer Target> | ToMany<infer Target>
  ? Extract<Target, ModelName<M>>
  : never

/** The attributes that are of this kind, or may be: of some, only the running program knows the definition. */
type Those<A, Kind> = { [K in keyof A as A[K] extends Kind ? K : Kind extends A[K] ? K : never]: A[K] }

import type { ModelDefinitions } from '../definition.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { Flag, ToMany, ToOne } from './value-of.ts'

/** The associations of a model by name. */
export type AssociationsOf<M extends ModelDefinitions, N extends ModelName<M>> = AttributesOfKind<
  AttributesOf<M, N>,
  ToOne | ToMany
>
/** The to-one associations. */
export type ToOneOf<M extends ModelDefinitions, N extends ModelName<M>> = AttributesOfKind<AttributesOf<M, N>, ToOne>
/** The to-many associations. */
export type ToManyOf<M extends ModelDefinitions, N extends ModelName<M>> = AttributesOfKind<AttributesOf<M, N>, ToMany>

/** The name of the target model of an association; never if it is only known at run time. */
export type TargetOf<M extends ModelDefinitions, A> = A extends ToOne<infer Target> | ToMany<infer Target>
  ? Extract<Target, ModelName<M>>
  : never

/** The attributes of this kind, and those that may be: some definitions are only known at run time. Hidden ones are none. */
type AttributesOfKind<A, Kind> = {
  [K in keyof A as A[K] extends Kind ? (A[K] extends Flag<'hidden'> ? never : K) : Kind extends A[K] ? K : never]: A[K]
}

import type { RecordId } from '../protocol/change.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { KeyOf, ToMany, ToOne } from './value-of.ts'

/*
 * Which attributes of a model lead to other records. Of a model that only the running program knows, any name may.
 */

/** The associations that lead to one record. */
export type ToOneName<M extends ModelDefinitions, N extends ModelName<M>> = NamesOf<AttributesOf<M, N>, ToOne>
/** The associations that lead to many. */
export type ToManyName<M extends ModelDefinitions, N extends ModelName<M>> = NamesOf<AttributesOf<M, N>, ToMany>
export type AssociationName<M extends ModelDefinitions, N extends ModelName<M>> = ToOneName<M, N> | ToManyName<M, N>

/** The name of the model that an attribute leads to; never, when only the running program knows which. */
export type TargetOf<M extends ModelDefinitions, A> = A extends ToOne<infer Target> | ToMany<infer Target>
  ? Extract<Target, ModelName<M>>
  : never

/** The same of the association of this name. */
export type TargetNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> = TargetOf<M, Named<M, N, Name>>
/** What identifies a record that the association of this name leads to. */
export type KeyNamed<M extends ModelDefinitions, N extends ModelName<M>, Name> =
  Named<M, N, Name> extends ToMany<infer Target> ? KeyOf<M, Target> : RecordId

type Named<M extends ModelDefinitions, N extends ModelName<M>, Name> = AttributesOf<M, N>[Name & keyof AttributesOf<M, N>]

type NamesOf<A, Pattern> = string extends keyof A
  ? string
  : { [K in keyof A]: A[K] extends Pattern ? K : never }[keyof A] & string

import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { DeclaredType, KeyOf, Says, Timestamp, ToMany, ValueOf, WithSchema } from './value-of.ts'

/**
 * A record of a model as it is answered, in the form of JSON: a moment and a big integer are strings, a to-one
 * association is the other record's key. To-many associations come only by populating.
 */
export type RecordOf<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<Answer<M, AttributesOf<M, N>>>

/** What a new record is made of. Timestamps that the service keeps are not accepted. */
export type CreateInput<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<
  NeededInput<M, AttributesOf<M, N>> & OtherInput<M, AttributesOf<M, N>>
>

/** What changes in a record. What is not named stays as it is; a list for a to-many association replaces it. */
export type UpdateInput<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<Changes<M, AttributesOf<M, N>>>

type Answer<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as A[K] extends ToMany ? never : K]: ValueOf<M, A[K]> | NullIn<A[K]>
}
type NeededInput<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as IsNeeded<A[K]> extends true ? K : never]: Given<M, A[K]>
}
type OtherInput<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as IsNeeded<A[K]> extends true ? never : A[K] extends Timestamp ? never : K]?: Given<M, A[K]>
}
type Changes<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as A[K] extends Says<'primaryKey'> | Timestamp ? never : K]?: Given<M, A[K]>
}

/** What may be given for an attribute: a schema may take something else than it makes. */
type Given<M extends ModelDefinitions, A> =
  A extends ToMany<infer Target>
    ? readonly KeyOf<M, Target>[]
    : (A extends WithSchema<infer Input, unknown> ? Input : ValueOf<M, A>) | NullIn<A>

/** Somebody always gives a value to these: the client, because it must, or the service. */
type NeverAbsent = Says<'required'> | Says<'primaryKey'> | Timestamp | HasDefault
type HasDefault = { readonly defaultsTo: NonNullable<unknown> }
type NullIn<A> = A extends Says<'allowNull'> ? null : A extends NeverAbsent ? never : null

type IsNeeded<A> = A extends Says<'required'> ? true : A extends Says<'primaryKey'> ? IsNeededKey<A> : false
type IsNeededKey<A> = A extends Says<'autoIncrement'> | HasDefault
  ? false
  : DeclaredType<A> extends 'uuid'
    ? false
    : true

/** Shows a type as its members. */
export type Simplify<T> = { [K in keyof T]: T[K] } & {}

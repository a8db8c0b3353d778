import type { ModelDefinitions } from '../definition.ts'
import type { AttributesOf, ModelName } from './attributes-of.ts'
import type { Computed, DeclaredType, Flag, KeyOf, Timestamp, ToMany, ValueOf, WithSchema } from './value-of.ts'

/**
 * A record of a model in the form of JSON: times and big integers are strings, a to-one association is the key of the
 * other record. To-many associations are present only when populated.
 */
export type RecordOf<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<Output<M, AttributesOf<M, N>>>

/** The attributes that `upsert` may name: the primary key, and those that are unique or whose options are known at run time only. */
export type UniqueName<M extends ModelDefinitions, N extends ModelName<M>> = keyof Uniques<AttributesOf<M, N>> & string

/** The input of a new record. Automatic timestamps are not accepted. */
export type CreateInput<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<
  NeededInput<M, AttributesOf<M, N>> & OtherInput<M, AttributesOf<M, N>>
>

/** The input of an update. Omitted attributes do not change; a list for a to-many association replaces it. */
export type UpdateInput<M extends ModelDefinitions, N extends ModelName<M>> = Simplify<Changes<M, AttributesOf<M, N>>>

type Output<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as A[K] extends ToMany | Flag<'hidden'> ? never : K]: ValueOf<M, A[K]> | NullIn<A[K]>
}
type Uniques<A> = {
  [K in keyof A as A[K] extends ToMany | Flag<'hidden'> ? never : true extends MayBeUnique<A[K]> ? K : never]: unknown
}
type MayBeUnique<A> =
  A extends Flag<'primaryKey'>
    ? true
    : 'unique' extends keyof A
      ? A['unique'] extends false | undefined
        ? false
        : true
      : false
type NeededInput<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as IsNeeded<A[K]> extends true ? K : never]: Given<M, A[K]>
}
type OtherInput<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as IsNeeded<A[K]> extends true
    ? never
    : A[K] extends Timestamp | Computed
      ? never
      : K]?: Given<M, A[K]>
}
type Changes<M extends ModelDefinitions, A> = {
  -readonly [K in keyof A as A[K] extends Flag<'primaryKey'> | Timestamp | Computed ? never : K]?: Given<M, A[K]>
}

/** The input type of an attribute: the input of a schema may differ from its output. */
type Given<M extends ModelDefinitions, A> =
  A extends ToMany<infer Target>
    ? readonly KeyOf<M, Target>[]
    : (A extends WithSchema<infer Input, unknown> ? Input : ValueOf<M, A>) | NullIn<A>

/** Attributes for which the client or the service always sets a value. */
type NeverAbsent = Flag<'required'> | Flag<'primaryKey'> | Timestamp | HasDefault
type HasDefault = { readonly defaultsTo: NonNullable<unknown> }
export type NullIn<A> = A extends Flag<'allowNull'> ? null : A extends NeverAbsent ? never : null

type IsNeeded<A> = A extends Flag<'required'> ? true : A extends Flag<'primaryKey'> ? IsNeededKey<A> : false
type IsNeededKey<A> = A extends Flag<'autoIncrement'> | HasDefault
  ? false
  : DeclaredType<A> extends 'uuid'
    ? false
    : true

/** Displays a type as its members. */
export type Simplify<T> = { [K in keyof T]: T[K] } & {}

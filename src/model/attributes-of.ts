import type { AttributeDefinitions, ModelDefinition, ModelDefinitions, sharedAttributes } from './definition.ts'

/*
 * A registry of models, read by the compiler. Models name each other and are looked up here when somebody asks, so
 * that they may refer to each other in any order, and each is worked out once.
 */

export type ModelName<M extends ModelDefinitions> = keyof M & string

/**
 * The models of a configuration together with the `attributes` it gives to all of them: what `RecordOf` and its
 * siblings take for a registry. Without such attributes it is the models themselves, and so it is when only the running
 * program knows the models.
 */
export type Registry<M extends ModelDefinitions, Shared extends AttributeDefinitions = None> = [keyof Shared] extends [
  never,
]
  ? M
  : string extends keyof M
    ? M
    : { readonly [N in keyof M]: Omit<M[N], 'attributes'> & { readonly attributes: WithShared<M[N], Shared> } }

/**
 * The attributes of a model by name: its own, and those of all models that it neither removed nor replaced. The one
 * that identifies a record says `primaryKey`, however that was declared. `never` is the name of a model that only the
 * running program knows: its attributes may be any.
 */
export type AttributesOf<M extends ModelDefinitions, N extends keyof M> = Marked<
  WithShared<[N] extends [never] ? ModelDefinition : M[N], typeof sharedAttributes>,
  PrimaryKeyName<M[N]>
>

/** The name of the attribute that identifies a record. */
export type PrimaryKeyName<Definition> = [DeclaredKey<Definition>] extends [never] ? 'id' : DeclaredKey<Definition>

/** The attribute that identifies a record. */
export type KeyAttribute<M extends ModelDefinitions, N extends keyof M> = AttributesOf<M, N>[PrimaryKeyName<M[N]> &
  keyof AttributesOf<M, N>]

export type None = Readonly<Record<never, never>>

export type OwnAttributes<Definition> = Definition extends { readonly attributes: infer Own }
  ? Own
  : 'attributes' extends keyof Definition
    ? AttributeDefinitions // only known when the program runs
    : None

type DeclaredKey<Definition> = Definition extends { readonly primaryKey: infer Name extends string }
  ? Name
  : FlaggedKey<OwnAttributes<Definition>>
type FlaggedKey<A> = { [K in keyof A]: A[K] extends { readonly primaryKey: true } ? K : never }[keyof A]

/** What was removed is among them as `false`. */
type WithShared<Definition, Shared> = {
  readonly [K in keyof OwnAttributes<Definition>]: OwnAttributes<Definition>[K]
} & Without<Shared, keyof OwnAttributes<Definition> | Displaced<DeclaredKey<Definition>, Shared>>
type Without<Shared, Names> = { readonly [K in keyof Shared as K extends Names ? never : K]: Shared[K] }
/** A key of its own makes the shared ones go. */
type Displaced<Key, Shared> = [Key] extends [never] ? never : Exclude<'id' | FlaggedKey<Shared>, Key>

type Marked<A, Key> = {
  readonly [K in keyof A as A[K] extends false ? never : K]: K extends Key ? A[K] & { readonly primaryKey: true } : A[K]
}

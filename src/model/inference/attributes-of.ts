import type { AttributeDefinitions, ModelDefinition, ModelDefinitions, sharedAttributes } from '../definition.ts'

/*
 * A registry of models for the compiler. Models refer to each other by name and are resolved on use, so that their order
 * does not matter and each is evaluated once.
 */

export type ModelName<M extends ModelDefinitions> = keyof M & string

/**
 * The models of a configuration merged with its shared `attributes`: the registry that `RecordOf` and related types take.
 * Without shared attributes, or if the models are only known at run time, it is the models themselves.
 */
export type Registry<M extends ModelDefinitions, Shared extends AttributeDefinitions = None> = [keyof Shared] extends [
  never,
]
  ? M
  : string extends keyof M
    ? M
    : { readonly [N in keyof M]: Omit<M[N], 'attributes'> & { readonly attributes: WithShared<M[N], Shared> } }

/**
 * The attributes of a model by name: its own, and the shared ones that it does not remove or replace. The primary key has
 * `primaryKey: true`, however it was declared. `never` is the name of a model that is only known at run time: it may have
 * any attributes.
 */
export type AttributesOf<M extends ModelDefinitions, N extends keyof M> = [N] extends [never]
  ? Marked<WithShared<ModelDefinition, typeof sharedAttributes>, never>
  : M[N] extends UsualModel
    ? M[N]['attributes'] & BuiltIn
    : Marked<WithShared<M[N], typeof sharedAttributes>, PrimaryKeyName<M[N]>>

/** The name of the primary key. */
export type PrimaryKeyName<Definition> = Definition extends UsualModel
  ? 'id'
  : [DeclaredKey<Definition>] extends [never]
    ? 'id'
    : DeclaredKey<Definition>

/**
 * A model that neither declares its key nor replaces or removes built-in attributes, as most: its attributes need not be
 * evaluated one by one.
 */
export interface UsualModel {
  readonly primaryKey?: undefined
  readonly attributes: { readonly [Name in keyof typeof sharedAttributes]?: never } & {
    readonly [name: string]: UsualAttribute
  }
}
/** The compiler compares an object only with types that name one of its properties. */
interface UsualAttribute {
  readonly primaryKey?: false
  readonly type?: unknown
  readonly model?: unknown
  readonly collection?: unknown
}
type BuiltIn = Marked<typeof sharedAttributes, 'id'>

/** The definition of the primary key. */
export type KeyAttribute<M extends ModelDefinitions, N extends keyof M> = AttributesOf<M, N>[PrimaryKeyName<M[N]> &
  keyof AttributesOf<M, N>]

export type None = Readonly<Record<never, never>>

export type OwnAttributes<Definition> = Definition extends { readonly attributes: infer Own }
  ? Own
  : 'attributes' extends keyof Definition
    ? AttributeDefinitions // only known at run time
    : None

type DeclaredKey<Definition> = Definition extends { readonly primaryKey: infer Name extends string }
  ? Name
  : FlaggedKey<OwnAttributes<Definition>>
type FlaggedKey<A> = { [K in keyof A]: A[K] extends { readonly primaryKey: true } ? K : never }[keyof A]

/** Removed attributes are included as `false`. */
export type WithShared<Definition, Shared> = {
  readonly [K in keyof OwnAttributes<Definition>]: OwnAttributes<Definition>[K]
} & Without<Shared, keyof OwnAttributes<Definition> | Displaced<DeclaredKey<Definition>, Shared>>
type Without<Shared, Names> = { readonly [K in keyof Shared as K extends Names ? never : K]: Shared[K] }
/** The shared keys that a key of the model's own replaces. */
type Displaced<Key, Shared> = [Key] extends [never] ? never : Exclude<'id' | FlaggedKey<Shared>, Key>

type Marked<A, Key> = {
  readonly [K in keyof A as A[K] extends false ? never : K]: K extends Key ? A[K] & { readonly primaryKey: true } : A[K]
}

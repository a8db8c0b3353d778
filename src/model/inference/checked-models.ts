import type {
  AttributeDefinition,
  AttributeDefinitions,
  IndexOptions,
  ModelDefinition,
  ModelDefinitions,
  sharedAttributes,
} from '../definition.ts'
import type { None, OwnAttributes, WithShared } from './attributes-of.ts'
import type { CompileError, UnknownOption } from './compile-errors.ts'
import type { NullIn } from './record-of.ts'
import type { SortTerm } from './sort-of.ts'
import type { Computed, ValueOf } from './value-of.ts'

/**
 * Additional checks of literal models, so that typing errors are compile errors at their place: no unknown options, and
 * associations name existing models and attributes. Used as an intersection, `models: M & CheckedModels<M, Shared>`, which
 * does not affect the inference of `M`.
 *
 * Of a model without a mistake nothing more is required: an intersection with the checks of its attributes would have the
 * compiler create a type and a symbol for every option of every attribute.
 */
export type CheckedModels<
  M extends ModelDefinitions,
  Shared extends AttributeDefinitions = None,
  Role extends string = string,
> = {
  readonly [N in keyof M]: keyof M[N] extends keyof ModelDefinition
    ? M[N] extends SoundModel<keyof M & string, Role>
      ? [FaultyName<M[N]['attributes'], M, keyof Shared, Role>] extends [never]
        ? CheckedIndexes<M[N], Shared>
        : CheckedModel<M, N, Shared, Role>
      : CheckedModel<M, N, Shared, Role>
    : UnknownOption<keyof M[N], keyof ModelDefinition>
}

type CheckedModel<M extends ModelDefinitions, N extends keyof M, Shared, Role extends string> = CheckedAccess<
  M[N],
  Role
> & {
  readonly attributes?: CheckedAttributes<OwnAttributes<M[N]>, M, keyof Shared, Role>
} & CheckedIndexes<M[N], Shared>

/** A model whose associations name existing models, and whose rules name existing roles: one comparison for each model. */
interface SoundModel<Name extends string, Role extends string> {
  readonly access?: string | { readonly [action: string]: Role | NoName }
  readonly attributes: { readonly [name: string]: SoundAttribute<Name> | false }
}
interface SoundAttribute<Name extends string> {
  readonly type?: unknown
  readonly model?: Name
  readonly collection?: Name
}
type NoName = object | boolean | null | undefined

/** The names of the attributes with options that are unknown or not as they should be. */
type FaultyName<A, M extends ModelDefinitions, SharedNames, Role extends string> = {
  [K in keyof A]: keyof A[K] extends PlainOption
    ? never
    : unknown extends CheckedAttribute<A[K], A, M, SharedNames, Role>
      ? never
      : K
}[keyof A]
/** The options that say nothing about other attributes, and those that `SoundModel` compares. */
type PlainOption = Exclude<keyof AttributeDefinition, 'access' | 'via' | 'computed' | 'get' | 'sql'>

/** The roles of rules are those that a user can have. */
type CheckedAccess<Definition, Role extends string> = Definition extends { readonly access: infer Access }
  ? {
      readonly access: {
        readonly [K in keyof Access]: Access[K] extends string
          ? Known<Access[K], Role, 'no user has this role'>
          : unknown
      }
    }
  : unknown

/** The same of shared attributes. */
export type CheckedAttributeAccess<A, Role extends string> = { readonly [K in keyof A]: CheckedAccess<A[K], Role> }

/** The attributes of a model that have a column. */
type ColumnName<A> = {
  [K in keyof A]: A[K] extends { readonly collection: string } | Computed | false ? never : K
}[keyof A] &
  string

/** The names are evaluated only where there are indexes. */
type CheckedIndexes<Definition, Shared> = Definition extends { readonly indexes: infer Indexes }
  ? { readonly indexes?: IndexesOf<Indexes, ColumnName<WithShared<Definition, Shared & typeof sharedAttributes>>> }
  : unknown
type IndexesOf<Indexes, Name extends string> = {
  readonly [I in keyof Indexes]: Indexes[I] extends readonly unknown[]
    ? readonly SortTerm<Name>[]
    : Omit<IndexOptions, 'attributes'> & { readonly attributes: readonly SortTerm<Name>[] }
}

type CheckedAttributes<A, M extends ModelDefinitions, SharedNames, Role extends string> = {
  readonly [K in keyof A]: CheckedAttribute<A[K], A, M, SharedNames, Role>
}
type CheckedAttribute<A, All, M extends ModelDefinitions, SharedNames, Role extends string> = [A] extends [false]
  ? unknown
  : keyof A extends Exclude<keyof AttributeDefinition, 'access'>
    ? CheckedNames<A, All, M, SharedNames>
    : keyof A extends keyof AttributeDefinition
      ? CheckedAccess<A, Role> & CheckedNames<A, All, M, SharedNames>
      : UnknownOption<keyof A, keyof AttributeDefinition>

/** The names of other attributes and of models. With `through`, `via` names an attribute of that model, which is checked at start. */
type CheckedNames<A, All, M extends ModelDefinitions, SharedNames> = A extends Computed
  ? CheckedComputed<A, All, M, SharedNames>
  : A extends { readonly model: infer Target extends string } | { readonly collection: infer Target extends string }
    ? Target extends keyof M
      ? A extends { readonly through: unknown }
        ? unknown
        : A extends { readonly via: infer Via extends string }
          ? Known<
              Via,
              (keyof OwnAttributes<M[Target]> | SharedNames) & string,
              `there is no attribute ${Via} in ${Target}`
            >
          : unknown
      : Known<Target, keyof M & string, `there is no model ${Target}`>
    : unknown

/** The sources exist, and `get` takes their values if it declares what it takes, and returns a value of the type. */
type CheckedComputed<A, All, M extends ModelDefinitions, SharedNames> = A extends {
  readonly computed: readonly (infer Source extends string)[]
  readonly get: (record: infer Given) => infer Value
}
  ? [Source] extends [(keyof All | SharedNames | keyof typeof sharedAttributes) & string]
    ? [Value] extends [ValueOf<M, A> | Date | null | undefined]
      ? [SourceValues<M, All, Source>] extends [Given]
        ? unknown
        : CompileError<'get takes other values than those of the attributes in computed', Source>
      : CompileError<'get returns values of another type', Value>
    : Known<
        Source,
        (keyof All | SharedNames | keyof typeof sharedAttributes) & string,
        `there is no attribute ${Source}`
      >
  : CompileError<'a computed attribute needs get', A>

/** Of an attribute that is declared elsewhere nothing is known here. */
type SourceValues<M extends ModelDefinitions, All, Source extends string> = {
  // biome-ignore lint/suspicious/noExplicitAny: see above
  [K in Source]: K extends keyof All ? ValueOf<M, All[K]> | NullIn<All[K]> : any
}

type Known<Name extends string, Names extends string, Message extends string> = Name extends Names
  ? unknown
  : CompileError<Message, Names>

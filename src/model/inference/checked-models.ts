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
 */
export type CheckedModels<
  M extends ModelDefinitions,
  Shared extends AttributeDefinitions = None,
  Role extends string = string,
> = {
  readonly [N in keyof M]: keyof M[N] extends keyof ModelDefinition
    ? CheckedAccess<M[N], Role> & {
        readonly attributes?: CheckedAttributes<OwnAttributes<M[N]>, M, keyof Shared, Role>
        readonly indexes?: CheckedIndexes<M[N], Shared>
      }
    : UnknownOption<keyof M[N], keyof ModelDefinition>
}

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
  ? IndexesOf<Indexes, ColumnName<WithShared<Definition, Shared & typeof sharedAttributes>>>
  : unknown
type IndexesOf<Indexes, Name extends string> = {
  readonly [I in keyof Indexes]: Indexes[I] extends readonly unknown[]
    ? readonly SortTerm<Name>[]
    : Omit<IndexOptions, 'attributes'> & { readonly attributes: readonly SortTerm<Name>[] }
}

type CheckedAttributes<A, M extends ModelDefinitions, SharedNames, Role extends string> = {
  readonly [K in keyof A]: A[K] extends false
    ? unknown
    : keyof A[K] extends Exclude<keyof AttributeDefinition, 'access'>
      ? CheckedNames<A[K], A, M, SharedNames>
      : keyof A[K] extends keyof AttributeDefinition
        ? CheckedAccess<A[K], Role> & CheckedNames<A[K], A, M, SharedNames>
        : UnknownOption<keyof A[K], keyof AttributeDefinition>
}

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

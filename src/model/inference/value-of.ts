import type { RecordId } from '../../protocol/change.ts'
import type { Json } from '../../protocol/json.ts'
import type { ModelDefinitions, TypeName } from '../definition.ts'
import type { KeyAttribute, ModelName } from './attributes-of.ts'

/** The type of the values of an attribute that are not null. */
export type ValueOf<M extends ModelDefinitions, A> =
  A extends ToOne<infer Target>
    ? KeyOf<M, Target>
    : A extends WithSchema<unknown, infer Output>
      ? Output
      : A extends { readonly isIn: readonly (infer Value)[] }
        ? Value
        : ValueOfType[DeclaredType<A>]

/** The type of the primary key of a model. */
export type KeyOf<M extends ModelDefinitions, N> =
  N extends ModelName<M> ? Extract<ValueOf<M, KeyAttribute<M, N>>, RecordId> : RecordId

/** The name of the attribute type. For a to-one association, that of the target's key. */
export type TypeOf<M extends ModelDefinitions, A> =
  A extends ToOne<infer Target>
    ? Target extends ModelName<M>
      ? DeclaredType<KeyAttribute<M, Target>>
      : 'unknown'
    : DeclaredType<A>

/** The type of a definition; `attributeTypeOf` is its counterpart at run time. */
export type DeclaredType<A> = A extends { readonly type: infer T extends TypeName }
  ? A extends { readonly columnType: infer Column extends string }
    ? TypeInColumn<A, T, FirstWord<Lowercase<Column>>>
    : PlainType<A, T>
  : A extends Flag<'autoIncrement'>
    ? 'number'
    : A extends Timestamp
      ? 'datetime'
      : 'unknown' // only known at run time

interface ValueOfType {
  text: string
  number: number
  bigint: string
  boolean: boolean
  json: Json
  datetime: string
  uuid: string
  binary: string
  unknown: Json
}

// Patterns of definitions.
export type Flag<Name extends string> = { readonly [K in Name]: true }
export type ToOne<Target = string> = { readonly model: Target }
export type ToMany<Target = string> = { readonly collection: Target }
export type Computed = { readonly computed: readonly string[] }
/** Neither filtered nor sorted: hidden attributes, and computed ones without SQL. */
export type Unsearchable = Flag<'hidden'> | (Computed & { readonly sql?: never })
export type Timestamp = Flag<'autoCreatedAt'> | Flag<'autoUpdatedAt'>
export type WithSchema<Input, Output> = {
  readonly schema: {
    readonly '~standard': { readonly types?: { readonly input: Input; readonly output: Output } | undefined }
  }
}

interface TypeByName {
  string: 'text'
  number: 'number'
  boolean: 'boolean'
  json: 'json'
  ref: 'json'
  datetime: 'datetime'
  bigint: 'bigint'
  binary: 'binary'
}
type PlainType<A, T extends TypeName> = A extends Flag<'isUUID'> ? 'uuid' : TypeByName[T]

type TypeInColumn<A, T extends TypeName, Column> = A extends Milliseconds
  ? 'number'
  : Column extends keyof TypeByColumn[T]
    ? TypeByColumn[T][Column]
    : PlainType<A, T>
/** Safe integers, also in a bigint column. */
type Milliseconds = Timestamp & { readonly type: 'number' }

interface TypeByColumn extends Record<TypeName, unknown> {
  string: BigColumns & { uuid: 'uuid' }
  number: BigColumns
  ref: BigColumns & TimestampColumns & BytesColumns & { uuid: 'uuid' }
}
type BigColumns = Record<'bigint' | 'int8' | 'bigserial', 'bigint'>
type TimestampColumns = Record<'datetime' | 'timestamp' | 'timestamptz' | 'date', 'datetime'>
type BytesColumns = Record<'blob' | `${'tiny' | 'medium' | 'long'}blob` | 'bytea' | 'binary' | 'varbinary', 'binary'>

/** The first word: 'timestamp' of 'timestamp(3) with time zone'. */
type FirstWord<Text extends string> = Text extends `${infer Word} ${string}`
  ? FirstWord<Word>
  : Text extends `${infer Word}(${string}`
    ? Word
    : Text

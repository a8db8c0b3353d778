import type { RecordId } from '../protocol/change.ts'
import type { Json } from '../protocol/json.ts'
import type { KeyAttribute, ModelName } from './attributes-of.ts'
import type { ModelDefinitions, TypeName } from './definition.ts'

/** The values that an attribute holds when they are not null, as they are answered and compared. */
export type ValueOf<M extends ModelDefinitions, A> =
  A extends ToOne<infer Target>
    ? KeyOf<M, Target>
    : A extends WithSchema<unknown, infer Output>
      ? Output
      : A extends { readonly isIn: readonly (infer Value)[] }
        ? Value
        : ValueOfType[DeclaredType<A>]

/** What identifies a record of the model: the value of its primary key. */
export type KeyOf<M extends ModelDefinitions, N> =
  N extends ModelName<M> ? Extract<ValueOf<M, KeyAttribute<M, N>>, RecordId> : RecordId

/** How the values are compared. For a to-one association it is the type of the other model's key. */
export type TypeOf<M extends ModelDefinitions, A> =
  A extends ToOne<infer Target>
    ? Target extends ModelName<M>
      ? DeclaredType<KeyAttribute<M, Target>>
      : 'unknown'
    : DeclaredType<A>

/** What the words of a definition mean. `attributeTypeOf` says the same when the program runs. */
export type DeclaredType<A> = A extends { readonly type: infer T extends TypeName }
  ? A extends { readonly columnType: infer Column extends string }
    ? TypeInColumn<A, T, FirstWord<Lowercase<Column>>>
    : PlainType<A, T>
  : A extends Says<'autoIncrement'>
    ? 'number'
    : A extends Timestamp
      ? 'datetime'
      : 'unknown' // before the program runs

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

// What a definition may say, as patterns to compare it with.
export type Says<Word extends string> = { readonly [W in Word]: true }
export type ToOne<Target = string> = { readonly model: Target }
export type ToMany<Target = string> = { readonly collection: Target }
export type Timestamp = Says<'autoCreatedAt'> | Says<'autoUpdatedAt'>
export type WithSchema<Input, Output> = {
  readonly schema: {
    readonly '~standard': { readonly types?: { readonly input: Input; readonly output: Output } | undefined }
  }
}

interface TypeByWord {
  string: 'text'
  number: 'number'
  boolean: 'boolean'
  json: 'json'
  ref: 'json'
  datetime: 'datetime'
  bigint: 'bigint'
}
type PlainType<A, T extends TypeName> = A extends Says<'isUUID'> ? 'uuid' : TypeByWord[T]

type TypeInColumn<A, T extends TypeName, Column> = A extends Milliseconds
  ? 'number'
  : Column extends keyof TypeByColumn[T]
    ? TypeByColumn[T][Column]
    : PlainType<A, T>
/** Whole and exact, whatever the column could hold beyond them. */
type Milliseconds = Timestamp & { readonly type: 'number' }

interface TypeByColumn extends Record<TypeName, unknown> {
  string: BigColumns & { uuid: 'uuid' }
  number: BigColumns
  ref: BigColumns & MomentColumns & BytesColumns & { uuid: 'uuid' }
}
type BigColumns = Record<'bigint' | 'int8' | 'bigserial', 'bigint'>
type MomentColumns = Record<'datetime' | 'timestamp' | 'timestamptz' | 'date', 'datetime'>
type BytesColumns = Record<'blob' | `${'tiny' | 'medium' | 'long'}blob` | 'bytea' | 'binary' | 'varbinary', 'binary'>

/** 'timestamp(3) with time zone' is a timestamp. */
type FirstWord<Text extends string> = Text extends `${infer Word} ${string}`
  ? FirstWord<Word>
  : Text extends `${infer Word}(${string}`
    ? Word
    : Text

import type { Json, JsonObject } from '../protocol/json.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName, PrimaryKeyName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { RecordOf, Simplify } from './record-of.ts'
import type { ToMany, ToOne } from './value-of.ts'

/** A part of the records that were asked for. */
export interface Page<T> {
  readonly data: T[]
  /** To be given as `cursor` for the next page; null on the last. */
  readonly next: string | null
  /** How many there are on all pages, when `count` was asked for. */
  readonly total?: number
}

/** A record as a find with these options answers it. */
export type Found<M extends ModelDefinitions, N extends ModelName<M>, Options> = Embedding<
  M,
  AttributesOf<M, N>,
  Selected<RecordOf<M, N>, PrimaryKeyName<M[N]>, Option<Options, 'select'>, Option<Options, 'omit'>>,
  ByName<Option<Options, 'populate'>>
>

type Option<Options, Word> = Word extends keyof Options ? Options[Word] : undefined

type Selected<R, Key, Select, Omitted> =
  IsOpen<Select | Omitted> extends true
    ? Simplify<Pick<R, Extract<Key, keyof R>> & Partial<R>>
    : Select extends readonly (infer Name)[]
      ? Simplify<Pick<R, Extract<Name | Key, keyof R>>>
      : Omitted extends readonly (infer Name)[]
        ? Simplify<Omit<R, Extract<Name, keyof R>>>
        : R

/** Which names a list holds is known only when the program runs. */
type IsOpen<List> = number extends Extract<List, readonly unknown[]>['length'] ? true : false

/** Names as they are in the other form; those that are only perhaps among them are optional. */
type ByName<Populated> = Populated extends readonly (infer Name extends string)[]
  ? IsOpen<Populated> extends true
    ? { readonly [K in Name]?: true }
    : { readonly [K in Name]: true }
  : Populated

type Embedding<M extends ModelDefinitions, A, R, Populated> = Populated extends object
  ? Simplify<
      Omit<R, keyof Populated> & {
        -readonly [K in keyof Populated]: undefined extends Populated[K]
          ? PerhapsEmbedded<R, K>
          : Embedded<M, A[K & keyof A], Populated[K]>
      }
    >
  : R

/**
 * To-many: a page of records. To-one: the record in place of its key; even where a key is required it may be null, for
 * what is not to be seen is not embedded.
 */
type Embedded<M extends ModelDefinitions, A, Options> = A extends ToMany
  ? Found<M, TargetOf<M, A>, Options>[]
  : A extends ToOne
    ? Found<M, TargetOf<M, A>, Options> | null
    : Json // an association that only the running program knows

type PerhapsEmbedded<R, K> = K extends keyof R ? R[K] | JsonObject | null : JsonObject[]

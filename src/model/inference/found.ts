import type { Json, JsonObject } from '../../protocol/json.ts'
import type { ModelDefinitions } from '../definition.ts'
import type { TargetOf } from './associations-of.ts'
import type { AttributesOf, ModelName, PrimaryKeyName } from './attributes-of.ts'
import type { RecordOf, Simplify } from './record-of.ts'
import type { Flag, ToMany, ToOne } from './value-of.ts'

/** A page of records. */
export interface Page<T> {
  readonly data: T[]
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null
  /** The total number of records, if `count` was requested. */
  readonly total?: number
}

/** A record as `find` with these options returns it. */
export type Found<M extends ModelDefinitions, N extends ModelName<M>, Options> = Embedding<
  M,
  AttributesOf<M, N>,
  Selected<RecordOf<M, N>, PrimaryKeyName<M[N]>, Option<Options, 'select'>, Option<Options, 'omit'>>,
  ByName<Option<Options, 'populate'>>
>

type Option<Options, Name> = Name extends keyof Options ? Options[Name] : undefined

type Selected<R, Key, Select, Omitted> =
  IsOpen<Select | Omitted> extends true
    ? Simplify<Pick<R, Extract<Key, keyof R>> & Partial<R>>
    : Select extends readonly (infer Name)[]
      ? Simplify<Pick<R, Extract<Name | Key, keyof R>>>
      : Omitted extends readonly (infer Name)[]
        ? Simplify<Omit<R, Extract<Name, keyof R>>>
        : R

/** Whether the names of a list are only known at run time. */
type IsOpen<List> = number extends Extract<List, readonly unknown[]>['length'] ? true : false

/** A list of names as an object; names that are only known at run time are optional. */
type ByName<Populated> = Populated extends readonly (infer Name extends string)[]
  ? IsOpen<Populated> extends true
    ? { readonly [K in Name]?: true }
    : { readonly [K in Name]: true }
  : Populated

type Embedding<M extends ModelDefinitions, A, R, Populated> = Populated extends object
  ? Simplify<
      Omit<R, keyof Populated> & {
        -readonly [K in keyof Populated]: undefined extends Populated[K]
          ? MaybeEmbedded<R, K>
          : Embedded<M, A[K & keyof A], Populated[K]>
      }
    >
  : R

/**
 * To-many: a page of records. To-one: the record instead of its key, or null. A required one is never null, unless a
 * condition of `populate` or an access rule of its model may leave it out.
 */
type Embedded<M extends ModelDefinitions, A, Options> = A extends ToMany
  ? Found<M, TargetOf<M, A>, Options>[]
  : A extends ToOne
    ? Found<M, TargetOf<M, A>, Options> | (IsAlwaysEmbedded<M, A, Options> extends true ? never : null)
    : Json // an association that is only known at run time

type IsAlwaysEmbedded<M extends ModelDefinitions, A, Options> =
  A extends Flag<'required'>
    ? A extends Flag<'allowNull'>
      ? false
      : 'where' extends keyof Options
        ? false
        : M[TargetOf<M, A>] extends { readonly access: unknown }
          ? false
          : true
    : false

type MaybeEmbedded<R, K> = K extends keyof R ? R[K] | JsonObject | null : JsonObject[]

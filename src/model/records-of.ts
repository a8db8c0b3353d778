import type { AttributesOf, ModelName, PrimaryKeyName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { CreateInput, RecordOf, Simplify, UpdateInput } from './record-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Sortable, SortBy, Where } from './where-of.ts'

/** The records of each model, for code in the same process. */
export type Records<M extends ModelDefinitions> = { readonly [N in ModelName<M>]: ModelRecords<M, N> }

/** What can be done with the records of one model. */
export interface ModelRecords<M extends ModelDefinitions, N extends ModelName<M>> {
  /** The records that fulfil `where`, a page of them. */
  find<const Select extends Selection<M, N> = undefined, const Omitted extends Omission<M, N> = undefined>(
    options?: FindOptions<M, N, Select, Omitted>,
  ): Promise<Page<Found<M, N, { select: Select; omit: Omitted }>>>
  /** The record with this key, or undefined when there is none. */
  findOne<const Select extends Selection<M, N> = undefined, const Omitted extends Omission<M, N> = undefined>(
    id: KeyOf<M, N>,
    options?: Projection<Select, Omitted>,
  ): Promise<Found<M, N, { select: Select; omit: Omitted }> | undefined>
  /** How many records fulfil `where`. */
  count(options?: { readonly where?: Where<M, N> }): Promise<number>
  create(input: CreateInput<M, N>): Promise<RecordOf<M, N>>
  /** The record after the change. Rejects with a ServiceError, E_NO_SUCH_RECORD, when there is no such record. */
  update(id: KeyOf<M, N>, input: UpdateInput<M, N>): Promise<RecordOf<M, N>>
  /** The record as it was. Rejects with a ServiceError, E_NO_SUCH_RECORD, when there is no such record. */
  destroy(id: KeyOf<M, N>): Promise<RecordOf<M, N>>
}

/** A part of the records that were asked for. */
export interface Page<T> {
  readonly data: T[]
}

/** Which attributes to answer. The primary key always is; `select` wins when both are given. */
export interface Projection<Select, Omitted> {
  readonly select?: Select
  readonly omit?: Omitted
}

/** Which records to find, in which order, and what of them. */
export type FindOptions<
  M extends ModelDefinitions,
  N extends ModelName<M>,
  Select = Selection<M, N>,
  Omitted = Omission<M, N>,
> = Simplify<Projection<Select, Omitted> & Criteria<M, N>>

interface Criteria<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly where?: Where<M, N>
  readonly sort?: SortBy<keyof Sortable<M, AttributesOf<M, N>> & string>
  readonly limit?: number
  readonly skip?: number
}

/** A record as a find with these options answers it. */
export type Found<M extends ModelDefinitions, N extends ModelName<M>, Options> = Shown<
  RecordOf<M, N>,
  PrimaryKeyName<M[N]>,
  Option<Options, 'select'>,
  Option<Options, 'omit'>
>

type Selection<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly (keyof RecordOf<M, N> & string)[]
  | undefined
type Omission<M extends ModelDefinitions, N extends ModelName<M>> =
  | readonly Exclude<keyof RecordOf<M, N> & string, PrimaryKeyName<M[N]>>[]
  | undefined

type Option<Options, Word> = Word extends keyof Options ? Options[Word] : undefined

type Shown<R, Key, Select, Omitted> =
  IsOpen<Select | Omitted> extends true
    ? Simplify<Pick<R, Extract<Key, keyof R>> & Partial<R>>
    : Select extends readonly (infer Name)[]
      ? Simplify<Pick<R, Extract<Name | Key, keyof R>>>
      : Omitted extends readonly (infer Name)[]
        ? Simplify<Omit<R, Extract<Name, keyof R>>>
        : R

/** Which names a list holds is known only when the program runs. */
type IsOpen<List> = number extends Extract<List, readonly unknown[]>['length'] ? true : false

import type { ModelDefinitions } from '../model/definition.ts'
import type { ModelName } from '../model/inference/attributes-of.ts'
import type { Exactly } from '../model/inference/compile-errors.ts'
import type { FindOneOptions, FindOptions, Omission, Population, Selection } from '../model/inference/find-options.ts'
import type { Found, Page } from '../model/inference/found.ts'
import type { Members } from '../model/inference/members-of.ts'
import type { CreateInput, RecordOf, UniqueName, UpdateInput } from '../model/inference/record-of.ts'
import type { KeyOf } from '../model/inference/value-of.ts'
import type { Where } from '../model/inference/where-of.ts'
import type { LiveQueries } from './live/live-of.ts'
import type { CallOptions, WriteOptions } from './options.ts'

/** A page as `find` of the client takes it: the options of a find. */
type Find<M extends ModelDefinitions, N extends ModelName<M>, S, O, P> = FindOptions<
  M,
  N,
  S,
  O,
  P & Exactly<Population<M, N>, P>
>
type Row<M extends ModelDefinitions, N extends ModelName<M>, S, O, P> = Found<M, N, { select: S; omit: O; populate: P }>

/** Which records. A condition that every record fulfils is refused. */
interface Selected<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly where: Where<M, N>
}
interface Counted<M extends ModelDefinitions, N extends ModelName<M>> extends Selected<M, N> {
  readonly count: true
}

/**
 * The operations on the records of one model over HTTP. `in out` declares that different models are unrelated types; the
 * compiler would otherwise compare the models recursively.
 */
export interface ClientRecords<in out M extends ModelDefinitions, in out N extends ModelName<M>>
  extends Members<M, N, [call?: CallOptions]>,
    LiveQueries<M, N> {
  /**
   * A page of the records that match `where`: at most `limit` (30), in the order of `sort` and then of the key. `next` is the
   * `cursor` of the next page. Associations are embedded only where `populate` names them. Rejects with InvalidError for
   * options that the service does not accept.
   */
  find<
    const S extends Selection<M, N> = undefined,
    const O extends Omission<M, N> = undefined,
    const P extends Population<M, N> = undefined,
  >(options?: Find<M, N, S, O, P>, call?: CallOptions): Promise<Page<Row<M, N, S, O, P>>>
  /** Every record that matches `where`, read page by page; `limit` is the size of a page. */
  all<
    const S extends Selection<M, N> = undefined,
    const O extends Omission<M, N> = undefined,
    const P extends Population<M, N> = undefined,
  >(options?: Find<M, N, S, O, P>, call?: CallOptions): AsyncGenerator<Row<M, N, S, O, P>, undefined, undefined>
  /** The record with this key, or undefined. */
  findOne<
    const S extends Selection<M, N> = undefined,
    const O extends Omission<M, N> = undefined,
    const P extends Population<M, N> = undefined,
  >(
    id: KeyOf<M, N>,
    options?: FindOneOptions<M, N, S, O, P & Exactly<Population<M, N>, P>>,
    call?: CallOptions,
  ): Promise<Row<M, N, S, O, P> | undefined>
  /** The number of records that match `where`. */
  count(options?: { readonly where?: Where<M, N> }, call?: CallOptions): Promise<number>
  /** Creates a record. Rejects with InvalidError, whose `invalidAttributes` say what is wrong with the values. */
  create(input: CreateInput<M, N>, call?: WriteOptions): Promise<RecordOf<M, N>>
  /** Creates the records of a list, all or none. */
  createMany(list: readonly CreateInput<M, N>[], call?: CallOptions): Promise<RecordOf<M, N>[]>
  /** Changes the given attributes of a record and resolves with its new state. Rejects with NotFoundError if it does not exist. */
  update(id: KeyOf<M, N>, input: UpdateInput<M, N>, call?: WriteOptions): Promise<RecordOf<M, N>>
  /** Gives every record that matches the same values, all or none. Resolves with their number. */
  updateMany(selected: Counted<M, N>, input: UpdateInput<M, N>, call?: CallOptions): Promise<number>
  /** Gives every record that matches the same values, all or none. Resolves with the records as they are afterwards. */
  updateMany(selected: Selected<M, N>, input: UpdateInput<M, N>, call?: CallOptions): Promise<RecordOf<M, N>[]>
  /** Deletes a record and resolves with its last state. Rejects with NotFoundError if it does not exist. */
  destroy(id: KeyOf<M, N>, call?: WriteOptions): Promise<RecordOf<M, N>>
  /** Deletes every record that matches, all or none. Resolves with their number. */
  destroyMany(selected: Counted<M, N>, call?: CallOptions): Promise<number>
  /** Deletes every record that matches, all or none. Resolves with the last states of the records. */
  destroyMany(selected: Selected<M, N>, call?: CallOptions): Promise<RecordOf<M, N>[]>
  /** Creates a record, or changes the one with the same value of a unique attribute. */
  upsert(unique: UniqueName<M, N>, input: CreateInput<M, N>, call?: CallOptions): Promise<RecordOf<M, N>>
}

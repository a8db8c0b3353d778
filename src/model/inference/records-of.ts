import type { ModelDefinitions } from '../definition.ts'
import type { ModelActions } from './actions-of.ts'
import type { ModelName } from './attributes-of.ts'
import type { Exactly } from './compile-errors.ts'
import type { FindOneOptions, FindOptions, Omission, Population, Selection } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { LiveRecords } from './live-of.ts'
import type { Members } from './members-of.ts'
import type { CreateInput, RecordOf, UniqueName, UpdateInput } from './record-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

/** Operations on the records of each model, for code in the same process. */
export type Records<M extends ModelDefinitions> = {
  readonly [N in ModelName<M>]: ModelRecords<M, N> & ModelActions<M[N], KeyOf<M, N>>
}

/** The same within a transaction, whose events follow its commit. */
export type TransactionRecords<M extends ModelDefinitions> = {
  readonly [N in ModelName<M>]: RecordOperations<M, N> & ModelActions<M[N], KeyOf<M, N>>
}

/** Operations on the records of one model, and subscriptions to them. */
export interface ModelRecords<in out M extends ModelDefinitions, in out N extends ModelName<M>>
  extends RecordOperations<M, N>,
    LiveRecords<M, N> {}

/**
 * Operations on the records of one model. `in out` declares that different models are unrelated types; the compiler would
 * otherwise compare the models recursively.
 */
export interface RecordOperations<in out M extends ModelDefinitions, in out N extends ModelName<M>>
  extends Members<M, N> {
  /**
   * A page of the records that match `where`: at most `limit` (30), in the order of `sort` and then of the key. `next` is the
   * `cursor` of the next page. Associations are embedded only where `populate` names them. Rejects with a ServiceError,
   * E_BAD_CRITERIA or E_BAD_REQUEST, for options that are not valid or exceed a limit.
   */
  find<
    const Select extends Selection<M, N> = undefined,
    const Omitted extends Omission<M, N> = undefined,
    const Populated extends Population<M, N> = undefined,
  >(
    options?: FindOptions<M, N, Select, Omitted, Populated & Exactly<Population<M, N>, Populated>>,
  ): Promise<Page<Found<M, N, { select: Select; omit: Omitted; populate: Populated }>>>
  /** The record with this key, or undefined. Associations are embedded only where `populate` names them. */
  findOne<
    const Select extends Selection<M, N> = undefined,
    const Omitted extends Omission<M, N> = undefined,
    const Populated extends Population<M, N> = undefined,
  >(
    id: KeyOf<M, N>,
    options?: FindOneOptions<M, N, Select, Omitted, Populated & Exactly<Population<M, N>, Populated>>,
  ): Promise<Found<M, N, { select: Select; omit: Omitted; populate: Populated }> | undefined>
  /** The number of records that match `where`. */
  count(options?: { readonly where?: Where<M, N> }): Promise<number>
  /**
   * Creates a record and resolves with it as it is stored. Rejects with a ServiceError, E_INVALID_ATTRIBUTES, whose
   * `details.invalidAttributes` lists what is wrong with each value.
   */
  create(input: CreateInput<M, N>): Promise<RecordOf<M, N>>
  /** Creates the records of a list, all or none. Violations are named by their index in the list, such as `2.name`. */
  createMany(list: readonly CreateInput<M, N>[]): Promise<readonly RecordOf<M, N>[]>
  /** Updates the record that has the same value of a unique attribute or of the primary key, or creates one if there is none. */
  upsert(attribute: UniqueName<M, N>, input: CreateInput<M, N>): Promise<RecordOf<M, N>>
  /**
   * Changes the given attributes of a record and resolves with its new state. Rejects with a ServiceError: E_NO_SUCH_RECORD if
   * it does not exist, E_INVALID_ATTRIBUTES for invalid values.
   */
  update(id: KeyOf<M, N>, input: UpdateInput<M, N>): Promise<RecordOf<M, N>>
  /**
   * Gives the same values to every record that matches `where`, all or none. Resolves with their number. Rejects with a
   * ServiceError, E_CONFLICT, if more than `maxAffected` match.
   */
  updateMany(selected: Selected<M, N> & { readonly count: true }, input: UpdateInput<M, N>): Promise<number>
  /** Gives the same values to every record that matches `where`, all or none. Resolves with the records as they are afterwards. */
  updateMany(selected: Selected<M, N>, input: UpdateInput<M, N>): Promise<readonly RecordOf<M, N>[]>
  /**
   * Deletes every record that matches `where`, all or none. Resolves with their number. Rejects with a ServiceError,
   * E_CONFLICT, if more than `maxAffected` match.
   */
  destroyMany(selected: Selected<M, N> & { readonly count: true }): Promise<number>
  /** Deletes every record that matches `where`, all or none. Resolves with the last states of the records. */
  destroyMany(selected: Selected<M, N>): Promise<readonly RecordOf<M, N>[]>
  /**
   * Deletes a record and resolves with its last state. Rejects with a ServiceError: E_NO_SUCH_RECORD if it does not exist,
   * E_CONFLICT if a record refers to it whose `onDestroy` is `restrict`.
   */
  destroy(id: KeyOf<M, N>): Promise<RecordOf<M, N>>
}

/** The records that a write concerns. A condition that every record fulfils is refused. */
interface Selected<M extends ModelDefinitions, N extends ModelName<M>> {
  readonly where: Where<M, N>
}

import type { ModelName } from './attributes-of.ts'
import type { ModelDefinitions } from './definition.ts'
import type { FindOneOptions, FindOptions, Omission, Population, Selection } from './find-options.ts'
import type { Found, Page } from './found.ts'
import type { Listening } from './live-of.ts'
import type { Members } from './members-of.ts'
import type { Exactly } from './mistake.ts'
import type { CreateInput, RecordOf, UpdateInput } from './record-of.ts'
import type { KeyOf } from './value-of.ts'
import type { Where } from './where-of.ts'

/** The records of each model, for code in the same process. */
export type Records<M extends ModelDefinitions> = { readonly [N in ModelName<M>]: ModelRecords<M, N> }

/**
 * What can be done with the records of one model. Records of other models are something else, and `in out`
 * says so: to find out, the compiler would walk from model to model and give up.
 */
export interface ModelRecords<in out M extends ModelDefinitions, in out N extends ModelName<M>>
  extends Members<M, N>,
    Listening<M, N> {
  /** The records that fulfil `where`, a page of them. */
  find<
    const Select extends Selection<M, N> = undefined,
    const Omitted extends Omission<M, N> = undefined,
    const Populated extends Population<M, N> = undefined,
  >(
    options?: FindOptions<M, N, Select, Omitted, Populated & Exactly<Population<M, N>, Populated>>,
  ): Promise<Page<Found<M, N, { select: Select; omit: Omitted; populate: Populated }>>>
  /** The record with this key, or undefined when there is none. */
  findOne<
    const Select extends Selection<M, N> = undefined,
    const Omitted extends Omission<M, N> = undefined,
    const Populated extends Population<M, N> = undefined,
  >(
    id: KeyOf<M, N>,
    options?: FindOneOptions<M, N, Select, Omitted, Populated & Exactly<Population<M, N>, Populated>>,
  ): Promise<Found<M, N, { select: Select; omit: Omitted; populate: Populated }> | undefined>
  /** How many records fulfil `where`. */
  count(options?: { readonly where?: Where<M, N> }): Promise<number>
  create(input: CreateInput<M, N>): Promise<RecordOf<M, N>>
  /** The record after the change. Rejects with a ServiceError, E_NO_SUCH_RECORD, when there is no such record. */
  update(id: KeyOf<M, N>, input: UpdateInput<M, N>): Promise<RecordOf<M, N>>
  /** The record as it was. Rejects with a ServiceError, E_NO_SUCH_RECORD, when there is no such record. */
  destroy(id: KeyOf<M, N>): Promise<RecordOf<M, N>>
}

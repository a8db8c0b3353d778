import type { HasMany, ManyToMany, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { ReadOptions, Reads, Records, Snapshot, Store, Transaction, TransactionContext } from './store.ts'

declare const scoped: unique symbol

/**
 * Reads on behalf of one requester. Only `systemStore` and the access rules make one, so the compiler finds every read
 * that goes past them.
 */
export interface ScopedReads extends Reads {
  readonly [scoped]: true
  /** What the requester may see of records that were just written: a record may be missing, a value null. Undefined: everything. */
  readonly reveal?: (model: Model, records: Records) => MaybePromise<Records>
  /** The same without rules, for code of the application and for integrity. Undefined: there are no rules. */
  readonly unscoped?: Reads
  /** Throws E_FORBIDDEN if the requester may create no record of the model at all. */
  readonly assertMayCreate?: (model: Model) => void
  /** Throws E_FORBIDDEN if the requester may read, but not write, one of the records as it is. */
  readonly assertMayWrite?: (write: 'update' | 'destroy', model: Model, ids: readonly Json[]) => Promise<void>
  /** Those of the attributes whose values are masked in this record, but not in every one. Undefined: there are no rules. */
  readonly maskedIn?: (model: Model, id: Json, attributes: readonly string[]) => MaybePromise<readonly string[]>
  /** Throws E_FORBIDDEN unless the requester may change the association of these records. Undefined: it may. */
  readonly assertMayChangeMembers?: (
    action: 'add' | 'remove',
    association: HasMany | ManyToMany,
    parents: readonly Json[],
  ) => Promise<void>
}

export interface ScopedTransaction extends ScopedReads, Transaction {
  /** Whether this transaction has inserted the record, or replaces its members, so that it exists also for a requester that cannot read it. */
  readonly knows?: (model: Model, key: Json) => boolean
  /**
   * Throws E_FORBIDDEN unless the requester may replace the members of this record, and add some if `adds`. The result is the same
   * transaction, in which it may do so although its rights to the record may end with a member that leaves. Undefined: it may.
   */
  readonly replacingMembers?: (
    association: HasMany | ManyToMany,
    parent: Json,
    adds: boolean,
  ) => Promise<ScopedTransaction>
  /**
   * The same transaction without rules, for the integrity of the database alone: references from records that the
   * requester cannot see must be cleared as well.
   */
  readonly unscoped?: Transaction
}

/** A store on behalf of one requester: a record that it may not read does not exist. */
export interface ScopedStore extends ScopedReads, Omit<Store, 'transaction' | 'snapshot' | 'matching' | 'answers'> {
  transaction<T>(work: (transaction: ScopedTransaction) => MaybePromise<T>, context?: TransactionContext): Promise<T>
  snapshot<T>(work: (reads: ScopedReads) => MaybePromise<T>, options?: ReadOptions): MaybePromise<Snapshot<T>>
}

/** The whole store, for code that acts on behalf of the system. */
export const systemStore = (store: Store): ScopedStore => store as unknown as ScopedStore

export const integrity = (transaction: ScopedTransaction): Transaction => transaction.unscoped ?? transaction

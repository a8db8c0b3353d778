import type { ScopedStore, ScopedTransaction } from './scoped-store.ts'
import type { Store, Transaction } from './store.ts'

/**
 * A store whose every read and write runs in a transaction that is under way, so that several operations happen
 * together or not at all. A `transaction` of it is part of the same one; a snapshot has no position of its own and is
 * refused.
 */
export const within = (transaction: Transaction, store: Store): Store => ({
  isWithin: true,
  find: (model, criteria, options) => transaction.find(model, criteria, options),
  count: (model, where, options) => transaction.count(model, where, options),
  related: (association, keys, criteria, options) => transaction.related(association, keys, criteria, options),
  matching: (model, ids, conditions) => store.matching(model, ids, conditions),
  insert: async (model, assignments) => transaction.insert(model, assignments),
  update: async (model, where, assignments) => transaction.update(model, where, assignments),
  delete: async (model, where) => transaction.delete(model, where),
  transaction: async (work) => work(transaction),
  snapshot: () => {
    throw new Error('Bug in keelson: a snapshot inside a transaction')
  },
  changes: store.changes,
  answers: store.answers,
  secret: store.secret,
  isSecretShared: store.isSecretShared,
  description: store.description,
  async [Symbol.asyncDispose]() {},
})

/** As `within`, on behalf of the requester of the transaction. */
export const scopedWithin = (transaction: ScopedTransaction, store: ScopedStore): ScopedStore =>
  ({
    ...within(transaction, store as unknown as Store),
    reveal: transaction.reveal?.bind(transaction),
    unscoped: transaction.unscoped,
    assertMayCreate: transaction.assertMayCreate?.bind(transaction),
    assertMayWrite: transaction.assertMayWrite?.bind(transaction),
    assertMayChangeMembers: transaction.assertMayChangeMembers?.bind(transaction),
  }) as unknown as ScopedStore

import { concealNames } from '../../access/conceal.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { ScopedStore, ScopedTransaction } from '../../storage/scoped-store.ts'
import type { TransactionContext } from '../../storage/store.ts'
import { scopedWithin } from '../../storage/transaction-store.ts'
import { type Authorization, authorizationFor } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import type { LooseRecords } from './records.ts'
import { recordsByModel } from './records-by-model.ts'
import { assertNoTransaction, TransactionScope } from './transaction-scope.ts'

export type LooseTransaction = ReadonlyMap<string, LooseRecords>

/** Runs code of the application in one transaction. After a conflict it is run again from the beginning. */
export async function runTransaction<T>(
  context: DispatchContext,
  requester: Requester,
  work: (records: LooseTransaction) => T | Promise<T>,
): Promise<T> {
  assertNoTransaction(context.store)
  const authorization = authorizationFor(context, requester)
  const { access, store } = authorization
  try {
    return await inTransaction(store, context, (within, _, scope) =>
      work(recordsWithin(context, { ...authorization, store: within }, scope)),
    )
  } catch (error) {
    throw access ? concealNames(error, access, context.services.models) : error
  }
}

/** Runs operations over `within`, a store that belongs to one serializable transaction with a time limit. */
export const inTransaction = <T>(
  store: ScopedStore,
  { store: base, services: { limits } }: DispatchContext,
  work: (within: ScopedStore, transaction: ScopedTransaction, scope: TransactionScope) => T | Promise<T>,
  options?: Omit<TransactionContext, 'timeoutMs' | 'isSerializable'>,
): Promise<T> =>
  store.transaction(
    (transaction) => {
      const scope = new TransactionScope(base)
      return scope.run(() => work(scopedWithin(transaction, store), transaction, scope))
    },
    { ...options, timeoutMs: limits.transactionTimeoutMs, isSerializable: true },
  )

/** Records by model whose every operation belongs to the transaction that the authorization's store runs in. */
const recordsWithin = (
  context: DispatchContext,
  authorization: Authorization,
  scope: TransactionScope,
): LooseTransaction => recordsByModel(context, { authorization: () => authorization, scope })

import { concealNames } from '../../access/conceal.ts'
import type { Requester } from '../../protocol/requester.ts'
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
  const { models, limits } = context.services
  try {
    return await store.transaction(
      (transaction) => {
        const scope = new TransactionScope(context.store)
        const records = recordsWithin(context, { ...authorization, store: scopedWithin(transaction, store) }, scope)
        return scope.run(() => work(records))
      },
      { timeoutMs: limits.transactionTimeoutMs, isSerializable: true },
    )
  } catch (error) {
    throw access ? concealNames(error, access, models) : error
  }
}

/** Records by model whose every operation belongs to the transaction that the authorization's store runs in. */
const recordsWithin = (
  context: DispatchContext,
  authorization: Authorization,
  scope: TransactionScope,
): LooseTransaction => recordsByModel(context, { authorization: () => authorization, scope })

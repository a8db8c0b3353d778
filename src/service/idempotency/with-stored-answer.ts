import type { OperationResult, WriteOperation } from '../../operation/operation.ts'
import type { ScopedStore, ScopedTransaction } from '../../storage/scoped-store.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { asRefusal } from '../in-process/as-refusal.ts'
import { inTransaction } from '../in-process/transaction.ts'

/** The operation, with something that is done in its transaction once its result is known. */
export const withStoredAnswer = (
  operation: WriteOperation,
  keep: (transaction: ScopedTransaction, result: OperationResult) => Promise<void>,
  context: DispatchContext,
): WriteOperation => ({
  ...operation,
  run: (invocation, prepared, store, services) => {
    const work = async (within: ScopedStore, transaction: ScopedTransaction) => {
      const result = await operation.run(invocation, prepared, within, services)
      await keep(transaction, result)
      return result
    }
    return inTransaction(store, context, work, { origin: invocation.origin }).catch((error: unknown) => {
      throw asRefusal(error)
    })
  },
})

import type { OperationResult, WriteOperation } from '../../operation/operation.ts'
import type { ScopedTransaction } from '../../storage/scoped-store.ts'
import { scopedWithin } from '../../storage/transaction-store.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { asRefusal } from '../in-process/as-refusal.ts'
import { TransactionScope } from '../in-process/transaction-scope.ts'

/** The operation, with something that is done in its transaction once its result is known. */
export const keptOperation = (
  operation: WriteOperation,
  keep: (transaction: ScopedTransaction, result: OperationResult) => Promise<void>,
  { store: base, services: { limits } }: DispatchContext,
): WriteOperation => ({
  ...operation,
  run: (invocation, prepared, store, services) =>
    store
      .transaction(
        (transaction) =>
          new TransactionScope(base).run(async () => {
            const result = await operation.run(invocation, prepared, scopedWithin(transaction, store), services)
            await keep(transaction, result)
            return result
          }),
        { origin: invocation.origin, timeoutMs: limits.transactionTimeoutMs, isSerializable: true },
      )
      .catch((error: unknown) => {
        throw asRefusal(error)
      }),
})

import type { Requester } from '../../protocol/requester.ts'
import type { ScopedReads } from '../../storage/scoped-store.ts'
import type { Transaction } from '../../storage/store.ts'

/** What hooks need of the service: records of all models, by their names. Made where a model declares a hook. */
export interface HookServices {
  /** On behalf of the requester; in the transaction that `reads` belong to, if they belong to one. */
  recordsFor(requester: Requester, reads: ScopedReads): object
  /** The same on behalf of the system. */
  systemRecords(reads: ScopedReads): object
  /** Runs code of the application with records of the transaction, on behalf of the system. */
  inTransaction(transaction: Transaction, work: (tx: object) => unknown): Promise<void>
  readonly onError: (error: unknown) => void
}

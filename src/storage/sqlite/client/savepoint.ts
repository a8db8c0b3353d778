import type { MaybePromise } from '../../../support/maybe-promise.ts'
import type { Connection } from './connection.ts'

/** Undoes what `work` has written, and nothing that was written before it, when it fails; the transaction stays open. */
export async function inSavepoint<T>(connection: Connection, work: () => MaybePromise<T>): Promise<T> {
  connection.exec('savepoint operation')
  try {
    const value = await work()
    connection.exec('release operation')
    return value
  } catch (error) {
    if (connection.inTransaction) connection.exec('rollback to operation; release operation')
    throw error
  }
}

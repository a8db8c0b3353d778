import { isMarkedInternal } from '../../operation/hooks/call-hook.ts'
import { DatabaseError } from '../../storage/driver.ts'
import { withoutSubject } from '../../storage/to-service-error.ts'

/**
 * An error as it is answered. What code of the application failed to do on behalf of the system is an internal error: its
 * message may name what the requester must not know. Statements beside those of records, such as reads of the change log, fail
 * with the error of the database.
 */
export function shownError(error: unknown): unknown {
  if (isMarkedInternal(error)) return new Error(`Code of the application failed: ${error.message}`, { cause: error })
  return error instanceof DatabaseError ? withoutSubject(error) : error
}

import { DatabaseError } from '../storage/driver.ts'

/** The failure of a database that work in the background has met. */
export const databaseFailure = (error: unknown): DatabaseError | undefined =>
  error instanceof Error && error.cause instanceof DatabaseError ? error.cause : undefined

/**
 * Writes an error to the console: an outage of the database as one line, because stacks and fields of its driver explain nothing,
 * and what is not expected with all of its causes.
 */
export function printError(error: unknown): void {
  const kind = databaseFailure(error)?.reason.kind
  const isReplaced = error instanceof DatabaseError && error.reason.kind === 'replaced'
  const isOutage = isReplaced || (kind !== undefined && kind !== 'unknown')
  console.error(isOutage ? `Error: ${(error as Error).message}` : error)
}

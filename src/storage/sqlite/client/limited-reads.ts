import { ServiceError } from '../../../protocol/errors.ts'
import type { Limits } from '../../../support/limits.ts'
import { threadCpuMs } from '../../../support/thread-cpu-ms.ts'
import { PostponedRead, type Query } from '../../driver.ts'
import type { ReaderPool } from './reader-pool.ts'
import { BudgetExceeded, type RowGuard } from './row-guard.ts'

export interface ReadLimits {
  readonly guard: RowGuard
  readonly limits: Pick<Limits, 'maxBlockMs' | 'maxTransactionBlockMs'>
  /** Undefined in memory. */
  readonly processes: ReaderPool | undefined
  /** Limit on the processor time of one read. Undefined: only the sum of all reads is limited. */
  readonly maxReadMs?: number | undefined
}

/** A shorter read does not count: after it, other requests run anyway (`inTurns`). */
const shortMs = 5

/**
 * Limits the time for which the long reads of one transaction block the event loop. Before its first write, a long read is
 * repeated in a reader process, which sees the same state because no other transaction may write. After its first write, only its
 * own connection sees its writes, so a long read fails.
 */
export function limitReads(query: Query, { guard, limits, processes, maxReadMs }: ReadLimits): Query {
  const { maxBlockMs, maxTransactionBlockMs } = limits
  let leftMs = maxTransactionBlockMs
  let hasWritten = false
  return (text, values, options) => {
    const isRead = text.startsWith('select')
    if (!isRead) hasWritten = true
    const elsewhere = hasWritten ? undefined : processes
    const begin = performance.now()
    const beginCpuMs = threadCpuMs()
    try {
      return guard.limit(leftMs, () => query(text, values, options), elsewhere ? maxBlockMs / 2 : maxReadMs)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      if (elsewhere) return elsewhere.read({ text, values, access: 'filter' }, options)
      const isOneRead = performance.now() - begin < leftMs
      const limit = isOneRead ? 'maxBlockMs' : 'maxTransactionBlockMs'
      const message = `${isOneRead ? 'A read' : 'The reads'} of the transaction took longer than ${limits[limit]} ms`
      throw new ServiceError('E_TIMEOUT', message, { limit, cause: error })
    } finally {
      const usedMs = isRead ? performance.now() - begin : 0
      if (usedMs > shortMs) leftMs -= Math.min(usedMs, threadCpuMs() - beginCpuMs)
    }
  }
}

/**
 * The largest number of statements of an operation that shares its transaction. SQLite keeps a copy of each page that the
 * savepoint may restore, and goes through all of them after each statement.
 */
const maxSharedWrites = 100

/**
 * Thrown by an operation that needs a transaction of its own: it has many statements, or a long read that must not see the
 * uncommitted writes of others.
 */
export class NeedsOwnTransaction extends Error {}

/**
 * As `limitReads`, for an operation that may share its transaction with others. `othersHaveWritten`: an earlier operation has
 * written, so a reader process does not see the same state; a long read then makes the operation run again in a transaction of
 * its own. Reads after its own writes, such as the check of access rules, are not limited unless they can be postponed.
 */
export async function limitSharedReads<T>(
  query: Query,
  { guard, limits, processes }: ReadLimits,
  othersHaveWritten: boolean,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  let writes = 0
  let needsOwn: NeedsOwnTransaction | undefined
  const limited: Query = (text, values, options) => {
    if (needsOwn) throw needsOwn
    if (!text.startsWith('select')) writes++
    if (othersHaveWritten && writes > maxSharedWrites) {
      needsOwn = new NeedsOwnTransaction()
      throw needsOwn
    }
    if (!processes || (writes > 0 && !options?.isPostponable)) return query(text, values, options)
    try {
      return guard.limit(Number.POSITIVE_INFINITY, () => query(text, values, options), limits.maxBlockMs / 2)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      if (writes > 0) throw new PostponedRead()
      if (!othersHaveWritten) return processes.read({ text, values, access: 'filter' }, options)
      needsOwn = new NeedsOwnTransaction()
      throw needsOwn
    }
  }
  const result = await work(limited).catch((error: unknown) => {
    throw needsOwn ?? error
  })
  if (needsOwn) throw needsOwn // a hook has caught it
  return result
}

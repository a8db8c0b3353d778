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
  /** Processor time of one read. Undefined: only that of all reads together is bounded. */
  readonly maxReadMs?: number | undefined
}

/** Processor time of a read after which others have their turn in any case (`inTurns`): such reads do not add up. */
const shortMs = 5

/**
 * Bounds the time for which the long reads of one transaction block the event loop. Until it writes, a reader process sees what it
 * sees, as no other may write meanwhile: a long read is repeated there. Later ones fail, because only its own connection
 * sees what it has written.
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
 * What can be undone alone, as it shares its transaction with what others wrote before it. SQLite keeps each page that it changes, and looks
 * through all that it keeps after each statement.
 */
const maxSharedWrites = 100

/** Thrown for an operation that must not share its transaction: it reads elsewhere what others have not written, or has many statements. */
export class NeedsOwnTransaction extends Error {}

/**
 * The same for an operation that may share its transaction with others. `othersHaveWritten`: those before it, so that a reader
 * process does not see the same; the operation then runs again in a transaction of its own. What it reads after its own writes, such as
 * the rules for what it has written, is not bounded, unless it can be postponed.
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

import { DatabaseError } from '../../driver.ts'
import { isLost } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Pool } from './pool.ts'
import type { QueryRequest } from './text-query.ts'

/**
 * Statements that wait for locks of other programs and of long transactions, by kind: a read by its text, a write by its row. The
 * first of a kind waits on a dedicated connection, and all others of the kind wait for the first one. However many statements
 * want a locked row or table, they occupy one connection, and none that other statements share.
 */
export class LockWaits {
  readonly #waits = new Map<string, Promise<unknown>>()
  readonly #pool: Pool
  readonly #waitMs: number

  constructor(pool: Pool, waitMs: number) {
    this.#pool = pool
    this.#waitMs = waitMs
  }

  /** Whether a statement of the kind is waiting. */
  has(kind: string): boolean {
    return this.#waits.size > 0 && this.#waits.has(kind)
  }

  /** Waits for the lock, as the first statement of its kind. */
  lead<T>(kind: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const wait = this.#pool.use(work).finally(() => this.#waits.delete(kind))
    this.#waits.set(kind, wait)
    return wait
  }

  /** Waits until the first statement of the kind has succeeded or failed. Throws `busy` if that takes longer than `waitMs`. */
  async follow(kind: string): Promise<void> {
    const { promise: overdue, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      reject(new DatabaseError({ kind: 'busy' }, `A lock was not free within ${this.#waitMs} ms`))
    }, this.#waitMs).unref()
    try {
      await Promise.race([this.#waits.get(kind)?.catch(() => {}), overdue])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Runs `read` when the tables of the read are no longer locked. It runs EXPLAIN first, which needs the same locks as the
   * statement.
   */
  async before<T>({ text, values }: Pick<QueryRequest, 'text' | 'values'>, read: () => Promise<T>): Promise<T> {
    const plan = { text: `explain ${text}`, values, how: 'anew' } as const
    if (this.has(text)) await this.follow(text)
    else
      await this.lead(text, (connection) => connection.run(plan)).catch((error) => {
        if (!isLost(error)) throw error
      })
    return read()
  }

  /** Runs `work` on a dedicated connection, for a statement that has no kind. */
  alone<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#pool.use(work)
  }
}

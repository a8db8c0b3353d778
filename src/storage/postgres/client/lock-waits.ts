import { DatabaseError } from '../../driver.ts'
import { isLost } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Pool } from './pool.ts'
import type { QueryRequest } from './text-query.ts'

/**
 * What waits for locks of other programs and of long transactions: a read by its text, a write by its row. The first of a
 * kind waits on a connection that is for this, and all others wait for the first one: a table or a row that is locked for
 * long holds one connection, however many want it, and no statement that others share one with.
 */
export class LockWaits {
  readonly #waits = new Map<string, Promise<unknown>>()
  readonly #pool: Pool
  readonly #waitMs: number

  constructor(pool: Pool, waitMs: number) {
    this.#pool = pool
    this.#waitMs = waitMs
  }

  /** Whether there is a first one. */
  has(kind: string): boolean {
    return this.#waits.size > 0 && this.#waits.has(kind)
  }

  /** Waits as the first of its kind. */
  lead<T>(kind: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const wait = this.#pool.use(work).finally(() => this.#waits.delete(kind))
    this.#waits.set(kind, wait)
    return wait
  }

  /** Waits until the first one has ended, in whichever way. Throws `busy` after the longest wait. */
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

  /** Waits until the tables of a read are free, and reads. The plan of a statement needs the same locks as the statement. */
  async before<T>({ text, values }: Pick<QueryRequest, 'text' | 'values'>, read: () => Promise<T>): Promise<T> {
    const plan = { text: `explain ${text}`, values, how: 'anew' } as const
    if (this.has(text)) await this.follow(text)
    else
      await this.lead(text, (connection) => connection.run(plan)).catch((error) => {
        if (!isLost(error)) throw error
      })
    return read()
  }

  /** On a connection on which it may wait, where there is nothing to wait for together. */
  alone<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#pool.use(work)
  }
}

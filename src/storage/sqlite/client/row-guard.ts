import { matchesLike } from '../../../sql/matches-like.ts'
import type { Connection } from './connection.ts'

/** The statement has used up its time on the event loop. */
export class BudgetExceeded extends Error {
  constructor() {
    super('The statement exceeded its time on the event loop')
    this.name = 'BudgetExceeded'
  }
}

/**
 * Stops a running statement: node:sqlite has neither an interrupt nor a progress handler, but a function that is called
 * for the rows of a statement may throw. Compiled selects contain a term that calls it (`Dialect.rowGuard`).
 */
export class RowGuard {
  #deadline = Number.POSITIVE_INFINITY
  #isExceeded = false

  /** Registers the functions that compiled statements call. */
  install(connection: Connection): void {
    connection.define('keelson_guard', () => {
      if (performance.now() <= this.#deadline) return 1
      this.#isExceeded = true
      throw new BudgetExceeded()
    })
    connection.define('keelson_like', (text, pattern) =>
      typeof text === 'string' && matchesLike(text, pattern as string) ? 1 : 0,
    )
  }

  /** Runs statements that throw BudgetExceeded after a time. */
  limit<T>(budgetMs: number, run: () => T): T {
    this.#deadline = performance.now() + budgetMs
    this.#isExceeded = false
    try {
      return run()
    } catch (error) {
      // Of an error in a function, a statement that is stepped from row to row says only that there was one.
      throw this.#isExceeded ? new BudgetExceeded() : error
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
  }
}

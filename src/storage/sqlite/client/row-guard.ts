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

  /** Registers the functions that compiled statements call. */
  install(connection: Connection): void {
    connection.define('keelson_guard', () => {
      if (performance.now() > this.#deadline) throw new BudgetExceeded()
      return 1
    })
    connection.define('keelson_like', (text, pattern) =>
      typeof text === 'string' && matchesLike(text, pattern as string) ? 1 : 0,
    )
  }

  /** Runs statements that throw BudgetExceeded after a time. */
  limit<T>(budgetMs: number, run: () => T): T {
    this.#deadline = performance.now() + budgetMs
    try {
      return run()
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
  }
}

import { canonicalJson } from '../../../protocol/canonical-json.ts'
import { longestMatchMs, matchesIlike, matchesLike } from '../../../sql/matches-like.ts'
import { threadCpuMs } from '../../../support/thread-cpu-ms.ts'
import type { Connection } from './connection.ts'

/** About how long a comparison takes at most, in milliseconds. */
const longestComparisonMs = (text: string): number => text.length / 20_000

/** `canonical` is of a value; the other text may have other spaces and another order. What SQLite alone takes for JSON is a text. */
function isSameJson(text: string, canonical: string): boolean {
  try {
    return canonicalJson(JSON.parse(text)) === canonical
  } catch {
    return canonicalJson(text) === canonical
  }
}

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
  /** `#deadline`: when the used time is checked next. `#end`: when the statement is stopped. */
  #deadline = Number.POSITIVE_INFINITY
  #end = Number.POSITIVE_INFINITY
  /** The processor time that is left, measured from the first check. */
  #cpuLeftMs: number | undefined
  #cpuMs: number | undefined
  #isExceeded = false

  /** Registers the functions that compiled statements call. */
  install(connection: Connection): void {
    connection.define('keelson_guard', () => {
      this.#check()
      return 1
    })
    // A statement without a condition does not call the function.
    connection.onStep = () => this.#check()
    // A row may have many patterns and a long text, for which one of them may take longer than all that is left.
    for (const [name, matches] of Object.entries({ keelson_like: matchesLike, keelson_ilike: matchesIlike }))
      connection.define(name, (text, pattern) => {
        if (typeof text !== 'string') return 0
        this.#check(longestMatchMs(text, pattern as string))
        return matches(text, pattern as string) ? 1 : 0
      })
    connection.define('keelson_same_json', (value, text) => {
      if (value === null || value === text) {
        this.#check()
        return value === null ? null : 1
      }
      this.#check(longestComparisonMs(value as string))
      return isSameJson(value as string, text as string) ? 1 : 0
    })
  }

  /** Runs statements that throw BudgetExceeded after a time, or sooner once they have used `maxCpuMs` of the processor. */
  limit<T>(budgetMs: number, run: () => T, maxCpuMs?: number): T {
    const now = performance.now()
    this.#end = now + budgetMs
    this.#cpuMs = undefined
    this.#isExceeded = false
    // Most statements end before the first check. Processor time is measured from then on, and half of the limit counts as used.
    this.#cpuLeftMs = maxCpuMs && maxCpuMs / 2
    this.#deadline = Math.min(this.#end, now + (this.#cpuLeftMs ?? budgetMs))
    try {
      return run()
    } catch (error) {
      // A statement that is stepped from row to row reports that a function threw, but not its error.
      throw this.#isExceeded ? new BudgetExceeded() : error
    } finally {
      this.#deadline = Number.POSITIVE_INFINITY
    }
  }

  /** `nextMs`: how long it will take until the next look. */
  #check(nextMs = 0): void {
    const end = performance.now() + nextMs
    if (end <= this.#deadline || this.#mayContinue(end, nextMs)) return
    this.#isExceeded = true
    throw new BudgetExceeded()
  }

  #mayContinue(end: number, nextMs: number): boolean {
    const now = performance.now()
    if (this.#cpuLeftMs === undefined || end > this.#end) return false
    const before = this.#cpuMs
    this.#cpuMs = threadCpuMs()
    if (before !== undefined) this.#cpuLeftMs -= this.#cpuMs - before
    this.#deadline = Math.min(this.#end, now + this.#cpuLeftMs)
    return this.#cpuLeftMs > nextMs
  }
}

import { setTimeout as pause } from 'node:timers/promises'

/** Twice the retry interval of a waiting writer. */
const pauseMs = 2
/** Continuous writing before a pause, while other writers are known to wait and while none is. */
const contendedTurnMs = 10
const uncontendedTurnMs = 100
/** How long a failed attempt counts as contention. */
const contendedMs = 1000

/**
 * Lets the writers of several processes alternate. SQLite has no queue for the lock, and a writer that begins a transaction right
 * after each commit leaves no gap in which the retries of another process find it free. Times are in milliseconds of one clock.
 */
export class WriterFairness {
  #beganAt = 0
  /** When the last transaction ended. */
  endedAt = 0
  #contendedAt = Number.NEGATIVE_INFINITY

  /** Called before a transaction; undefined: it may begin at once. */
  next(now: number): Promise<void> | undefined {
    if (now - this.endedAt > pauseMs) this.#beganAt = now
    const turnMs = now - this.#contendedAt < contendedMs ? contendedTurnMs : uncontendedTurnMs
    if (now - this.#beganAt < turnMs) return undefined
    this.#beganAt = now
    return pause(pauseMs)
  }

  /** Called when another process holds the lock. */
  contended(now: number): void {
    this.#contendedAt = now
    this.#beganAt = this.#contendedAt
  }
}

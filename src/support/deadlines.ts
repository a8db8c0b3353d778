/**
 * Time limits of equal length. The first to be added is the first to expire, so one timer serves all, and adding and removing are
 * cheaper than with a timer for each.
 */
export class Deadlines {
  readonly #limitMs: number
  /** In the order in which they expire. */
  readonly #pending = new Map<() => void, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** Calls `onLate` after the limit, unless it is removed before. */
  add(onLate: () => void): void {
    this.#pending.set(onLate, performance.now() + this.#limitMs)
    this.#timer ??= this.#wait(this.#limitMs)
  }

  remove(onLate: () => void): void {
    this.#pending.delete(onLate)
  }

  /** The timer does not keep the process alive. */
  #wait(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#expire(), Math.ceil(ms)).unref()
  }

  #expire(): void {
    this.#timer = undefined
    for (const [onLate, endsAt] of this.#pending) {
      const left = endsAt - performance.now()
      if (left > 0) {
        this.#timer = this.#wait(left)
        return
      }
      this.#pending.delete(onLate)
      onLate()
    }
  }
}

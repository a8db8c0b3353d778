/**
 * Time limits of equal length: what was added first ends first, so that one timer serves all. Adding and removing costs less
 * than a timer of its own.
 */
export class Deadlines {
  readonly #limitMs: number
  /** In the order of their ends. */
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

  /** The process may end while it waits: what it is about keeps the process alive, or nothing does. */
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

import type { RequestError } from './errors.ts'

/** The delays between attempts. */
export class Backoff {
  readonly #range: readonly [from: number, to: number]
  #end: (() => void) | undefined
  /** Since the last success. */
  failures = 0

  constructor(range: readonly [from: number, to: number] = [250, 15_000]) {
    this.#range = range
  }

  /**
   * Milliseconds before the next attempt: they double with each failure, and are spread so that clients do not return at once.
   * They follow the time that the service names.
   */
  next(error: unknown): number {
    const [from, to] = this.#range
    const { retryAfter = 0 } = (error ?? {}) as Partial<RequestError>
    return retryAfter * 1_000 + Math.min(to, from * 2 ** this.failures++) * ((1 + Math.random()) / 2)
  }

  /** Waits for the delay, which can be ended. */
  wait(error: unknown): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.next(error))
      this.#end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  end(): void {
    this.#end?.()
  }
}

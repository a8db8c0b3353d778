import { ServiceError } from '../protocol/errors.ts'
import type { Limits } from '../support/limits.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'

/** The time that one transaction may take, counted from its first statement and shared by all of its repetitions. */
export class TimeLimit {
  readonly #limitMs: number
  readonly #name: keyof Limits
  #endsAt: number | undefined

  constructor(limitMs: number, name: keyof Limits = 'transactionTimeoutMs') {
    this.#limitMs = limitMs
    this.#name = name
  }

  /**
   * Throws E_TIMEOUT when the time is over, before a statement that would begin then. Without a timer: for works that wait
   * for nothing but statements, each of which has a limit of its own.
   */
  assertLeft(): void {
    const nowMs = performance.now()
    this.#endsAt ??= nowMs + this.#limitMs
    if (nowMs >= this.#endsAt) throw this.#exceeded()
  }

  /**
   * Rejects with E_TIMEOUT when the time is over. `assertOpen` throws after the end of `work`: a statement of a work that
   * goes on in spite of the rejection must not reach the connection, which may serve another transaction by then.
   */
  async run<T>(work: (assertOpen: () => void) => MaybePromise<T>): Promise<T> {
    this.#endsAt ??= performance.now() + this.#limitMs
    const leftMs = this.#endsAt - performance.now()
    if (leftMs <= 0) throw this.#exceeded()
    const { promise: overdue, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(this.#exceeded()), leftMs)
    let isOpen = true
    const assertOpen = () => {
      if (!isOpen) throw this.#exceeded()
    }
    try {
      return await Promise.race([work(assertOpen), overdue])
    } finally {
      isOpen = false
      clearTimeout(timer)
    }
  }

  #exceeded(): ServiceError {
    const message = `The transaction took longer than ${this.#limitMs} ms and was rolled back`
    return new ServiceError('E_TIMEOUT', message, { limit: this.#name })
  }
}

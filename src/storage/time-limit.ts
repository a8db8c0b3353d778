import { ServiceError } from '../protocol/errors.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'

/** The time that one transaction may take, counted from its first statement and shared by all of its repetitions. */
export class TimeLimit {
  readonly #limitMs: number
  #endsAt: number | undefined

  constructor(limitMs: number) {
    this.#limitMs = limitMs
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
    return new ServiceError('E_TIMEOUT', message, { limit: 'transactionTimeoutMs' })
  }
}

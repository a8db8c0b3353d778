import { DatabaseError } from './driver.ts'
import type { ReadOptions } from './store.ts'

interface Waiting<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

/** Requests that wait for something of which there is a bounded number, in the order in which they came. */
export class WaitQueue<T> {
  readonly #what: string
  readonly #waitMs: number
  readonly #waiting = new Set<Waiting<T>>()

  /** `what` becomes free: for the message of the error. */
  constructor(what: string, waitMs: number) {
    this.#what = what
    this.#waitMs = waitMs
  }

  /** Rejects with `busy` after the longest wait, and with `aborted` when the signal is aborted. */
  wait({ signal }: Pick<ReadOptions, 'signal'>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const waiting = { resolve, reject }
    // At once, so that nothing is given to a request that has failed.
    const fail = (error: DatabaseError) => {
      this.#waiting.delete(waiting)
      reject(error)
    }
    const abort = () => fail(abortedRead())
    signal?.addEventListener('abort', abort)
    this.#waiting.add(waiting)
    const timer = setTimeout(() => {
      fail(new DatabaseError({ kind: 'busy' }, `No ${this.#what} became free within ${this.#waitMs} ms`))
    }, this.#waitMs).unref()
    return promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  }

  get size(): number {
    return this.#waiting.size
  }

  /** The one that came first waits no longer; undefined: none waits. */
  take(): Waiting<T> | undefined {
    const [next] = this.#waiting
    if (next !== undefined) this.#waiting.delete(next)
    return next
  }

  rejectAll(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error)
    this.#waiting.clear()
  }
}

export const abortedRead = (): DatabaseError => new DatabaseError({ kind: 'aborted' }, 'The read was aborted')

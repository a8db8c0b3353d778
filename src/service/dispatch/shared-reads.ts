import type { ReadOptions } from '../../storage/store.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'

/** Two, so that one request beside another waits for nothing. */
const maxRunning = 2

type Read<T> = (client: ReadOptions) => MaybePromise<T>

/**
 * Reads of the same answer at one time. Beyond two, requests share the next one. It begins after all of them have arrived, so that
 * it includes whatever their clients may know of.
 */
export class SharedReads<T> {
  #running = 0
  #next: NextRead<T> | undefined

  read(client: ReadOptions, read: Read<T>): MaybePromise<T> {
    if (this.#running < maxRunning) return this.#run(client, read)
    this.#next ??= new NextRead((client) => this.#run(client, read))
    return this.#next.join(client)
  }

  #run(client: ReadOptions, read: Read<T>): MaybePromise<T> {
    const result = read(client)
    if (!(result instanceof Promise)) return result
    this.#running++
    return result.finally(() => {
      this.#running--
      const next = this.#next
      this.#next = undefined
      next?.begin()
    })
  }
}

/** A read that begins later, and how many requests wait for it. */
class NextRead<T> {
  readonly #read: Read<T>
  readonly #result = Promise.withResolvers<T>()
  readonly #abort = new AbortController()
  #connected = 0
  #hasBegun = false

  constructor(read: Read<T>) {
    this.#read = read
  }

  /**
   * The read is aborted when the clients of all its requests have disconnected. Each request is continued when a turn of the event
   * loop has time for it: thousands may wait for one read, and each encodes its answer, subscribes and sends.
   */
  async join({ signal }: ReadOptions): Promise<T> {
    this.#connected++
    const leave = (): void => {
      this.#connected--
      if (this.#connected === 0 && this.#hasBegun) this.#abort.abort()
    }
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave)
    try {
      return await this.#result.promise
    } finally {
      // The signal of a socket outlives the read, and keeps nothing of it.
      signal?.removeEventListener('abort', leave)
      await eventLoopTurn.next()
    }
  }

  begin(): void {
    const { resolve, reject } = this.#result
    this.#hasBegun = true
    if (this.#connected === 0) this.#abort.abort()
    try {
      resolve(this.#read({ signal: this.#abort.signal }))
    } catch (error) {
      reject(error)
    }
  }
}

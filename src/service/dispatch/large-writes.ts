import type { Json } from '../../protocol/json.ts'
import type { ReadOptions } from '../../storage/store.ts'
import { abortedRead, WaitQueue } from '../../storage/wait-queue.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'

/** A write of fewer items does not wait for others. */
const manyItems = 20

/** Writes of so many items in all run at once. */
const itemsAtOnce = 4000

/** Larger ones run all the same: as many as have a connection to PostgreSQL, where one may wait for a lock and another not. */
const writesAtOnce = 8

/**
 * Lets a few writes of many records run at once. The others wait as they were received, because a record takes many times the
 * memory of its text from the check of its values until it is stored: a collection of garbage would copy the records of hundreds
 * of requests that wait for the database.
 */
export class LargeWrites {
  readonly #waiting: WaitQueue<void>
  #writes = 0
  #items = 0

  /** A write waits for at most `waitMs`. */
  constructor(waitMs: number) {
    this.#waiting = new WaitQueue('turn of a large write', waitMs)
  }

  /**
   * Runs the write of a body when it is its turn; a small one at once. Rejects with the `busy` of a database after the longest wait,
   * and with `aborted` where the client has disconnected before its turn.
   */
  run<T>(body: Json | undefined, client: ReadOptions, write: () => Promise<T>): Promise<T> {
    const items = itemsOf(body)
    if (items < manyItems) return write()
    return this.#isFree && this.#waiting.size === 0 ? this.#begin(items, write) : this.#wait(items, client, write)
  }

  get #isFree(): boolean {
    return this.#writes < writesAtOnce || this.#items < itemsAtOnce
  }

  async #wait<T>(items: number, client: ReadOptions, write: () => Promise<T>): Promise<T> {
    // Its signal is not asked for before its turn: when hundreds of clients leave at once, each signal would take 0.1 ms of one turn.
    await this.#waiting.wait({})
    return this.#begin(items, async () => {
      await eventLoopTurn.next()
      if (client.signal?.aborted) throw abortedRead()
      return write()
    })
  }

  async #begin<T>(items: number, write: () => Promise<T>): Promise<T> {
    this.#writes++
    this.#items += items
    this.#beginNext()
    try {
      return await write()
    } finally {
      this.#writes--
      this.#items -= items
      this.#beginNext()
    }
  }

  /** It counts once its promise has resolved, and then begins the one behind it. */
  #beginNext(): void {
    if (this.#isFree) this.#waiting.take()?.resolve()
  }
}

/** Whether the body may contain so many items that its write has to wait. */
export const mayBeLarge = (body: Json | undefined): boolean => itemsOf(body, manyItems) >= manyItems

/** The items of all lists of a body, also of those in one another, counted until there are `most`. */
function itemsOf(body: Json | undefined, most = itemsAtOnce): number {
  if (typeof body !== 'object' || body === null) return 0
  let items = 0
  if (Array.isArray(body)) {
    items = body.length
    for (let index = 0; index < body.length && items < most; index++) items += itemsOf(body[index], most - items)
  } else for (const value of Object.values(body)) if (items < most) items += itemsOf(value, most - items)
  return items
}

import type { MaybePromise } from './maybe-promise.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** Past this, what can wait is continued in a later turn, so that other requests are read from their sockets in between. */
const sharedMs = 8

/** The time that one turn of the event loop has taken, and the work that waits for a later one. */
export class EventLoopTurn {
  #begunAt: number | undefined
  /** Whether this turn, up to its end, is left to what does not wait: the one before it was used. */
  #isLeft = false
  #isEndScheduled = false
  readonly #waiting: (() => void)[] = []

  /** Since this was first asked in the turn. */
  get usedMs(): number {
    const now = performance.now()
    this.#begunAt ??= this.#begin(now)
    return now - this.#begunAt
  }

  get isUsed(): boolean {
    return this.#isLeft || this.usedMs > sharedMs
  }

  /**
   * Resolves in a later turn. What waits is continued in the order of these calls, as much of it in one turn as there is time
   * for: what comes meanwhile finds the turn used, and waits behind it.
   */
  next(): Promise<void> {
    this.#begunAt ??= this.#begin(performance.now())
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when this turn has ended: for what cannot be divided, and counts as used time of the turn that begins. */
  async end(): Promise<void> {
    await yieldToEventLoop()
    this.#begunAt ??= this.#begin(performance.now())
  }

  #begin(now: number): number {
    this.#scheduleEnd()
    return now
  }

  /** Once for each turn: each end continues what waits. */
  #scheduleEnd(): void {
    if (this.#isEndScheduled) return
    this.#isEndScheduled = true
    setImmediate(this.#end)
  }

  /** Sockets are read before this: what waited for a used turn would lengthen it if it were resumed at once. */
  readonly #end = (): void => {
    this.#isEndScheduled = false
    this.#isLeft = !this.#isLeft && this.#waiting.length > 0 && this.usedMs > sharedMs
    this.#begunAt = undefined
    if (this.#isLeft) this.#scheduleEnd()
    else this.#resume()
  }

  readonly #resume = (): void => {
    if (this.#waiting.length === 0 || this.isUsed) return
    this.#waiting.shift()?.()
    // Once what was resumed has run: its promises come first, and ticks after them.
    if (this.#waiting.length > 0) void Promise.resolve().then(() => process.nextTick(this.#resume))
  }
}

/** All work of this thread shares its event loop. */
export const eventLoopTurn = new EventLoopTurn()

/** Runs `work` for each item; the rest of them in later turns, once this one is used. */
export function forEachInTurns<T>(
  items: readonly T[],
  work: (item: T, index: number) => void,
  from = 0,
): MaybePromise<void> {
  for (let index = from; index < items.length; index++) {
    work(items[index] as T, index)
    if (eventLoopTurn.isUsed && index < items.length - 1)
      return eventLoopTurn.next().then(() => forEachInTurns(items, work, index + 1))
  }
}

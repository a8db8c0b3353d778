import type { MaybePromise } from './maybe-promise.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** Past this, what can wait is continued in a later turn, so that other requests are read from their sockets in between. */
const sharedMs = 8

/** The time that one turn of the event loop has taken, and the work that waits for a later one. */
export class EventLoopTurn {
  #begunAt: number | undefined
  /** Since when turns are left to what does not wait: the one before them was used. */
  #leftAt: number | undefined
  /** Whether short reads that were sent in the turn that was left have no answer yet. */
  #isPending: (() => boolean) | undefined
  readonly #shortReads = new Set<() => () => boolean>()
  #hasAccepted = false
  #isEndScheduled = false
  readonly #waiting: (() => void)[] = []

  /** Since this was first asked in the turn. */
  get usedMs(): number {
    const now = performance.now()
    this.#begunAt ??= this.#begin(now)
    return now - this.#begunAt
  }

  get isUsed(): boolean {
    return this.#leftAt !== undefined || this.usedMs > sharedMs
  }

  /**
   * Resolves in a later turn. What waits is continued in the order of these calls, as much of it in one turn as there is time
   * for: what comes meanwhile finds the turn used, and waits behind it.
   */
  next(): Promise<void> {
    this.#begunAt ??= this.#begin(performance.now())
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** As `next`, before what waits already: for what takes no time itself, and lets others be read. */
  nextFirst(): Promise<void> {
    this.#begunAt ??= this.#begin(performance.now())
    return new Promise((resolve) => this.#waiting.unshift(resolve))
  }

  /**
   * Short reads in a database of another process: one is sent in the turn that is left to it, and its answer arrives in a later one.
   * What waits is not continued before, for at most as long as a turn may take. `sent` returns whether one of those that
   * have been sent has no answer yet. The result ends this.
   */
  leaveTo(sent: () => () => boolean): () => void {
    this.#shortReads.add(sent)
    return () => this.#shortReads.delete(sent)
  }

  /** A connection was accepted: Node accepts one in each turn, so that others may wait behind it, and their requests behind these. */
  accepted(): void {
    this.#hasAccepted = true
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
    const now = performance.now()
    const hasAccepted = this.#hasAccepted && this.#waiting.length > 0
    this.#hasAccepted = false
    if (this.#leftAt === undefined)
      this.#leftAt = hasAccepted || now - (this.#begunAt ?? now) > sharedMs ? now : undefined
    else if (hasAccepted && now - this.#leftAt < sharedMs) {
      this.#scheduleEnd()
      return
    } else if (this.#waiting.length > 0 && now - this.#leftAt < sharedMs && this.#isAwaited()) {
      this.#isEndScheduled = true
      // Without spinning: what arrives is read at once, and before the immediate.
      setTimeout(() => setImmediate(this.#end), 1)
      return
    } else this.#leftAt = this.#isPending = undefined
    this.#begunAt = undefined
    if (this.#leftAt !== undefined) this.#scheduleEnd()
    else this.#resume()
  }

  #isAwaited(): boolean {
    if (this.#isPending === undefined) {
      const pending = [...this.#shortReads].map((sent) => sent())
      this.#isPending = () => pending.some((isPending) => isPending())
    }
    return this.#isPending()
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

import type { MaybePromise } from './maybe-promise.ts'
import { yieldToEventLoop } from './yield-to-event-loop.ts'

/**
 * When a turn has taken this long, deferrable work continues in a later turn, so that the requests of other clients are read in
 * between.
 */
const sharedMs = 8

/** Measures how long the current turn of the event loop has taken, and queues work for later turns. */
export class EventLoopTurn {
  #begunAt: number | undefined
  /** Set after a turn was used: since then, turns are reserved for work that was not deferred. */
  #leftAt: number | undefined
  /** Whether short reads that were sent in a reserved turn are still unanswered. */
  #isPending: (() => boolean) | undefined
  readonly #shortReads = new Set<() => () => boolean>()
  #hasAccepted = false
  #isEndScheduled = false
  readonly #waiting: (() => void)[] = []

  /** The time since this was first called in the turn. */
  get usedMs(): number {
    const now = performance.now()
    this.#begunAt ??= this.#begin(now)
    return now - this.#begunAt
  }

  /** Whether it has taken as long as a turn may. Unlike `isUsed`, this is false at the beginning of a reserved turn. */
  get isLong(): boolean {
    return this.usedMs > sharedMs
  }

  get isUsed(): boolean {
    return this.#leftAt !== undefined || this.isLong
  }

  /**
   * Resolves in a later turn. Deferred work continues in the order of these calls, as much of it in one turn as there is time
   * for. Work that arrives meanwhile finds the turn used, and is queued behind it.
   */
  next(): Promise<void> {
    this.#begunAt ??= this.#begin(performance.now())
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** As `next`, but ahead of all queued work. For short work that lets connections be read. */
  nextFirst(): Promise<void> {
    this.#begunAt ??= this.#begin(performance.now())
    return new Promise((resolve) => this.#waiting.unshift(resolve))
  }

  /**
   * Reserves turns for short reads of a remote database: one is sent in a reserved turn, and its answer arrives in a later one.
   * Deferred work does not continue before the answer, for at most `sharedMs`. `sent` returns a function that tells whether a
   * read that has been sent is unanswered. The returned function ends this.
   */
  leaveTo(sent: () => () => boolean): () => void {
    this.#shortReads.add(sent)
    return () => this.#shortReads.delete(sent)
  }

  /**
   * Called when a connection is accepted. Node accepts one in each turn, so more connections with their requests may be waiting.
   */
  accepted(): void {
    this.#hasAccepted = true
  }

  /** Resolves in the next turn, whose time is counted from then. For work that cannot be divided. */
  async end(): Promise<void> {
    await yieldToEventLoop()
    this.#begunAt ??= this.#begin(performance.now())
  }

  #begin(now: number): number {
    this.#scheduleEnd()
    return now
  }

  /** Each turn has one end, at which queued work continues. */
  #scheduleEnd(): void {
    if (this.#isEndScheduled) return
    this.#isEndScheduled = true
    setImmediate(this.#end)
  }

  /** Runs after sockets are read. Deferred work is not resumed at once if the turn was used: it would make the turn longer. */
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
    // Schedules the next end after the resumed work has run: its promise callbacks run first, then `nextTick`.
    if (this.#waiting.length > 0) void Promise.resolve().then(() => process.nextTick(this.#resume))
  }
}

/** Shared by the whole thread, as is its event loop. */
export const eventLoopTurn = new EventLoopTurn()

/** Runs `work` now, or in a later turn if this one is used. For the end of a connection: thousands may be reset together. */
export function inTurns(work: () => void): void {
  if (eventLoopTurn.isUsed) void eventLoopTurn.next().then(work)
  else work()
}

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

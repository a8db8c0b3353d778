import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'

/** Reads on the event loop let other work in after this time. */
const maxTurnMs = 5

/** One read of a query. It does not throw. */
export interface QueuedRun {
  /** Runs of one owner delay those of others by at most one of them. */
  readonly owner: object
  run(): MaybePromise<void>
}

/** Runs queries again, a bounded number at once, and those of each owner in turn with those of others. */
export class RunQueue {
  readonly #maxRunning: number
  readonly #byOwner = new Map<object, Set<QueuedRun>>()
  #running = 0
  #isPumping = false
  #turnBegan: number | undefined

  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** It begins with the next `start`. */
  add(run: QueuedRun): void {
    getOrInsertComputed(this.#byOwner, run.owner, () => new Set()).add(run)
  }

  /** Nothing happens to one that has begun. */
  remove(run: QueuedRun): void {
    const queued = this.#byOwner.get(run.owner)
    if (queued?.delete(run) && queued.size === 0) this.#byOwner.delete(run.owner)
  }

  /** Begins what was added; the first runs may have ended when this returns. */
  start(): void {
    void this.#pump()
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return
    this.#isPumping = true
    for (;;) {
      if (this.#isOverdue) await yieldToEventLoop()
      const running = this.#next()?.run
      if (!running) break
      const ended = running()
      if (!(ended instanceof Promise)) continue
      this.#running++
      void ended.finally(() => {
        this.#running--
        void this.#pump()
      })
    }
    this.#isPumping = false
  }

  /** Whether reads have had their share of this turn of the event loop. */
  get #isOverdue(): boolean {
    if (this.#turnBegan !== undefined) return performance.now() - this.#turnBegan > maxTurnMs
    this.#turnBegan = performance.now()
    setImmediate(() => {
      this.#turnBegan = undefined
    })
    return false
  }

  /** The owner whose turn it was goes behind the others. */
  #next(): QueuedRun | undefined {
    if (this.#running >= this.#maxRunning) return undefined
    for (const [owner, queued] of this.#byOwner) {
      const [run] = queued
      if (run) queued.delete(run)
      this.#byOwner.delete(owner)
      if (queued.size > 0) this.#byOwner.set(owner, queued)
      return run
    }
    return undefined
  }
}

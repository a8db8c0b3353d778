import { eventLoopTurn } from '../../support/event-loop-turn.ts'

export interface RequestQueueOptions {
  /** How many tasks run concurrently. */
  readonly concurrency: number
  /** Whether another task may start now. When this changes, `startNext` must be called. */
  readonly canStart: () => boolean
  /** Called after each task. */
  readonly onDone: () => void
}

/** What a task takes until it has ended. */
export interface Weight {
  giveBack(): void
}

interface Waiting {
  readonly task: () => Promise<void>
  readonly weight: Weight | undefined
}

/**
 * Starts tasks in the order of their arrival, with limited concurrency. Once a turn of the event loop is used, the rest is started in
 * later ones: lookups on SQLite end without waiting, so that all requests of a message would be answered in one turn.
 */
export class RequestQueue {
  readonly #options: RequestQueueOptions
  readonly #waiting: Waiting[] = []
  #running = 0
  #isNextTurnAwaited = false

  constructor(options: RequestQueueOptions) {
    this.#options = options
  }

  /** Number of tasks not started yet. */
  get waiting(): number {
    return this.#waiting.length
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#waiting.length === 0
  }

  /** `task` must not reject. */
  add(task: () => Promise<void>, weight?: Weight): void {
    this.#waiting.push({ task, weight })
    this.startNext()
  }

  startNext(): void {
    const { concurrency, canStart, onDone } = this.#options
    while (this.#waiting.length > 0 && this.#running < concurrency && canStart()) {
      if (eventLoopTurn.isUsed) {
        this.#startInNextTurn()
        return
      }
      const { task, weight } = this.#waiting.shift() as Waiting
      this.#running++
      void task().then(() => {
        weight?.giveBack()
        this.#running--
        this.startNext()
        onDone()
      })
    }
  }

  #startInNextTurn(): void {
    if (this.#isNextTurnAwaited) return
    this.#isNextTurnAwaited = true
    void eventLoopTurn.next().then(() => {
      this.#isNextTurnAwaited = false
      this.startNext()
    })
  }

  /** Discards the tasks not started yet. */
  clear(): void {
    for (const { weight } of this.#waiting) weight?.giveBack()
    this.#waiting.length = 0
  }
}

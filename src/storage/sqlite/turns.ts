import { setTimeout as pause } from 'node:timers/promises'

/** As long as others ask twice. */
const breathMs = 2
/** How long one process may write without a breath, while others are known to want to and while none is. */
const sharedTurnMs = 10
const ownTurnMs = 100
/** For how long they are known to. */
const contendedMs = 1000

/**
 * Lets the writers of several processes take turns. Who commits and begins again at once leaves no moment in which
 * another one, who can only ask now and then, would find the database free.
 */
export class Turns {
  readonly #now: () => number
  #beganAt = 0
  #endedAt = 0
  #contendedAt = Number.NEGATIVE_INFINITY

  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** Before a transaction begins: undefined when it may at once. */
  next(): Promise<void> | undefined {
    const now = this.#now()
    if (now - this.#endedAt > breathMs) this.#beganAt = now
    const turnMs = now - this.#contendedAt < contendedMs ? sharedTurnMs : ownTurnMs
    if (now - this.#beganAt < turnMs) return undefined
    this.#beganAt = now
    return pause(breathMs)
  }

  /** Another one is writing. */
  contended(): void {
    this.#contendedAt = this.#now()
    this.#beganAt = this.#contendedAt
  }

  ended(): void {
    this.#endedAt = this.#now()
  }
}

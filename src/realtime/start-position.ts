import type { Change, Position } from '../protocol/change.ts'

/** Where a subscription starts: the changes that this position includes were read, and are not delivered. */
export interface StartPosition {
  readonly position: Position
  /** The feed has passed the position: every later change is delivered without comparing. */
  caughtUp: boolean
}

/** The part of a change log that tells whether a reader at a position has seen a change. */
export interface PositionOrder {
  includes(position: Position, change: Change): boolean
}

/** Hands out start positions. Reads between which nothing was written share one. */
export class StartPositions {
  readonly #order: PositionOrder
  readonly #whenCaughtUp: (callback: () => void) => void
  #last: StartPosition | undefined

  constructor(order: PositionOrder, whenCaughtUp: (callback: () => void) => void) {
    this.#order = order
    this.#whenCaughtUp = whenCaughtUp
  }

  at(position: Position): StartPosition {
    if (this.#last?.position === position && !this.#last.caughtUp) return this.#last
    const start: StartPosition = { position, caughtUp: false }
    this.#last = start
    this.#whenCaughtUp(() => {
      start.caughtUp = true
    })
    return start
  }

  /** Whether the read that a subscription started with has seen the change. */
  hasRead(start: StartPosition | undefined, change: Change): boolean {
    return start !== undefined && !start.caughtUp && this.#order.includes(start.position, change)
  }
}

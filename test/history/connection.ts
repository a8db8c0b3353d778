import type { JsonObject } from '../../src/protocol/json.ts'
import type { Answered } from '../sails-client.ts'
import type { HeardEvent } from './view.ts'

/** One connection of a listener. */
export interface Connection {
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>
  /** Where a later connection may go on; undefined: it must begin anew. */
  readonly position: string | undefined
  /** Ends it without a word. */
  cut(): void
  /** Takes nothing until it is told to go on. */
  stall(isStalled: boolean): void
  /** Asks for the records once more, which must change nothing for who listens already. */
  again?(): Promise<void>
  /** Changes a record, and believes the answer. Undefined: the connection ended before it came. */
  patch?(path: string, body: JsonObject): Promise<Answered | undefined>
}

/** Takes operations whole: whoever goes on from a position has heard all of what stands before it. */
export class Operations {
  readonly #hear: (events: readonly HeardEvent[]) => void
  #begun: HeardEvent[] = []
  position: string | undefined

  constructor(position: string | undefined, hear: (events: readonly HeardEvent[]) => void) {
    this.position = position
    this.#hear = hear
  }

  /** `position` stands with the last event of an operation. */
  take(event: HeardEvent, position: string | undefined): void {
    this.#begun.push(event)
    if (position === undefined) return
    this.#hear(this.#begun)
    this.#begun = []
    this.position = position
  }
}

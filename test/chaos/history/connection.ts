import type { JsonObject } from '../../../src/protocol/json.ts'
import type { Answered } from '../../support/sails-client.ts'
import type { ReceivedEvent } from './view.ts'

/** One connection of a listener. */
export interface Connection {
  /** Resolves when it has ended, on either side. */
  readonly ended: Promise<void>
  /** Where a later connection may go on; undefined: it must begin anew. */
  readonly position: string | undefined
  /** Ends it without a word. */
  cut(): void
  /** Takes nothing until it is received to go on. */
  stall(isStalled: boolean): void
  /** Requests the records once more, which must not change what the listener receives. */
  again?(): Promise<void>
  /** Changes a record, and believes the answer. Undefined: the connection ended before it came. */
  patch?(path: string, body: JsonObject): Promise<Answered | undefined>
}

/** Where a subscription begins. */
export interface From {
  readonly since: string | undefined
  /** The position up to which the listener has received every event; without one it reads the records first. */
  readonly position: string | undefined
}

/** Collects the events of an operation: a listener that resumes from its position has received all of them. */
export class Operations {
  readonly #receive: (events: readonly ReceivedEvent[]) => void
  #begun: ReceivedEvent[] = []
  position: string | undefined

  constructor(position: string | undefined, receive: (events: readonly ReceivedEvent[]) => void) {
    this.position = position
    this.#receive = receive
  }

  /** `position` stands with the last event of an operation. */
  take(event: ReceivedEvent, position: string | undefined): void {
    this.#begun.push(event)
    if (position === undefined) return
    this.#receive(this.#begun)
    this.#begun = []
    this.position = position
  }
}

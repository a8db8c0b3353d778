import type { Change, Position, RecordId } from '../protocol/change.ts'
import type { SubscriptionEvent } from '../protocol/event.ts'
import type { Requester } from '../protocol/requester.ts'
import type { StartPosition } from './start-position.ts'

/** A consumer of events: a socket, a stream, an iterator. It may be called once more after it has unsubscribed. */
export interface Subscriber {
  /** On whose behalf it receives events. */
  readonly requester: Requester
  /**
   * An event that the requester may see. `change` is one of its operation, `start` where the subscription began that
   * selected it. Returns about the bytes that were handed over, for the division into turns of the event loop.
   */
  deliver(event: SubscriptionEvent, change: Change, start: StartPosition | undefined): number
  /** A record to which it is subscribed was created: it subscribed before this was delivered. */
  onCreated?(model: string, id: RecordId, change: Change): void
  /** Every event of the operation was delivered. Called for subscribers that received one. */
  endOperation?(position: Position): void
  /** Changes may have been missed. */
  onGap(): void
}

/** The subscribers of one thing, each with where its subscription began. */
export interface SubscriberSet extends Iterable<readonly [Subscriber, StartPosition | undefined]> {
  has(subscriber: Subscriber): boolean
}

/** Most records have one subscriber, and a map with one entry takes five times the memory of this. */
export class SingleSubscriber implements SubscriberSet {
  readonly #subscriber: Subscriber
  readonly #start: StartPosition | undefined

  constructor(subscriber: Subscriber, start: StartPosition | undefined) {
    this.#subscriber = subscriber
    this.#start = start
  }

  has(subscriber: Subscriber): boolean {
    return subscriber === this.#subscriber
  }

  *[Symbol.iterator](): Generator<readonly [Subscriber, StartPosition | undefined]> {
    yield [this.#subscriber, this.#start]
  }
}

import type { Change } from '../../protocol/change.ts'
import type { EventSlice } from '../event-slice.ts'
import type { Subscriber, SubscriberSet } from '../subscriber.ts'

/** An event that was delivered while a subscriber was reading. */
export interface RecentEvent {
  readonly slice: EventSlice
  readonly index: number
  readonly change: Change
  /** Of the subscribers that were reading, those that received it all the same. */
  received: Set<Subscriber> | undefined
}

/** A read whose subscriptions are known only when it ends: every event that is delivered meanwhile may concern them. */
export interface Reading {
  readonly subscriber: Subscriber
  /** The number of the first event that it may have missed. */
  readonly from: number
}

/** Keeps what is delivered for as long as a read is under way that began before. */
export class RecentEvents {
  readonly #maxEvents: number
  readonly #readings = new Set<Reading>()
  #events: RecentEvent[] = []
  /** The number of the first that is kept. */
  #first = 0

  /** With more events, a subscriber whose read is still under way must start from a new one. */
  constructor(maxEvents: number) {
    this.#maxEvents = maxEvents
  }

  /** Whether any read is under way. */
  get isNeeded(): boolean {
    return this.#readings.size > 0
  }

  /** The subscribers that are reading. */
  *subscribers(): Generator<Subscriber> {
    for (const { subscriber } of this.#readings) yield subscriber
  }

  begin(subscriber: Subscriber): Reading {
    const reading = { subscriber, from: this.#first + this.#events.length }
    this.#readings.add(reading)
    return reading
  }

  /** What was delivered since the read began; undefined when not all of it was kept, or when it has ended before. */
  end(reading: Reading): readonly RecentEvent[] | undefined {
    if (!this.#readings.delete(reading)) return undefined
    const events = reading.from < this.#first ? undefined : this.#events.slice(reading.from - this.#first)
    const [oldest] = this.#readings
    this.#dropBefore(oldest ? oldest.from : this.#first + this.#events.length)
    return events
  }

  add(slice: EventSlice, index: number, change: Change, subscribers: SubscriberSet | undefined): void {
    const event: RecentEvent = { slice, index, change, received: undefined }
    if (subscribers) {
      for (const { subscriber } of this.#readings) {
        if (!subscribers.has(subscriber)) continue
        event.received ??= new Set()
        event.received.add(subscriber)
      }
    }
    this.#events.push(event)
    if (this.#events.length > this.#maxEvents) this.#dropBefore(this.#first + Math.ceil(this.#maxEvents / 2))
  }

  /** What was delivered until now is incomplete. */
  forget(): void {
    this.#dropBefore(this.#first + this.#events.length)
    this.#first++
  }

  #dropBefore(number: number): void {
    if (number <= this.#first) return
    this.#events.splice(0, number - this.#first)
    this.#first = number
  }
}

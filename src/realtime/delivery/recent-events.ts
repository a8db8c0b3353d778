import type { Change } from '../../protocol/change.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { EventSlice } from '../event-slice.ts'
import type { Subscriber, SubscriberSet } from '../subscriber.ts'

/** An event that was delivered while a subscriber was reading. */
export interface RecentEvent {
  readonly slice: EventSlice
  readonly index: number
  readonly change: Change
  readonly bytes: number
  /** The subscribers with a read in progress that received the event nevertheless, through an earlier subscription. */
  received: Set<Subscriber> | undefined
}

/**
 * A read in progress. Its subscriptions are known only when it ends, so every event that is delivered before that may concern
 * them.
 */
export interface PendingRead {
  readonly subscriber: Subscriber
  /** The sequence number of the first event after the read began. */
  readonly from: number
  /** The number of operations before it. */
  readonly fromOperation: number
}

/** What was delivered while a read was in progress. */
export interface DeliveredMeanwhile {
  readonly events: readonly RecentEvent[]
  readonly operations: readonly (readonly Change[])[]
}

/** The changes of an operation, and the sequence number of its first event. */
interface RecentOperation {
  readonly at: number
  readonly changes: readonly Change[]
}

/**
 * Above one of these limits the oldest events are dropped. A read in progress that needs them fails, and must be repeated from a
 * new snapshot.
 */
interface RecentLimits {
  readonly maxRecentEvents: number
  readonly maxRecentBytes: number
}

/**
 * Buffers delivered events for as long as reads are in progress that began before them, and the operations that may change
 * what a reader may see, which events do not say.
 */
export class RecentEvents {
  readonly #limits: RecentLimits
  readonly #readings = new Set<PendingRead>()
  #events: RecentEvent[] = []
  #bytes = 0
  /** The sequence number of the oldest buffered event. */
  #first = 0
  #operations: RecentOperation[] = []
  /** How many operations were dropped. */
  #droppedOperations = 0

  constructor(limits: RecentLimits) {
    this.#limits = limits
  }

  /** Whether any read is under way. */
  get isNeeded(): boolean {
    return this.#readings.size > 0
  }

  /** The subscribers that are reading. */
  *subscribers(): Generator<Subscriber> {
    for (const { subscriber } of this.#readings) yield subscriber
  }

  begin(subscriber: Subscriber): PendingRead {
    const from = this.#first + this.#events.length
    const reading = { subscriber, from, fromOperation: this.#droppedOperations + this.#operations.length }
    this.#readings.add(reading)
    return reading
  }

  /**
   * Ends a read and returns what was delivered since it began. Undefined if some of it was dropped, or if the read
   * was ended before.
   */
  end(reading: PendingRead): DeliveredMeanwhile | undefined {
    if (!this.#readings.delete(reading)) return undefined
    const isWhole = reading.from >= this.#first && reading.fromOperation >= this.#droppedOperations
    const meanwhile = isWhole ? this.#since(reading) : undefined
    const [oldest] = this.#readings
    this.#dropBefore(oldest ? oldest.from : this.#first + this.#events.length)
    return meanwhile
  }

  #since({ from, fromOperation }: PendingRead): DeliveredMeanwhile {
    const operations = this.#operations.slice(fromOperation - this.#droppedOperations).map(({ changes }) => changes)
    return { events: this.#events.slice(from - this.#first), operations }
  }

  /** To be called before its events are added. Of too many, the older half is dropped, as of events. */
  addOperation(changes: readonly Change[]): void {
    this.#operations.push({ at: this.#first + this.#events.length, changes })
    const { length } = this.#operations
    if (length > this.#limits.maxRecentEvents) this.#dropOperations(Math.ceil(length / 2))
  }

  add(slice: EventSlice, index: number, change: Change, subscribers: SubscriberSet | undefined): void {
    const bytes = bytesOf(slice.events[index] as unknown as Json)
    const event: RecentEvent = { slice, index, change, bytes, received: undefined }
    if (subscribers) {
      for (const { subscriber } of this.#readings) {
        if (!subscribers.has(subscriber)) continue
        event.received ??= new Set()
        event.received.add(subscriber)
      }
    }
    this.#events.push(event)
    this.#bytes += bytes
    const { maxRecentEvents, maxRecentBytes } = this.#limits
    if (this.#events.length > maxRecentEvents || this.#bytes > maxRecentBytes) this.#dropHalf()
  }

  /** Drops all buffered events: some events were missed, so `end` returns undefined for every read in progress. */
  forget(): void {
    this.#dropBefore(this.#first + this.#events.length + 1)
  }

  /** Drops the oldest events, until at most half of each limit is used. */
  #dropHalf(): void {
    const { maxRecentEvents, maxRecentBytes } = this.#limits
    let [count, bytes] = [0, this.#bytes]
    for (const event of this.#events) {
      if (this.#events.length - count <= maxRecentEvents / 2 && bytes <= maxRecentBytes / 2) break
      bytes -= event.bytes
      count++
    }
    this.#dropBefore(this.#first + count)
  }

  #dropBefore(number: number): void {
    const [oldest] = this.#readings
    const isNeeded = ({ at }: RecentOperation): boolean => oldest !== undefined && at >= number
    const needed = this.#operations.findIndex(isNeeded)
    this.#dropOperations(needed === -1 ? this.#operations.length : needed)
    if (number <= this.#first) return
    for (const { bytes } of this.#events.splice(0, number - this.#first)) this.#bytes -= bytes
    this.#first = number
  }

  #dropOperations(count: number): void {
    this.#operations.splice(0, count)
    this.#droppedOperations += count
  }
}

/** About as many as its values take in memory. */
function bytesOf(value: Json): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 8
  let bytes = 0
  for (const name in value) bytes += bytesOf((value as JsonObject)[name] as Json)
  return bytes
}

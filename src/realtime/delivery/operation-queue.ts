import type { Change, Position } from '../../protocol/change.ts'
import type { SubscriptionEvent } from '../../protocol/event.ts'

export interface QueueOptions {
  readonly capacity: number
  weigh(event: SubscriptionEvent): number
  /** Called after each change of the total weight: that of the queue plus `setReadWeight`. */
  readonly onWeight?: ((weight: number) => void) | undefined
}

/** `change` is one change of the operation: it is enough to decide whether a reader has seen the operation. */
export interface QueuedOperation {
  readonly change: Change
  readonly events: readonly SubscriptionEvent[]
  readonly position: Position
}

interface Entry {
  readonly operation: QueuedOperation
  readonly weight: number
}

/** Operations that wait for their consumer, up to a total weight. A single operation may be heavier. */
export class OperationQueue {
  readonly #options: QueueOptions
  #entries: Entry[] = []
  #weight = 0
  #readWeight = 0
  /** The events of an operation of which more may follow. */
  #begun: { readonly change: Change; readonly events: SubscriptionEvent[]; weight: number } | undefined
  #lastPosition: Position | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** The position of the last operation that ended. */
  get lastPosition(): Position | undefined {
    return this.#lastPosition
  }

  /** The last event of an operation of which more may follow. */
  get lastBegun(): SubscriptionEvent | undefined {
    return this.#begun?.events.at(-1)
  }

  /** Returns the weight of the event. */
  add(event: SubscriptionEvent, change: Change): number {
    const weight = this.#options.weigh(event)
    this.#begun ??= { change, events: [], weight: 0 }
    this.#begun.events.push(event)
    this.#begun.weight += weight
    return weight
  }

  /** False: the queue is full, and the operation was not added. */
  endOperation(position: Position): boolean {
    if (!this.#begun) return true
    const { change, events, weight } = this.#begun
    this.#begun = undefined
    this.#lastPosition = position
    if (this.#entries.length > 0 && this.#weight + weight > this.#options.capacity) return false
    this.#entries.push({ operation: { change, events, position }, weight })
    this.#setWeight(this.#weight + weight)
    return true
  }

  shift(): QueuedOperation | undefined {
    const first = this.#entries.shift()
    if (first) this.#setWeight(this.#weight - first.weight)
    return first?.operation
  }

  /** Removes the operations that a reader has seen. */
  remove(isRead: (change: Change) => boolean): void {
    if (this.#begun && isRead(this.#begun.change)) this.#begun = undefined
    this.#entries = this.#entries.filter(({ operation }) => !isRead(operation.change))
    this.#setWeight(this.#entries.reduce((sum, { weight }) => sum + weight, 0))
  }

  clear(): void {
    this.remove(() => true)
  }

  /** Sets the weight of the batch that was read from the log and is delivered before the queue. */
  setReadWeight(weight: number): void {
    if (weight === this.#readWeight) return
    this.#readWeight = weight
    this.#options.onWeight?.(this.#weight + weight)
  }

  #setWeight(weight: number): void {
    if (weight === this.#weight) return
    this.#weight = weight
    this.#options.onWeight?.(weight + this.#readWeight)
  }
}

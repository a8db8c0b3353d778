import type { Change, Position, RecordId } from '../../protocol/change.ts'
import type { SubscriptionEvent } from '../../protocol/event.ts'
import type { Requester } from '../../protocol/requester.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { Broadcaster } from '../broadcaster.ts'
import type { StartPosition } from '../start-position.ts'
import type { Subscriber } from '../subscriber.ts'
import type { SubscriptionTarget } from '../subscription-target.ts'
import { readSelected, type SelectedBatch } from './catch-up.ts'
import type { EventIterators } from './event-iterators.ts'
import { type LogReads, readsNearEnd } from './log-reads.ts'
import { OperationQueue, type QueueOptions } from './operation-queue.ts'

/** A consumer that has received an item may resume at its position. */
export type IteratorItem =
  | {
      /**
       * `ready`: all that is committed after the position will be delivered. `reset`: something before it was missed.
       * `heartbeat`: there are no further events up to it. `shutdown`: the service stops, and another goes on from there.
       */
      readonly kind: 'ready' | 'reset' | 'heartbeat' | 'shutdown'
      readonly position: Position
    }
  | {
      readonly kind: 'operation'
      readonly events: readonly SubscriptionEvent[]
      readonly position: Position
    }

/** Where an iterator begins. */
export interface Beginning {
  readonly position: Position
  /** A single record does not exist, and the log holds no event that says so: the iterator says it, and ends. */
  readonly isGone?: boolean
  /** The key of a single record as it is stored, where the database takes other texts for equal. */
  readonly id?: RecordId | undefined
}

export interface EventIteratorOptions {
  readonly broadcaster: Broadcaster
  readonly iterators: EventIterators
  readonly reads: LogReads
  readonly requester: Requester
  readonly target: SubscriptionTarget
  readonly from: Beginning | Promise<Beginning>
  /** The position was given by the consumer: it may be invalid, or no longer in the log. */
  readonly isResumed: boolean
  readonly queue: QueueOptions & {
    /**
     * What happens to a consumer that is too slow. `reset`: it receives `reset` and the iterator ends. `replay`: the events that
     * did not fit into the queue are read from the log.
     */
    readonly overflow: 'reset' | 'replay'
  }
}

/**
 * The events of a target from a position on, without gaps or repetitions: at first they are read from the log, at the
 * pace of the consumer, and from its end on they are delivered by the broadcaster and wait in a queue.
 */
export class EventIterator implements Subscriber, AsyncIterableIterator<IteratorItem, undefined, undefined> {
  readonly requester: Requester
  #options: EventIteratorOptions
  readonly #queue: OperationQueue
  readonly #items: AsyncGenerator<IteratorItem, undefined, undefined>
  /** Of the last item that was emitted. */
  #position: Position = ''
  #isAnnounced = false
  /** For which it counts as near the end of the log: it began there, or at a recent position, or has been there. */
  #readsNearEnd: number
  #subscription: Disposable | undefined
  #start: StartPosition | undefined
  #behind: { readonly slowAt: Position | undefined } | undefined
  #end: 'stopped' | 'ended' | undefined
  #heartbeatIsDue = false
  /** What was read from the log and is delivered at the pace of the consumer. */
  #batch: SelectedBatch | undefined
  #wake: (() => void) | undefined

  constructor(options: EventIteratorOptions) {
    this.requester = options.requester
    this.#options = options
    this.#readsNearEnd = options.isResumed ? 0 : readsNearEnd
    this.#queue = new OperationQueue(options.queue)
    this.#items = this.#run()
    if (options.from instanceof Promise) options.from.catch(() => {}) // the first `next` rejects
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<IteratorItem, undefined>> {
    return this.#items.next()
  }

  /** Ends it at once, also while a `next` is pending. */
  async return(): Promise<IteratorResult<IteratorItem, undefined>> {
    this.#finish('ended')
    return this.#items.return(undefined)
  }

  /** Resolves a pending `next` with a heartbeat, unless there are events. */
  heartbeat(): void {
    this.#heartbeatIsDue = true
    this.#wake?.()
  }

  /** The last item is `shutdown`. */
  stop(): void {
    this.#finish('stopped')
  }

  deliver(event: SubscriptionEvent, change: Change): number {
    if (!this.#subscription || this.#options.broadcaster.starts.hasRead(this.#start, change)) return 0
    return this.#isEnd(this.#queue.lastBegun) ? 0 : this.#queue.add(event, change)
  }

  endOperation(position: Position): void {
    if (this.#queue.endOperation(position)) this.#wake?.()
    else this.onOverflow()
  }

  /**
   * Called when the queue of this consumer, or of all consumers together, exceeds its limit. A consumer that still reads from the
   * log loses nothing: it reads the dropped part again.
   */
  onOverflow(): void {
    this.#fallBehind(this.#batch ? undefined : this.#queue.lastPosition)
    this.#wake?.()
  }

  onGap(): void {
    this.#fallBehind(undefined)
    this.#wake?.()
  }

  async *#run(): AsyncGenerator<IteratorItem, undefined, undefined> {
    const { broadcaster, iterators, from, isResumed, queue, reads, target } = this.#options
    iterators.add(this)
    try {
      broadcaster.viewOf(this, target.model.name) // a rule that throws is the failure of the first `next`
      const { position, isGone, id } = await from
      if (id !== undefined) this.#options = { ...this.#options, target: { ...target, id } }
      this.#position = position
      if (isGone) {
        yield* this.#destroyed()
        return
      }
      if (!isResumed) yield this.#announce('ready')
      else if (reads.isRecent(position)) this.#readsNearEnd = readsNearEnd
      while (!this.#end) {
        yield* this.#catchUp()
        yield* this.#follow()
        const slowAt = this.#behind?.slowAt
        this.#behind = undefined
        if (slowAt === undefined || queue.overflow === 'replay' || this.#end) continue
        yield { kind: 'reset', position: slowAt }
        return
      }
      if (this.#end === 'stopped') yield { kind: 'shutdown', position: this.#position }
    } catch (error) {
      if (!this.#end) throw error // a failure that the end causes is none
      if (this.#end === 'stopped' && this.#isAnnounced) yield { kind: 'shutdown', position: this.#position }
    } finally {
      this.#end = 'ended'
      this.#leave()
      iterators.remove(this)
    }
  }

  *#destroyed(): Generator<IteratorItem, undefined, undefined> {
    const { model, id } = this.#options.target
    yield this.#announce('reset')
    const events = id === undefined ? [] : [{ verb: 'destroyed', model: model.name, id } as const]
    yield { kind: 'operation', events, position: this.#position }
  }

  /** Reads the log to its end, subscribes, and reads what was committed before that. */
  async *#catchUp(): AsyncGenerator<IteratorItem, undefined, undefined> {
    for (let isSubscribed = false; !this.#isOver; ) {
      const options = { ...this.#options, listener: this }
      const batch = await readSelected(this.#position, options, this.#readsNearEnd-- > 0)
      if (this.#isOver) return
      if (batch === 'reset' || batch.isEnd) this.#readsNearEnd = readsNearEnd
      if (batch === 'reset') {
        yield await this.#startAfresh()
        continue
      }
      this.#hold(batch)
      if (!this.#isAnnounced) yield this.#announce('ready')
      let isLost = false
      for await (const operation of batch.operations) {
        isLost = operation === 'reset'
        if (operation === 'reset') yield await this.#startAfresh()
        else yield* this.#emit(operation.events, operation.position)
        if (this.#isOver) return
      }
      if (this.#isOver) return
      this.#hold(undefined)
      if (isLost) continue
      this.#position = batch.position
      if (this.#heartbeatIsDue) yield this.#heartbeatItem()
      if (!batch.isEnd) await yieldToEventLoop()
      else if (isSubscribed) return this.#startHere()
      else {
        await this.#subscribe()
        isSubscribed = true
      }
    }
  }

  async *#follow(): AsyncGenerator<IteratorItem, undefined, undefined> {
    while (!this.#isOver) {
      const next = this.#queue.shift()
      if (next) yield* this.#emit(next.events, next.position)
      else if (this.#heartbeatIsDue) yield this.#heartbeatItem()
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  *#emit(events: readonly SubscriptionEvent[], position: Position): Generator<IteratorItem, undefined, undefined> {
    if (this.#end) return
    if (events.length > 0) yield { kind: 'operation', events, position }
    this.#position = position
    if (this.#isEnd(events.at(-1))) this.#finish('ended')
  }

  get #isOver(): boolean {
    return this.#end !== undefined || this.#behind !== undefined
  }

  /** Whether it is the last event of a subscription to one record. */
  #isEnd(event: SubscriptionEvent | undefined): boolean {
    return this.#options.target.id !== undefined && event?.verb === 'destroyed'
  }

  /** Replaces the batch that is held, and releases its operations. */
  #hold(batch: SelectedBatch | undefined): void {
    this.#batch?.drop()
    this.#batch = batch
    this.#queue.setReadWeight(batch?.bytes ?? 0)
  }

  async #subscribe(): Promise<void> {
    const { broadcaster, target } = this.#options
    const listening = await broadcaster.listen()
    if (this.#isOver) listening[Symbol.dispose]()
    else this.#subscription = broadcaster.subscribe(this, target, listening)
  }

  /** Everything up to the position was read, and everything after it will be delivered. */
  #startHere(): undefined {
    if (this.#isOver) return
    const { starts } = this.#options.broadcaster
    const start = starts.at(this.#position)
    this.#start = start
    this.#queue.remove((change) => starts.hasRead(start, change))
  }

  async #startAfresh(): Promise<IteratorItem> {
    this.#position = await this.#options.reads.head()
    return this.#announce('reset')
  }

  #announce(kind: 'ready' | 'reset'): IteratorItem {
    this.#isAnnounced = true
    return { kind, position: this.#position }
  }

  /** All events were delivered, so the consumer may resume from the position of the feed. */
  #heartbeatItem(): IteratorItem {
    this.#heartbeatIsDue = false
    const { position } = this.#options.broadcaster
    if (this.#start?.caughtUp) this.#position = position ?? this.#position
    return { kind: 'heartbeat', position: this.#position }
  }

  /** Unsubscribes and drops the queue. The dropped events are still in the log. */
  #fallBehind(slowAt: Position | undefined): void {
    this.#behind = { slowAt }
    this.#leave()
  }

  #finish(end: 'stopped' | 'ended'): void {
    if (this.#end) return
    this.#end = end
    this.#leave()
    this.#wake?.()
  }

  #leave(): void {
    this.#subscription?.[Symbol.dispose]()
    this.#subscription = undefined
    this.#start = undefined
    this.#hold(undefined)
    this.#queue.clear()
  }
}

import type { Change, Position } from '../../protocol/change.ts'
import type { Event, Peer } from '../../protocol/event.ts'
import { anonymous, type Requester } from '../../protocol/requester.ts'
import type { Broadcaster } from '../broadcaster.ts'
import type { DeliveredMeanwhile, PendingRead, RecentEvent } from '../delivery/recent-events.ts'
import type { StartPosition } from '../start-position.ts'
import { type PendingWrite, recordKey } from './echo-suppression.ts'
import { SocketSubscriber, type SubscriptionLimits } from './socket-subscriber.ts'
import type { SubscriptionRequest } from './subscription-request.ts'

/** A request of a socket between its beginning and its answer. */
export interface PendingRequest {
  readonly subscriber: SocketSubscriber
  readonly reading: PendingRead
  readonly write: PendingWrite | undefined
}

/** The end of a request, for the events that were delivered meanwhile. */
interface Replay {
  readonly subscriber: SocketSubscriber
  readonly start: StartPosition | undefined
  /** The models and records of the request's subscriptions, including those that existed before. */
  readonly concerned: Set<string>
  /** The records whose subscriptions the request has added. */
  readonly added: Set<string>
}

/**
 * Subscribes a socket to the records that a response contains, from the exact log position of the read: no event is lost, and no
 * event is sent that the response already includes.
 */
export class SocketBroker {
  readonly #broadcaster: Broadcaster
  readonly #limits: SubscriptionLimits
  readonly #subscribers = new Map<Peer, SocketSubscriber>()
  #listening: Promise<Disposable> | undefined

  constructor(broadcaster: Broadcaster, limits: SubscriptionLimits) {
    this.#broadcaster = broadcaster
    this.#limits = limits
  }

  connect(peer: Peer, requester: Requester = anonymous): Disposable {
    const subscriber = new SocketSubscriber(peer, requester, this.#broadcaster, this.#limits)
    this.#subscribers.set(peer, subscriber)
    return {
      [Symbol.dispose]: () => {
        if (!this.#subscribers.delete(peer)) return
        subscriber.disconnect()
        if (this.#subscribers.size === 0) this.#stopListening()
      },
    }
  }

  /** To be called before a request of the socket reads or writes. Rejects when the change log cannot be read. */
  async beginRequest(peer: Peer, effect: 'reads' | 'writes'): Promise<PendingRequest> {
    const subscriber = this.#subscribers.get(peer) ?? this.#disconnected(peer)
    if (subscriber.isConnected) await this.#listen()
    const write = effect === 'writes' ? subscriber.echoes.begin() : undefined
    const reading = this.#broadcaster.recent.begin(subscriber)
    if (!write) subscriber.echoes.beginRead(reading)
    return { subscriber, reading, write }
  }

  /** `position` is the position of the read. A write has none: its events begin where the request began. */
  commitSubscriptions(request: PendingRequest, requested: SubscriptionRequest, position: Position | undefined): void {
    this.#commit(request, requested, position)
    const { subscriber, reading, write } = request
    if (!write) subscriber.echoes.endRead(reading, keysOf(requested))
  }

  #commit(
    { subscriber, reading, write }: PendingRequest,
    requested: SubscriptionRequest,
    position: Position | undefined,
  ): void {
    const { starts } = this.#broadcaster
    const meanwhile = this.#broadcaster.recent.end(reading)
    if (write) this.#endWrite(subscriber, write)
    if (!subscriber.isConnected) return
    const start = position === undefined ? undefined : starts.at(position)
    if (!meanwhile || this.#mayHaveOtherRights(subscriber, requested, meanwhile, start)) {
      subscriber.onGap()
      return
    }
    const { events } = meanwhile
    const records = requested.records.flatMap(({ model, ids }) => ids.map((id) => ({ model, id })))
    const added = records.filter(({ model, id }) => !subscriber.isSubscribedTo(model, id))
    const created = requested.records.filter(({ isCreated }) => isCreated)
    if (created.length > 0) {
      const isSubscribedTo = subscriber.isSubscribedTo.bind(subscriber)
      this.#broadcaster.whenCaughtUp(subscriber.recreated.expectCreated(created, isSubscribedTo))
    }
    if (start && added.length < records.length)
      this.#broadcaster.whenCaughtUp(subscriber.recreated.expectRead(requested.records, start))
    if (!subscriber.subscribe(added, requested.models, start)) return
    const { added: members } = requested
    if (members) {
      subscriber.expectAdditions(members)
      this.#broadcaster.whenCaughtUp(() => subscriber.forgetAdditions(members))
    }
    if (events.length === 0) return
    const replay: Replay = {
      subscriber,
      start,
      concerned: new Set(keysOf(requested)),
      added: new Set(added.map(({ model, id }) => recordKey(model, id))),
    }
    for (const event of events) this.#replay(event, replay)
  }

  /**
   * Whether operations that the request has not seen may have changed what the subscriber sees of these models. From now on, changes of
   * others that decide it are delivered. A write has seen itself.
   */
  #mayHaveOtherRights(
    subscriber: SocketSubscriber,
    { records, models }: SubscriptionRequest,
    { operations }: DeliveredMeanwhile,
    start: StartPosition | undefined,
  ): boolean {
    const broadcaster = this.#broadcaster
    const isOwn = ({ origin }: Change): boolean => start === undefined && origin === subscriber.peer.id
    const unseen = operations.filter(([first]) => first && !broadcaster.starts.hasRead(start, first) && !isOwn(first))
    const concerned = new Set([...models, ...records.map(({ model }) => model)])
    const views = [...concerned].map((model) => broadcaster.viewOrHidden(subscriber, model))
    return unseen.some((changes) => views.some((view) => broadcaster.changesRights(view, changes)))
  }

  /** `isRefused`: nothing was written. Otherwise the write may have been committed although the response is an error. */
  abortRequest({ subscriber, reading, write }: PendingRequest, isRefused: boolean): void {
    this.#broadcaster.recent.end(reading)
    if (!write) subscriber.echoes.endRead(reading, [])
    else if (isRefused) {
      subscriber.echoes.end(write)
    } else {
      write.hasFailed = true
      this.#endWrite(subscriber, write)
    }
  }

  /** Delivers a buffered event of a record in the response, which was delivered to other subscribers during the request. */
  #replay(recent: RecentEvent, { subscriber, start, concerned, added }: Replay): void {
    const { slice, index, change } = recent
    const event = slice.events[index] as Event
    const { model, id, verb } = event
    const key = recordKey(model, id)
    const member = subscriber.subscribeToAdded(event, change)
    if (member !== undefined) for (const keys of [concerned, added]) keys.add(member)
    if (verb === 'created') subscriber.onCreated(model, id, change)
    if (!concerned.has(verb === 'created' ? model : key)) return
    if (verb === 'created') concerned.add(key)
    if (this.#broadcaster.starts.hasRead(start, change)) return
    const isReceived = recent.received?.has(subscriber) === true
    // A subscription that existed before may be to a new record with the same key, so only a subscription of this request is
    // ended.
    if (verb === 'destroyed' && !added.has(key)) return
    if (verb === 'destroyed' && isReceived && !subscriber.recreated.createdSince(model, id))
      subscriber.unsubscribe(model, id)
    if (isReceived || !subscriber.isSubscribedTo(model, verb === 'created' ? undefined : id)) return
    if (verb === 'created') added.add(key)
    const seen = slice.seenBy(index, this.#broadcaster.viewOrHidden(subscriber, model))
    if (!seen) return
    recent.received ??= new Set()
    recent.received.add(subscriber)
    subscriber.deliver(seen, change, start)
  }

  #endWrite({ echoes }: SocketSubscriber, write: PendingWrite): void {
    echoes.answer(write)
    this.#broadcaster.whenCaughtUp(() => echoes.pass(write))
  }

  /** A placeholder for a socket that disconnected before its request began. */
  #disconnected(peer: Peer): SocketSubscriber {
    const subscriber = new SocketSubscriber(peer, anonymous, this.#broadcaster, this.#limits)
    subscriber.disconnect()
    return subscriber
  }

  async #listen(): Promise<void> {
    this.#listening ??= this.#broadcaster.listen()
    const listening = this.#listening
    try {
      await listening
    } catch (error) {
      if (this.#listening === listening) this.#listening = undefined // the next request tries again
      throw error
    }
  }

  #stopListening(): void {
    const listening = this.#listening
    this.#listening = undefined
    listening?.then(
      (active) => active[Symbol.dispose](),
      () => {}, // the requests that waited for it were rejected
    )
  }
}

/** The models and records of the subscriptions. */
const keysOf = ({ models, records }: SubscriptionRequest): readonly string[] => [
  ...models,
  ...records.flatMap(({ model, ids }) => ids.map((id) => recordKey(model, id))),
]

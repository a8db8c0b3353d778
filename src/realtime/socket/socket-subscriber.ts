import type { Change, RecordId } from '../../protocol/change.ts'
import type { Mirror, Peer, SubscriptionEvent } from '../../protocol/event.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { Limits } from '../../support/limits.ts'
import type { Broadcaster } from '../broadcaster.ts'
import type { StartPosition } from '../start-position.ts'
import type { Subscriber } from '../subscriber.ts'
import type { SubscriptionIndex } from '../subscription-index.ts'
import { EchoSuppression, recordKey } from './echo-suppression.ts'
import { RecreatedRecords } from './recreated-records.ts'
import type { AddedMembers } from './subscription-request.ts'

/**
 * About the size of the frame of an event: what a delivery to a socket counts for, also where nothing is sent. That the client has
 * disconnected is found by sending to it, and its subscriptions are removed then.
 */
const bytesPerEvent = 256

const isMirrored = (mirror: Mirror, verb: SubscriptionEvent['verb']): boolean =>
  mirror === true || (mirror === 'interface' && (verb === 'updated' || verb === 'destroyed'))

export type SubscriptionLimits = Pick<Limits, 'maxSubscriptions' | 'maxSubscribedRecords'>

/** A socket as a subscriber: it is subscribed to the records that it learns of. */
export class SocketSubscriber implements Subscriber {
  readonly peer: Peer
  readonly requester: Requester
  readonly echoes = new EchoSuppression()
  readonly recreated: RecreatedRecords
  readonly #subscriptions: SubscriptionIndex
  readonly #limits: SubscriptionLimits
  /** Members that this socket has added, whose `addedTo` events were not delivered yet. */
  #additions: readonly AddedMembers[] = []
  #isConnected = true

  constructor(
    peer: Peer,
    requester: Requester,
    { subscriptions, starts }: Pick<Broadcaster, 'subscriptions' | 'starts'>,
    limits: SubscriptionLimits,
  ) {
    this.peer = peer
    this.requester = requester
    this.#subscriptions = subscriptions
    this.recreated = new RecreatedRecords(starts)
    this.#limits = limits
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  /** False: it would have too many subscriptions, and was reset. */
  subscribe(
    records: readonly { readonly model: string; readonly id: RecordId }[],
    models: readonly string[],
    start: StartPosition | undefined,
  ): boolean {
    if (this.#subscriptions.recordsOf(this) + records.length > this.#limits.maxSubscriptions) {
      this.onGap()
      return false
    }
    for (const { model, id } of records) this.#subscriptions.addRecord(this, model, id, start)
    for (const model of models) this.#subscriptions.addCreated(this, model, start)
    while (this.#subscriptions.records > this.#limits.maxSubscribedRecords) {
      const largest = this.#subscriptions.largest() as Subscriber
      largest.onGap()
      if (largest === this) return false
    }
    return true
  }

  /** Without an id: to new records of the model. */
  isSubscribedTo(model: string, id?: RecordId): boolean {
    const subscribers =
      id === undefined
        ? this.#subscriptions.subscribersOfCreated(model)
        : this.#subscriptions.subscribersOfRecord(model, id)
    return subscribers?.has(this) === true
  }

  expectAdditions(added: AddedMembers): void {
    this.#additions = [...this.#additions, added]
  }

  forgetAdditions(added: AddedMembers): void {
    this.#additions = this.#additions.filter((other) => other !== added)
  }

  onCreated(model: string, id: RecordId, { origin }: Change): void {
    if (origin === this.peer.id) this.recreated.onCreated(model, id)
  }

  deliver(event: SubscriptionEvent, change: Change, start: StartPosition | undefined): number {
    if (!this.#isConnected) return 0
    const { verb, model, id } = event
    const isOwn = change.origin === this.peer.id
    const later = verb === 'destroyed' ? this.recreated.createdSince(model, id) : undefined
    if (later?.wasSubscribed === false) return 0
    // A record with this key may have existed before. Subscriptions to the old record must not apply to the new one.
    if (verb === 'created' || (verb === 'destroyed' && !later)) this.unsubscribe(model, id)
    const since = verb === 'destroyed' && !later ? this.recreated.readSince(model, id, change) : undefined
    if (since) this.subscribe([{ model, id }], [], since)
    if (verb === 'created') this.subscribe([{ model, id }], [], start)
    this.subscribeToAdded(event, change)
    if (!isOwn) this.echoes.recordDelivery(model, id)
    else if (!isMirrored(this.peer.mirror, verb) && !this.echoes.mustEcho(model, id)) return bytesPerEvent
    this.peer.send(event)
    return bytesPerEvent
  }

  unsubscribe(model: string, id: RecordId): void {
    this.#subscriptions.removeRecord(this, model, id)
  }

  /** Ends all subscriptions. The client reconnects and reads again; one that has left meanwhile has lost nothing. */
  onGap(): void {
    if (!this.#isConnected) return
    this.#subscriptions.remove(this)
    this.peer.reset()
  }

  disconnect(): void {
    this.#isConnected = false
    this.#subscriptions.remove(this)
  }

  /**
   * If this socket has added the member, subscribes it to the member. Returns the record key, or undefined if it was subscribed
   * before.
   */
  subscribeToAdded(event: SubscriptionEvent, { origin }: Change): string | undefined {
    if (event.verb !== 'addedTo' || origin !== this.peer.id) return undefined
    const { model, id, attribute, addedId } = event
    const added = this.#additions.find(
      (other) => other.model === model && other.id === id && other.attribute === attribute,
    )
    if (!added || this.isSubscribedTo(added.target, addedId)) return undefined
    const isDone = this.subscribe([{ model: added.target, id: addedId }], [], undefined)
    return isDone ? recordKey(added.target, addedId) : undefined
  }
}

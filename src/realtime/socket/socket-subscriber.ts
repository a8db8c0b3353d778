import type { Change, RecordId } from '../../protocol/change.ts'
import type { Mirror, Peer, SubscriptionEvent } from '../../protocol/event.ts'
import type { Requester } from '../../protocol/requester.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { Limits } from '../../support/limits.ts'
import type { Broadcaster } from '../broadcaster.ts'
import type { StartPosition, StartPositions } from '../start-position.ts'
import type { Subscriber } from '../subscriber.ts'
import type { SubscriptionIndex } from '../subscription-index.ts'
import { EchoSuppression, recordKey } from './echo-suppression.ts'
import type { AddedMembers, RequestedRecords } from './subscription-request.ts'

/**
 * About the size of the frame of an event: what a delivery to a socket counts for, also where nothing is sent. That the client has
 * disconnected is found by sending to it, and its subscriptions are removed then.
 */
const bytesPerEvent = 256

const none: readonly never[] = []

const isMirrored = (mirror: Mirror, verb: SubscriptionEvent['verb']): boolean =>
  mirror === true || (mirror === 'interface' && (verb === 'updated' || verb === 'destroyed'))

export type SubscriptionLimits = Pick<Limits, 'maxSubscriptions' | 'maxSubscribedRecords'>

/** A record that a socket has created. */
interface Creation {
  /** Whether the socket was subscribed to an earlier record with its key. */
  readonly wasSubscribed: boolean
}

/** A read that returned records to which the socket was subscribed before. */
class RepeatedRead {
  readonly start: StartPosition
  readonly #records: readonly RequestedRecords[]
  #keys: ReadonlySet<string> | undefined

  constructor(records: readonly RequestedRecords[], start: StartPosition) {
    this.#records = records
    this.start = start
  }

  /** Whether it returned the record. The set is made for the first question: most reads get none, and one may get thousands. */
  returned(model: string, id: RecordId): boolean {
    this.#keys ??= new Set(this.#records.flatMap(({ model, ids }) => ids.map((id) => recordKey(model, id))))
    return this.#keys.has(recordKey(model, id))
  }
}

/** A socket as a subscriber: it is subscribed to the records that it learns of. */
export class SocketSubscriber implements Subscriber {
  readonly peer: Peer
  readonly requester: Requester
  readonly echoes = new EchoSuppression()
  readonly #subscriptions: SubscriptionIndex
  readonly #starts: StartPositions
  readonly #limits: SubscriptionLimits
  /** Members that this socket has added, whose `addedTo` events were not delivered yet. */
  #additions: readonly AddedMembers[] = []
  /** The records that this socket has created and whose `created` the feed has not passed, by their keys. Undefined: none. */
  #creations: Map<string, Creation[]> | undefined
  /** Reads whose positions the feed has not passed, the last one at the end. */
  #repeatedReads: readonly RepeatedRead[] = none
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
    this.#starts = starts
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

  /** Until the feed has passed their `created`, or the result is called, `destroyed` is that of an earlier record with their key. */
  expectCreated(records: readonly RequestedRecords[]): () => void {
    this.#creations ??= new Map()
    const expected: (readonly [key: string, creation: Creation])[] = []
    for (const { model, ids } of records) {
      for (const id of ids) {
        const key = recordKey(model, id)
        const creation = { wasSubscribed: this.isSubscribedTo(model, id) }
        getOrInsertComputed(this.#creations, key, () => [] as Creation[]).push(creation)
        expected.push([key, creation])
      }
    }
    return () => {
      for (const [key, creation] of expected) this.#forgetCreation(key, creation)
    }
  }

  onCreated(model: string, id: RecordId, { origin }: Change): void {
    if (!this.#creations || origin !== this.peer.id) return
    const key = recordKey(model, id)
    this.#forgetCreation(key, this.#creations.get(key)?.[0])
  }

  /** Where `destroyed` is about an earlier record with the key of one that this socket has created: the latter. */
  createdSince(model: string, id: RecordId): Creation | undefined {
    return this.#creations?.get(recordKey(model, id))?.[0]
  }

  /** Until the result is called, `destroyed` of a change that the read includes is that of an earlier record than the one it returned. */
  expectRead(records: readonly RequestedRecords[], start: StartPosition): () => void {
    const read = new RepeatedRead(records, start)
    this.#repeatedReads = [...this.#repeatedReads, read]
    return () => {
      this.#repeatedReads = this.#repeatedReads.filter((other) => other !== read)
    }
  }

  /** Where the subscription begins to the record that was returned after the one that `destroyed` is about. */
  #readSince(model: string, id: RecordId, change: Change): StartPosition | undefined {
    return this.#repeatedReads.findLast((read) => this.#starts.hasRead(read.start, change) && read.returned(model, id))
      ?.start
  }

  #forgetCreation(key: string, creation: Creation | undefined): void {
    const others = this.#creations?.get(key)?.filter((other) => other !== creation) ?? []
    if (others.length > 0) this.#creations?.set(key, others)
    else this.#creations?.delete(key)
    if (this.#creations?.size === 0) this.#creations = undefined
  }

  deliver(event: SubscriptionEvent, change: Change, start: StartPosition | undefined): number {
    if (!this.#isConnected) return 0
    const { verb, model, id } = event
    const isOwn = change.origin === this.peer.id
    const later = verb === 'destroyed' ? this.createdSince(model, id) : undefined
    if (later?.wasSubscribed === false) return 0
    // A record with this key may have existed before. Subscriptions to the old record must not apply to the new one.
    if (verb === 'created' || (verb === 'destroyed' && !later)) this.unsubscribe(model, id)
    const since = verb === 'destroyed' && !later ? this.#readSince(model, id, change) : undefined
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

  /** Ends all subscriptions. The client reconnects and reads again. */
  onGap(): void {
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

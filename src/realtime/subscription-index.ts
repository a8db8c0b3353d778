import type { Condition } from '../criteria/criteria.ts'
import type { RecordId } from '../protocol/change.ts'
import { forEachInTurns } from '../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { FilterGroups } from './filter-groups.ts'
import type { StartPosition } from './start-position.ts'
import { SingleSubscriber, type Subscriber, type SubscriberSet } from './subscriber.ts'
import type { View } from './visibility.ts'

type SubscriberMap = Map<Subscriber, StartPosition | undefined>

/** The subscriptions of one subscriber, so that all of them can be removed. */
interface SubscriberEntry {
  records: number
  readonly byModel: Map<string, Set<RecordId>>
  readonly created: Set<string>
}

/** Finds the subscribers of an event: by its record, by its model, and by the conditions on it. */
export class SubscriptionIndex {
  readonly #byRecord = new Map<string, Map<RecordId, SingleSubscriber | SubscriberMap>>()
  readonly #created = new Map<string, SubscriberMap>()
  readonly #filters = new Map<string, FilterGroups>()
  readonly #held = new Map<Subscriber, SubscriberEntry>()
  #records = 0

  /** The number of subscriptions to records. */
  get records(): number {
    return this.#records
  }

  /** Whether there are subscriptions to events of the model. */
  has(model: string): boolean {
    return (
      (this.#byRecord.get(model)?.size ?? 0) > 0 ||
      (this.#created.get(model)?.size ?? 0) > 0 ||
      this.#filters.has(model)
    )
  }

  /** The number of records that a subscriber is subscribed to. */
  recordsOf(subscriber: Subscriber): number {
    return this.#held.get(subscriber)?.records ?? 0
  }

  /** False: it was subscribed to the record before, and its start position stays as it was. */
  addRecord(subscriber: Subscriber, model: string, id: RecordId, start?: StartPosition): boolean {
    const records = getOrInsertComputed(
      this.#byRecord,
      model,
      () => new Map<RecordId, SingleSubscriber | SubscriberMap>(),
    )
    const subscribers = records.get(id)
    if (subscribers?.has(subscriber)) return false
    if (!subscribers) records.set(id, new SingleSubscriber(subscriber, start))
    else if (subscribers instanceof SingleSubscriber) records.set(id, new Map([...subscribers, [subscriber, start]]))
    else subscribers.set(subscriber, start)
    const held = this.#entryOf(subscriber)
    getOrInsertComputed(held.byModel, model, () => new Set<RecordId>()).add(id)
    held.records++
    this.#records++
    return true
  }

  /** To new records of a model. False: it was subscribed before, and its start position stays as it was. */
  addCreated(subscriber: Subscriber, model: string, start?: StartPosition): boolean {
    const subscribers = getOrInsertComputed(this.#created, model, () => new Map() as SubscriberMap)
    if (subscribers.has(subscriber)) return false
    subscribers.set(subscriber, start)
    this.#entryOf(subscriber).created.add(model)
    return true
  }

  /** To all events of a model, or of its records that match a condition. A subscriber has one such subscription. */
  addFilter(subscriber: Subscriber, model: string, view: View, where: Condition | undefined): void {
    getOrInsertComputed(this.#filters, model, () => new FilterGroups()).add(subscriber, view, where)
  }

  removeFilter(subscriber: Subscriber, model: string, view: View, where: Condition | undefined): void {
    const groups = this.#filters.get(model)
    groups?.remove(subscriber, view, where)
    if (groups?.isEmpty) this.#filters.delete(model)
  }

  removeRecord(subscriber: Subscriber, model: string, id: RecordId): void {
    const held = this.#held.get(subscriber)
    if (!held?.byModel.get(model)?.delete(id)) return
    held.records--
    this.#records--
    this.#delete(subscriber, model, id)
  }

  /**
   * Ends all subscriptions of a subscriber to records and to new records. The subscriber must not subscribe again: large numbers
   * of entries are removed in later turns of the event loop.
   */
  remove(subscriber: Subscriber): void {
    const held = this.#held.get(subscriber)
    if (!held) return
    this.#held.delete(subscriber)
    this.#records -= held.records
    for (const model of held.created) this.#created.get(model)?.delete(subscriber)
    for (const [model, ids] of held.byModel) void forEachInTurns([...ids], (id) => this.#delete(subscriber, model, id))
  }

  /** The one that is subscribed to the most records. */
  largest(): Subscriber | undefined {
    let largest: Subscriber | undefined
    let most = 0
    for (const [subscriber, { records }] of this.#held) if (records > most) [largest, most] = [subscriber, records]
    return largest
  }

  subscribersOfRecord(model: string, id: RecordId): SubscriberSet | undefined {
    return this.#byRecord.get(model)?.get(id)
  }

  subscribersOfCreated(model: string): SubscriberSet | undefined {
    return this.#created.get(model)
  }

  filtersOf(model: string): FilterGroups | undefined {
    return this.#filters.get(model)
  }

  *subscribers(): Generator<Subscriber> {
    yield* this.#held.keys()
    for (const groups of this.#filters.values()) for (const { subscribers } of groups) yield* subscribers.keys()
  }

  /** Every subscriber with the models it is subscribed to; one may come twice. */
  *modelsBySubscriber(): Generator<readonly [Subscriber, readonly string[]]> {
    for (const [subscriber, { byModel, created }] of this.#held) yield [subscriber, [...byModel.keys(), ...created]]
    for (const [model, groups] of this.#filters)
      for (const { subscribers } of groups) for (const subscriber of subscribers.keys()) yield [subscriber, [model]]
  }

  #delete(subscriber: Subscriber, model: string, id: RecordId): void {
    const records = this.#byRecord.get(model)
    const subscribers = records?.get(id)
    if (!subscribers?.has(subscriber)) return
    if (subscribers instanceof SingleSubscriber || subscribers.size === 1) records?.delete(id)
    else subscribers.delete(subscriber)
  }

  #entryOf(subscriber: Subscriber): SubscriberEntry {
    return getOrInsertComputed(this.#held, subscriber, () => ({ records: 0, byModel: new Map(), created: new Set() }))
  }
}

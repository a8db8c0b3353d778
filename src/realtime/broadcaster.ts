import type { Condition } from '../criteria/criteria.ts'
import type { ManyToMany, Models } from '../model/model.ts'
import type { Change, Position } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import { eventLoopTurn, forEachInTurns } from '../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { type AssociationIndex, type DeclaredAssociation, indexAssociations } from './association-index.ts'
import type { ChangeFeed, ChangeFeedListener, ChangeOperation } from './change-feed.ts'
import { RecentEvents } from './delivery/recent-events.ts'
import { EventSlice, slicesOf } from './event-slice.ts'
import { eventsOf } from './events.ts'
import { type CurrentMembers, withoutRemaining } from './remaining-members.ts'
import { SharedListening } from './shared-listening.ts'
import { type PositionOrder, type StartPosition, StartPositions } from './start-position.ts'
import type { Subscriber, SubscriberSet } from './subscriber.ts'
import { SubscriptionIndex } from './subscription-index.ts'
import type { SubscriptionTarget } from './subscription-target.ts'
import { type CurrentRecords, everythingVisible, type Listener, type View, type Visibility } from './visibility.ts'

export interface BroadcasterOptions {
  readonly feed: ChangeFeed
  readonly models: Models
  readonly order: PositionOrder
  readonly currentRecords: CurrentRecords
  readonly currentMembers: CurrentMembers
  readonly visibility?: Visibility
  /** Limits of the events that are buffered while reads are in progress: their number, and their bytes. */
  readonly maxRecentEvents: number
  readonly maxRecentBytes: number
  readonly onError: (error: unknown) => void
}

/** Bytes that are delivered before other work runs: 128 KB are about 500 events, and writing them to sockets takes about 5 ms. */
const bytesPerTurn = 131_072
/** Streams that the end of an operation wakes before other work runs: each writes to a connection of its own, in this turn. */
const receiversPerTurn = 64

/**
 * Delivers every change to the subscribers that it concerns: the feed gives operations, the index finds the subscribers
 * of their events, the visibility decides what each may see. Sockets, streams and iterators are its clients.
 */
export class Broadcaster implements ChangeFeedListener {
  readonly subscriptions = new SubscriptionIndex()
  readonly starts: StartPositions
  readonly recent: RecentEvents
  readonly associations: AssociationIndex
  readonly #options: BroadcasterOptions
  readonly #visibility: Visibility
  /**
   * Associations whose removed members are looked up in the database, to find out whether another row for the pair remains.
   * Associations whose rows are hidden from some requesters are left out: the result would differ per requester.
   */
  readonly #repeating: readonly DeclaredAssociation<ManyToMany>[]
  readonly #listening: SharedListening
  #users = 0
  #position: Position | undefined
  #bytesThisTurn = 0

  constructor(options: BroadcasterOptions) {
    this.#options = options
    this.#listening = new SharedListening(options.feed, this)
    this.recent = new RecentEvents(options)
    this.#visibility = options.visibility ?? everythingVisible
    this.associations = indexAssociations(options.models)
    this.#repeating = this.associations.repeating.filter(
      ({ association }) => !this.#visibility.hidesRecords(association.junction.name),
    )
    this.starts = new StartPositions(options.order, (callback) => options.feed.whenCaughtUp(callback))
  }

  /** Everything up to here has been delivered; undefined while that is not known. */
  get position(): Position | undefined {
    return this.#position
  }

  /** Resolves when every change that is committed from now on is delivered, until the result is disposed of. */
  async listen(): Promise<Disposable> {
    this.#users++
    let isEnded = false
    const end = (): void => {
      if (isEnded) return
      isEnded = true
      if (--this.#users === 0) this.#stopListening()
    }
    try {
      await this.#listening.begin()
    } catch (error) {
      end()
      throw error
    }
    return { [Symbol.dispose]: end }
  }

  /** The result ends the subscription, and with it the listening. */
  subscribe(subscriber: Subscriber, { model, id, where }: SubscriptionTarget, listening: Disposable): Disposable {
    const view = this.viewOf(subscriber, model.name)
    if (id === undefined) this.subscriptions.addFilter(subscriber, model.name, view, where)
    else this.subscriptions.addRecord(subscriber, model.name, id)
    return {
      [Symbol.dispose]: () => {
        this.subscriptions.removeFilter(subscriber, model.name, view, where)
        this.subscriptions.remove(subscriber)
        listening[Symbol.dispose]()
      },
    }
  }

  /** Calls back once everything that is committed by now has been delivered. */
  whenCaughtUp(callback: () => void): void {
    this.#options.feed.whenCaughtUp(callback)
  }

  viewOf(listener: Listener, model: string): View {
    return this.#visibility.viewOf(listener, model)
  }

  /**
   * As `viewOf`, for sockets. One whose rules throw sees nothing of the model from now on, and the error is reported: the others
   * still receive their events. A stream applies its rules when it begins, and fails then.
   */
  viewOrHidden(subscriber: Subscriber, model: string): View {
    try {
      return this.viewOf(subscriber, model)
    } catch (error) {
      this.#options.onError(error)
      return this.#visibility.hide(subscriber, model)
    }
  }

  changesRights(view: View, changes: readonly Change[]): boolean {
    return this.#visibility.changesRights(view, changes)
  }

  decidesRights(model: string): boolean {
    return this.#visibility.decidesRights(model)
  }

  slice(events: readonly Event[]): EventSlice {
    return new EventSlice(events, { ...this.#options, visibility: this.#visibility })
  }

  /** While a read is under way every change is needed: it may end with a subscription to any model. */
  wants(model: string): boolean {
    if (this.recent.isNeeded) return true
    if (this.#visibility.decidesRights(model)) return true
    return (this.associations.affectedModels.get(model) ?? []).some((name) => this.subscriptions.has(name))
  }

  /**
   * Leaves out each `removedFrom` whose record is still a member, through another row. If the lookup fails, the error is reported
   * and all events are kept.
   */
  withoutRemaining(events: readonly Event[]): MaybePromise<readonly Event[]> {
    try {
      const left = withoutRemaining(events, this.#repeating, this.#options.currentMembers)
      return left instanceof Promise ? left.catch((error) => this.#allAfter(error, events)) : left
    } catch (error) {
      return this.#allAfter(error, events)
    }
  }

  #allAfter(error: unknown, events: readonly Event[]): readonly Event[] {
    this.#options.onError(error)
    return events
  }

  async onOperation({ changes, position }: ChangeOperation): Promise<void> {
    const operation: Delivery = { change: changes[0] as Change, receivers: new Set() }
    if (this.recent.isNeeded && this.#visibility !== everythingVisible) this.recent.addOperation(changes)
    const restarted = this.#restartWhereRightsChanged(changes)
    if (restarted) await restarted
    let isFirst = true
    for (const all of slicesOf(eventsOf(changes, this.associations))) {
      const left = this.withoutRemaining(all)
      const events = left instanceof Promise ? await left : left
      if (!isFirst) await yieldToEventLoop()
      isFirst = false
      const slice = this.slice(events)
      await this.#judge(slice, events)
      for (const index of events.keys()) {
        // An event that nothing receives is compared with the rules of all subscribers nevertheless.
        if (eventLoopTurn.isUsed) await eventLoopTurn.next()
        await this.#deliver(slice, index, operation)
      }
    }
    let ended = 0
    for (const receiver of operation.receivers) {
      receiver.endOperation?.(position)
      if (++ended % receiversPerTurn === 0) await yieldToEventLoop()
    }
  }

  /**
   * Sends a gap to subscribers whose rules pass through an association to a changed record: the change may have altered what they
   * may see, and no event describes that. As many views as there are users are compared with each change.
   */
  #restartWhereRightsChanged(changes: readonly Change[]): MaybePromise<void> {
    if (!changes.some(({ model }) => this.#visibility.decidesRights(model))) return
    const decided = new Map<View, boolean>()
    const isConcerned = (view: View): boolean =>
      getOrInsertComputed(decided, view, () => this.changesRights(view, changes))
    return forEachInTurns([...this.subscriptions.modelsBySubscriber()], ([subscriber, models]) => {
      if (models.some((model) => isConcerned(this.viewOrHidden(subscriber, model)))) subscriber.onGap()
    })
  }

  onPosition(position: Position): void {
    this.#position = position
  }

  onGap(): void {
    this.recent.forget()
    for (const subscriber of [...this.subscriptions.subscribers()]) subscriber.onGap()
  }

  async #deliver(slice: EventSlice, index: number, operation: Delivery): Promise<void> {
    const { verb, model, id } = slice.events[index] as Event
    const isRestricted = this.#visibility.isRestricted(model)
    // A read that ended after the slice was judged may have added subscribers with other views.
    if (isRestricted) await this.#judge(slice, [slice.events[index] as Event])
    // Do not await before all lists are copied: the subscribers and the buffer for reads in progress must describe the same
    // moment.
    const ofRecord = this.subscriptions.subscribersOfRecord(model, id)
    const ofCreated = this.subscriptions.subscribersOfCreated(model)
    const selected = verb === 'created' ? ofCreated : ofRecord
    if (verb === 'created')
      for (const [subscriber] of ofRecord ?? []) subscriber.onCreated?.(model, id, operation.change)
    if (this.recent.isNeeded) this.recent.add(slice, index, operation.change, selected)
    const subscribers = [...(selected ?? [])]
    const entered =
      isRestricted && verb === 'updated' ? [...(ofCreated ?? [])].filter(([one]) => !ofRecord?.has(one)) : []
    const groups = [...(this.subscriptions.filtersOf(model)?.candidates(() => slice.imagesAt(index)) ?? [])]

    await this.#hand(subscribers, slice, index, operation)
    await this.#hand(entered, slice, index, operation, { verb: 'created' })
    for (const { view, where, subscribers } of groups) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      await slice.matchInTurns(index, view, where)
      await this.#hand([...subscribers], slice, index, operation, { where })
    }
  }

  async #hand(
    subscribers: readonly (readonly [Subscriber, StartPosition | undefined])[],
    slice: EventSlice,
    index: number,
    { change, receivers }: Delivery,
    only: { readonly where?: Condition | undefined; readonly verb?: Event['verb'] } = {},
  ): Promise<void> {
    const { model } = slice.events[index] as Event
    for (const [subscriber, start] of subscribers) {
      if (this.starts.hasRead(start, change)) continue
      const view = this.viewOrHidden(subscriber, model)
      if (!slice.isJudged(index, view, only.where)) {
        subscriber.onGap()
        continue
      }
      const seen = slice.seenBy(index, view, only.where)
      if (!seen || (only.verb !== undefined && seen.verb !== only.verb)) continue
      if (subscriber.endOperation) receivers.add(subscriber)
      this.#bytesThisTurn += subscriber.deliver(seen, change, start)
      if (this.#bytesThisTurn < bytesPerTurn) continue
      this.#bytesThisTurn = 0
      await yieldToEventLoop()
    }
  }

  /** Reports an error instead of throwing. Subscribers whose views were not judged receive a gap at delivery. */
  async #judge(slice: EventSlice, events: readonly Event[]): Promise<void> {
    try {
      const found = this.#viewsIn(events)
      const views = found instanceof Promise ? await found : found
      const judging = slice.judge(
        (model) => views.get(model)?.views ?? noViews,
        (model) => this.subscriptions.filtersOf(model)?.isFiltered === true,
      )
      if (judging instanceof Promise) await judging
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /**
   * By model, the views of all subscribers of these events. In several turns of the event loop: each record may have thousands of
   * subscribers.
   */
  #viewsIn(events: readonly Event[]): MaybePromise<ReadonlyMap<string, KnownViews>> {
    const byModel = new Map<string, KnownViews>()
    const added = forEachInTurns(events, ({ model, id }) => {
      if (!this.#visibility.isRestricted(model)) return
      const known = getOrInsertComputed(byModel, model, () => this.#viewsOfAll(model))
      this.#addViews(known, model, this.subscriptions.subscribersOfRecord(model, id))
    })
    return andThen(added, () => byModel)
  }

  /** Those of all records of a model, and of sockets whose reads are in progress and may end with a subscription. */
  #viewsOfAll(model: string): KnownViews {
    const known: KnownViews = { views: new Set(), subscribers: new Set() }
    for (const { view } of this.subscriptions.filtersOf(model) ?? []) known.views.add(view)
    for (const subscriber of this.recent.subscribers()) known.views.add(this.viewOrHidden(subscriber, model))
    this.#addViews(known, model, this.subscriptions.subscribersOfCreated(model))
    return known
  }

  #addViews({ views, subscribers }: KnownViews, model: string, added: SubscriberSet | undefined): void {
    for (const [subscriber] of added ?? []) {
      if (subscribers.has(subscriber)) continue
      subscribers.add(subscriber)
      views.add(this.viewOrHidden(subscriber, model))
    }
  }

  #stopListening(): void {
    this.#listening.end()
    this.#position = undefined
  }
}

/** The views of some subscribers of a model, each of which is looked up once. */
interface KnownViews {
  readonly views: Set<View>
  readonly subscribers: Set<Subscriber>
}

const noViews: ReadonlySet<View> = new Set()

/** What is common to the events of an operation. */
interface Delivery {
  readonly change: Change
  /** Those that received one of its events; `endOperation` is called for them. */
  readonly receivers: Set<Subscriber>
}

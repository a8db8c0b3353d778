import type { Condition } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import { hasLongText, matchesInTurns } from '../criteria/matches-in-turns.ts'
import type { Models } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Event, SubscriptionEvent } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import { forEachInTurns } from '../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { andThen, forEachSequential, type MaybePromise } from '../support/maybe-promise.ts'
import { changedValues, isChanged } from './events.ts'
import { type CurrentRecords, fullView, type Images, type View, type Visibility } from './visibility.ts'

export interface EventSliceOptions {
  readonly models: Models
  readonly visibility: Visibility
  readonly currentRecords: CurrentRecords
}

/** About so many events of an operation are computed and judged at once. */
const eventsPerSlice = 200

/** Events as one view sees them through one condition, by their place. */
type Seen = Map<number, SubscriptionEvent | undefined>

const noViews: ReadonlySet<View> = new Set()

/** The slices of the events of an operation. The events of members are in one slice with that of the record that follows them. */
export function* slicesOf(events: Iterable<Event>): Generator<readonly Event[]> {
  let slice: Event[] = []
  for (const event of events) {
    slice.push(event)
    const isComplete = slice.length >= eventsPerSlice && !isMembership(event)
    if (!isComplete && slice.length < 2 * eventsPerSlice) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}

/** Some consecutive events of one operation, as views and filters see them. */
export class EventSlice {
  readonly events: readonly Event[]
  readonly #options: EventSliceOptions
  readonly #images: (Images | undefined)[] = []
  readonly #visible = new Map<View, Map<number, Images>>()
  readonly #seen = new Map<View, Map<Condition | undefined, Seen>>()
  /** Events of records that come into view or leave it, which many filters share. */
  readonly #entered = new Map<number, SubscriptionEvent>()
  readonly #left = new Map<number, SubscriptionEvent>()
  /** By model: the records whose members changed, as they are now. */
  readonly #current = new Map<string, ReadonlyMap<RecordId, JsonObject>>()

  constructor(events: readonly Event[], options: EventSliceOptions) {
    this.events = events
    this.#options = options
  }

  /**
   * Reads from the database what the events do not contain: the current records whose members changed, if a filter needs them,
   * and what the views may see, if the model is restricted. Nothing is read twice. It takes one statement per model, and one per
   * shape of a rule.
   */
  judge(viewsOf: (model: string) => ReadonlySet<View>, isFiltered: (model: string) => boolean): MaybePromise<void> {
    const { visibility } = this.#options
    return forEachSequential(
      [...Map.groupBy(this.events.keys(), (index) => this.#eventAt(index).model)],
      ([model, indexes]) => {
        const views = visibility.isRestricted(model) ? viewsOf(model) : noViews
        if (views.size === 0 && !isFiltered(model)) return
        return andThen(this.#readCurrent(model, indexes), () => this.#judgeViews(model, indexes, views))
      },
    )
  }

  /** False: `judge` was not asked for this view or filter, or failed. */
  isJudged(index: number, view: View, where?: Condition): boolean {
    if (view !== fullView) return this.#visible.get(view)?.has(index) === true
    const event = this.#eventAt(index)
    return !where || !isMembership(event) || this.#current.has(event.model)
  }

  /**
   * The event as a view sees it through a condition; undefined when it does not. For the same view and condition it is
   * the same object, so that it is encoded once.
   */
  seenBy(index: number, view: View, where?: Condition): SubscriptionEvent | undefined {
    if (view === fullView && !where) return this.#eventAt(index)
    const seen = this.#seenThrough(view, where)
    if (!seen.has(index)) seen.set(index, this.#project(index, view, filtered(where, this.#visibleTo(index, view))))
    return seen.get(index)
  }

  /**
   * Computes the result of `seenBy` for events with long texts, in several turns of the event loop. Undefined if `seenBy` can
   * compute it.
   */
  matchInTurns(index: number, view: View, where: Condition | undefined): Promise<void> | undefined {
    if (!where || !this.isJudged(index, view, where)) return undefined
    const { before, after } = this.#visibleTo(index, view)
    if (!hasLongText(before) && !hasLongText(after)) return undefined
    const seen = this.#seenThrough(view, where)
    return seen.has(index) ? undefined : this.#match(index, view, where, seen)
  }

  async #match(index: number, view: View, where: Condition, seen: Seen): Promise<void> {
    const { before, after } = this.#visibleTo(index, view)
    const images = {
      before: before && (await matchesInTurns(where, before)) ? before : undefined,
      after: after && (await matchesInTurns(where, after)) ? after : undefined,
    }
    seen.set(index, this.#project(index, view, images))
  }

  imagesAt(index: number): Images {
    this.#images[index] ??= this.#imagesOf(this.#eventAt(index))
    return this.#images[index]
  }

  #seenThrough(view: View, where: Condition | undefined): Seen {
    const byCondition = getOrInsertComputed(this.#seen, view, () => new Map<Condition | undefined, Seen>())
    return getOrInsertComputed(byCondition, where, () => new Map())
  }

  #readCurrent(model: string, indexes: readonly number[]): MaybePromise<void> {
    if (this.#current.has(model)) return
    const ids = new Set(
      indexes.filter((index) => isMembership(this.#eventAt(index))).map((index) => this.#eventAt(index).id),
    )
    const reading = ids.size === 0 ? new Map() : this.#options.currentRecords(model, [...ids])
    return andThen(reading, (records) => {
      this.#current.set(model, records)
      for (const index of indexes) this.#images[index] = undefined
    })
  }

  #judgeViews(model: string, indexes: readonly number[], views: ReadonlySet<View>): MaybePromise<void> {
    const missing = new Set([...views].filter((view) => !this.#visible.get(view)?.has(indexes[0] as number)))
    if (missing.size === 0) return
    const events = indexes.map((index) => ({ event: this.#eventAt(index), images: this.imagesAt(index) }))
    const all = () => this.events.map((event, index) => ({ event, images: this.imagesAt(index) }))
    return andThen(this.#options.visibility.judge(model, events, missing, all), (judged) =>
      forEachInTurns([...missing], (view) => {
        const visible = getOrInsertComputed(this.#visible, view, () => new Map<number, Images>())
        for (const [at, index] of indexes.entries()) {
          const images = judged.get(view)?.[at]
          if (images) visible.set(index, images)
        }
      }),
    )
  }

  #eventAt(index: number): Event {
    return this.events[index] as Event
  }

  #visibleTo(index: number, view: View): Images {
    return view === fullView ? this.imagesAt(index) : (this.#visible.get(view)?.get(index) ?? {})
  }

  #imagesOf(event: Event): Images {
    switch (event.verb) {
      case 'created':
        return { after: event.data }
      case 'updated':
        return { before: event.previous, after: { ...event.previous, ...event.data } }
      case 'destroyed':
        return { before: event.previous }
      case 'addedTo':
      case 'removedFrom':
        return { after: this.#current.get(event.model)?.get(event.id) }
    }
  }

  /** A record that comes into view is created, one that leaves it is destroyed, without values. */
  #project(index: number, view: View, { before, after }: Images): SubscriptionEvent | undefined {
    const event = this.#eventAt(index)
    const { model, id } = event
    const images = this.imagesAt(index)
    if (!before && !after) return undefined
    // Nothing that the view sees has changed.
    if (event.verb === 'updated' && before && after && view !== fullView && !isChanged(before, after)) return undefined
    if (before === images.before && after === images.after) return event
    if (isMembership(event)) return event
    if (!before) return this.#enters(index, after as JsonObject)
    if (!after && images.after) return getOrInsertComputed(this.#left, index, () => ({ verb: 'destroyed', model, id }))
    if (!after) return { verb: 'destroyed', model, id, previous: before }
    const definition = this.#options.models.get(model)
    const data = definition ? changedValues(before, after, definition) : after
    return { verb: 'updated', model, id, data, previous: before }
  }

  #enters(index: number, data: JsonObject): SubscriptionEvent {
    const { model, id } = this.#eventAt(index)
    const event: SubscriptionEvent = { verb: 'created', model, id, data }
    return data === this.imagesAt(index).after ? getOrInsertComputed(this.#entered, index, () => event) : event
  }
}

function filtered(where: Condition | undefined, images: Images): Images {
  if (!where) return images
  const { before, after } = images
  return {
    before: before && matches(where, before) ? before : undefined,
    after: after && matches(where, after) ? after : undefined,
  }
}

const isMembership = ({ verb }: Event): boolean => verb === 'addedTo' || verb === 'removedFrom'

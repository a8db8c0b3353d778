import type { Change, RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Subscriber } from './subscriber.ts'

/**
 * A record before and after a change, each absent where there was no record or where it may not be seen, and without the
 * attributes that may not be read. An event about a member holds no image: there `after` is the record as it is now.
 */
export interface Images {
  readonly before?: JsonObject | undefined
  readonly after?: JsonObject | undefined
}

/**
 * What a group of requesters may see of a model. Requesters with the same rules, and the same values in them, share one
 * view, and with it the evaluation of the rules and the encoded events.
 */
export interface View {
  /** Different for different views. */
  readonly key: string
}

/** Everything. */
export const fullView: View = { key: '' }

/** An event whose record is judged. */
export interface JudgedEvent {
  readonly event: Event
  readonly images: Images
}

/** A subscriber, or what it is going to be. */
export type Listener = Pick<Subscriber, 'requester'>

/**
 * Decides which events reach which requesters. It is asked once for a batch of events and all views together, so that
 * a rule through associations takes one statement for each of its shapes, however many subscribers there are.
 */
export interface Visibility {
  /** False if every requester sees every record of the model; then no other method is called for it. */
  isRestricted(model: string): boolean
  /** False if every requester may read every value of every record of the model. */
  hidesRecords(model: string): boolean
  /**
   * The rules are applied for each listener, and once: to the same requester they may say something else later. Throws what a rule
   * throws.
   */
  viewOf(listener: Listener, model: string): View
  /** From now on the listener sees nothing of the model. */
  hide(listener: Listener, model: string): View
  /**
   * What each view sees of each event. The events are of one model, and the results are in their order. Undefined if that can no
   * longer be determined: subscribers must then start from a new snapshot.
   */
  judge(
    model: string,
    events: readonly JudgedEvent[],
    views: ReadonlySet<View>,
    /** All events of the slice, to look up changes of members in the same operation. */
    all: () => readonly JudgedEvent[],
  ): MaybePromise<ReadonlyMap<View, readonly (Images | undefined)[]>>
  /** Whether rules of other models depend on records of this one. */
  decidesRights(model: string): boolean
  /**
   * Whether changes of other models may have changed what a view shows. Its subscribers then start from a fresh snapshot.
   */
  changesRights(view: View, changes: readonly Change[]): boolean
}

/** Without access rules every requester sees everything. */
export const everythingVisible: Visibility = {
  isRestricted: () => false,
  hidesRecords: () => false,
  viewOf: () => fullView,
  hide: () => fullView,
  judge: () => new Map(),
  decidesRights: () => false,
  changesRights: () => false,
}

/** Records as they are now, by key; one that does not exist is absent. */
export type CurrentRecords = (
  model: string,
  ids: readonly RecordId[],
) => MaybePromise<ReadonlyMap<RecordId, JsonObject>>

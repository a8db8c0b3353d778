import { conditionKey } from '../criteria/condition-key.ts'
import { type Condition, matchNone } from '../criteria/criteria.ts'
import {
  type Association,
  type Attribute,
  everyAttribute,
  type Model,
  type Models,
  originalOf,
} from '../model/model.ts'
import type { Change, RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import {
  fullView,
  type Images,
  type JudgedEvent,
  type Listener,
  type View,
  type Visibility,
} from '../realtime/visibility.ts'
import type { Store } from '../storage/store.ts'
import { forEachInTurns } from '../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { Lru } from '../support/lru.ts'
import { mayFulfil, modelsIn } from './condition-parts.ts'
import type { ReadAccess } from './guard.ts'
import { ImageJudge, needsDatabase } from './image-judge.ts'
import {
  isMembershipEvent,
  type Membership,
  type MembershipEvent,
  membershipsKey,
  membershipsOf,
  referenceImage,
} from './membership-visibility.ts'
import type { AccessPolicy } from './policy.ts'
import { RuleShapes } from './rule-shapes.ts'

/** What requesters with the same rules, and the same values in them, see of one model. */
interface RuleView extends View {
  readonly model: Model
  readonly readable: Condition
  readonly masks: ReadonlyMap<Attribute, Condition>
  /** All that decides what is seen, and the models that it is about. */
  readonly conditions: readonly (readonly [Condition, Model])[]
  /** Whether images alone do not decide it. */
  readonly needsDatabase: boolean
  /** The models whose records decide what is readable, besides the model itself. */
  readonly through: ReadonlySet<string>
  /** What is readable of the models whose records are members of this one's. */
  readonly members: ReadonlyMap<string, Condition>
  /** What must be readable, by association, for the events of its members. */
  readonly memberships: ReadonlyMap<string, Membership>
}

/** Views past this number are made again; requesters then share less. */
const keptViews = 10_000

const unseen: Images = {}

const nothingReadable: ReadAccess = {
  readable: () => matchNone,
  mask: () => undefined,
  isMaskable: () => false,
  hasMasks: false,
}

/** Judges events by the rules for reading: the image before a change and the one after it. */
export class EventVisibility implements Visibility {
  readonly #policy: AccessPolicy
  readonly #store: Store
  readonly #models: Models
  readonly #views = new Lru<string, RuleView>(keptViews)
  /** The models that the rules of a view pass through. */
  readonly #deciding = new Set<string>()
  readonly #ofListener = new WeakMap<Listener, Map<string, View>>()
  readonly #shapes = new Map<string, RuleShapes>()

  constructor(policy: AccessPolicy, store: Store, models: Models) {
    this.#policy = policy
    this.#store = store
    this.#models = models
  }

  isRestricted(name: string): boolean {
    const model = this.#models.get(name)
    if (!model) return false
    const others = [...model.associations.values()].flatMap((association) =>
      association.kind === 'manyToMany' && !association.junction.isJunction
        ? [association.target, association.junction]
        : [association.target],
    )
    return [model, ...others].some((concerned) => this.#policy.restrictsReading(originalOf(concerned)))
  }

  hidesRecords(name: string): boolean {
    const model = this.#models.get(name)
    return model !== undefined && this.#policy.restrictsReading(originalOf(model))
  }

  viewOf(listener: Listener, name: string): View {
    return getOrInsertComputed(this.#viewsOf(listener), name, () =>
      this.#createView(this.#policy.for(listener.requester), name),
    )
  }

  hide(listener: Listener, name: string): View {
    const view = this.#createView(nothingReadable, name)
    this.#viewsOf(listener).set(name, view)
    return view
  }

  #viewsOf(listener: Listener): Map<string, View> {
    return getOrInsertComputed(this.#ofListener, listener, () => new Map<string, View>())
  }

  #createView(access: ReadAccess | undefined, name: string): View {
    const model = this.#models.get(name)
    if (!access || !model || !this.isRestricted(name)) return fullView
    const view = ruleViewOf(access, model)
    for (const deciding of view.through) this.#deciding.add(deciding)
    return getOrInsertComputed(this.#views, view.key, () => view)
  }

  async judge(
    model: string,
    events: readonly JudgedEvent[],
    views: ReadonlySet<View>,
    allOf: () => readonly JudgedEvent[],
  ): Promise<ReadonlyMap<View, readonly (Images | undefined)[]>> {
    const restricted = [...views].filter((view): view is RuleView => view !== fullView)
    if (restricted.length === 0) return new Map()
    const shapes = getOrInsertComputed(this.#shapes, model, () => new RuleShapes())
    const judge = new ImageJudge(this.#store, shapes)
    const hasMembers = events.some(({ event }) => this.#memberOf(event))
    const all = hasMembers ? allOf() : events
    const undecided = restricted.filter(({ needsDatabase }) => hasMembers || needsDatabase)
    await forEachInTurns(undecided, (view) => this.#collect(view, events, all, judge))
    await judge.query()
    // Until all are placed nothing is awaited: another batch may drop these conditions.
    shapes.trim(restricted.reduce((sum, { conditions }) => sum + conditions.length, 0))
    for (const { conditions } of restricted) for (const [condition, about] of conditions) judge.place(condition, about)
    const judged = restricted.map((view) => [view, [] as (Images | undefined)[]] as const)
    // An event is decided for all views at once.
    await forEachInTurns(events, (event) => {
      for (const [view, images] of judged) images.push(this.#imagesFor(view, event, all, judge))
    })
    return new Map<View, readonly (Images | undefined)[]>(judged)
  }

  /** Collects what the database decides, so that one statement serves all views. */
  #collect(view: RuleView, events: readonly JudgedEvent[], all: readonly JudgedEvent[], judge: ImageJudge): void {
    for (const event of events) {
      judge.collect(view.readable, view.model, event.images)
      for (const mask of view.masks.values()) judge.collect(mask, view.model, event.images)
      const member = this.#memberOf(event.event)
      if (!member) continue
      const { membership, reference } = this.#membershipIn(view, member, all)
      if (membership && reference) judge.collect(membership.condition, membership.model, reference.images)
      const condition = view.members.get(member.model.name) as Condition
      judge.collectRecord(condition, member.model, member.id)
      for (const images of imagesOf(member.model, member.id, all)) judge.collect(condition, member.model, images)
    }
  }

  #imagesFor(
    view: RuleView,
    { event, images }: JudgedEvent,
    all: readonly JudgedEvent[],
    judge: ImageJudge,
  ): Images | undefined {
    const judged = judge.judge(view.readable, view.model, images)
    const before = images.before ? judged.before : false
    const after = images.after ? judged.after : false
    if (before === undefined || after === undefined) return undefined
    const member = this.#memberOf(event)
    if (member) {
      const { membership, reference } = this.#membershipIn(view, member, all)
      const isKnown =
        !membership ||
        (reference && judge.judge(membership.condition, membership.model, reference.images)[reference.side])
      if (isKnown === undefined) return undefined
      const isVisible = isKnown && this.#isMemberVisible(view, member, all, judge)
      if (isVisible === undefined) return undefined
      if (!isVisible) return unseen
    }
    if (!before && !after) return unseen
    if (after && !areMasksKnown(view, images, judge)) return undefined
    return {
      before: before ? masked(images, 'before', view, judge) : undefined,
      after: after ? masked(images, 'after', view, judge) : undefined,
    }
  }

  /** A member that was visible before the operation, or is now, is known to the requester. */
  #isMemberVisible(view: RuleView, { model, id }: Member, all: readonly JudgedEvent[], judge: ImageJudge) {
    const condition = view.members.get(model.name) as Condition
    if (judge.decideRecord(condition, model, id)) return true
    const verdicts = imagesOf(model, id, all).flatMap((images) => {
      const { before, after } = judge.judge(condition, model, images)
      return [...(images.before ? [before] : []), ...(images.after ? [after] : [])]
    })
    return verdicts.includes(true) || (verdicts.includes(undefined) ? undefined : false)
  }

  #memberOf(event: Event): Member | undefined {
    if (!isMembershipEvent(event)) return undefined
    const association = this.#models.get(event.model)?.associations.get(event.attribute)
    if (!association) return undefined
    const id = event.verb === 'addedTo' ? event.addedId : event.removedId
    return { model: originalOf(association.target), id, association, event }
  }

  #membershipIn({ memberships }: RuleView, { association, event }: Member, all: readonly JudgedEvent[]) {
    const membership = memberships.get(association.name)
    return { membership, reference: membership && referenceImage(event, association, all) }
  }

  decidesRights(model: string): boolean {
    return this.#deciding.has(model)
  }

  /** Whether a change of another model may have changed what a view shows: rights that hang on a related record. */
  changesRights(view: View, changes: readonly Change[]): boolean {
    if (view === fullView) return false
    const { through, conditions } = view as RuleView
    return changes.some(
      ({ model, before, after }) =>
        through.has(model) &&
        conditions.some(([condition]) => mayFulfil(condition, model, before) || mayFulfil(condition, model, after)),
    )
  }
}

interface Member {
  readonly model: Model
  readonly id: RecordId
  readonly association: Association
  readonly event: MembershipEvent
}

const imagesOf = (model: Model, id: RecordId, all: readonly JudgedEvent[]): readonly Images[] =>
  all.filter(({ event }) => event.model === model.name && event.id === id).map(({ images }) => images)

function ruleViewOf(access: ReadAccess, model: Model): RuleView {
  const readable = access.readable(model)
  const masks = new Map<Attribute, Condition>()
  for (const attribute of everyAttribute(model)) {
    const mask = access.mask(attribute)
    if (mask) masks.set(attribute, mask)
  }
  const targets = [...model.associations.values()].map(({ target }) => originalOf(target))
  const members = new Map(targets.map((target) => [target.name, access.readable(target)]))
  const memberships = membershipsOf(model, access)
  const conditions = [
    [readable, model] as const,
    ...[...masks.values()].map((mask) => [mask, model] as const),
    ...targets.map((target) => [access.readable(target), target] as const),
    ...[...memberships.values()].map(({ condition, model }) => [condition, model] as const),
  ]
  const key = JSON.stringify([
    model.name,
    conditionKey(readable),
    [...masks].map(([{ name }, mask]) => [name, conditionKey(mask)]),
    [...members].map(([name, condition]) => [name, conditionKey(condition)]),
    membershipsKey(memberships),
  ])
  const through = new Set(conditions.flatMap(([condition]) => [...modelsIn(condition)]))
  return {
    key,
    model,
    needsDatabase: conditions.some(([condition]) => needsDatabase(condition)),
    readable,
    masks,
    through,
    members,
    memberships,
    conditions,
  }
}

/** Otherwise a value that the requester has may stay as it was. */
function areMasksKnown({ masks, model }: RuleView, images: Images, judge: ImageJudge): boolean {
  const isKnown = (name: string, mask: Condition, side: 'before' | 'after') =>
    (images[side]?.[name] ?? null) === null || judge.judge(mask, model, images)[side] !== undefined
  return [...masks].every(([{ name }, mask]) => isKnown(name, mask, 'before') && isKnown(name, mask, 'after'))
}

/** A value that may never be read is left out; one that may not be read of this record is null. */
function masked(images: Images, side: 'before' | 'after', view: RuleView, judge: ImageJudge): JsonObject {
  const image = images[side] as JsonObject
  if (view.masks.size === 0) return image
  const shown: Record<string, Json> = { ...image }
  for (const [{ name }, mask] of view.masks) {
    if (!(name in shown)) continue
    if (mask.kind === 'or' && mask.conditions.length === 0) delete shown[name]
    else if (judge.judge(mask, view.model, images)[side] !== true) shown[name] = null
  }
  return shown
}

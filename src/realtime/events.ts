import type { Association, Attribute, HasMany, ManyToMany, Model, Models } from '../model/model.ts'
import type { Change, RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { Json, JsonObject } from '../protocol/json.ts'

/** Who has an association, and which. */
interface Owned<A extends Association> {
  readonly owner: Model
  readonly association: A
}

/** What must be known of the models to say what a change means for others. Made once. */
export interface EventIndex {
  readonly models: Models
  /** The to-many associations that a foreign key feeds. */
  readonly fedBy: ReadonlyMap<Attribute, readonly Owned<HasMany>[]>
  /** The associations whose pairs a junction holds. */
  readonly pairedBy: ReadonlyMap<Model, readonly Owned<ManyToMany>[]>
  /** By model, those of whose records something may be told when one of it changes. */
  readonly concerned: ReadonlyMap<string, readonly string[]>
}

export function indexEvents(models: Models): EventIndex {
  const owned = [...models.values()].flatMap((owner) =>
    [...owner.associations.values()].map((association) => ({ owner, association })),
  )
  const many = owned.filter((item): item is Owned<HasMany> => item.association.kind === 'hasMany')
  const paired = owned.filter((item): item is Owned<ManyToMany> => item.association.kind === 'manyToMany')
  const fedBy = Map.groupBy(many, ({ association }) => association.via)
  const pairedBy = Map.groupBy(paired, ({ association }) => association.junction)
  const concernedBy = (model: Model): readonly string[] => {
    const feeds = [...model.attributes.values()].flatMap((attribute) => fedBy.get(attribute) ?? [])
    const owners = [...feeds, ...(pairedBy.get(model) ?? [])].map(({ owner }) => owner.name)
    return [...new Set(model.isJunction ? owners : [model.name, ...owners])]
  }
  const concerned = new Map([...models.values()].map((model) => [model.name, concernedBy(model)]))
  return { models, fedBy, pairedBy, concerned }
}

/**
 * What is heard of the changes of one operation, in its order: what it means for those on the other side of an
 * association comes before what happened to the record itself. Nothing is said on behalf of a record that the same
 * operation destroyed, but that it was.
 */
export function eventsOf(changes: readonly Change[], index: EventIndex): readonly Event[] {
  const gone = new Set(changes.filter(({ verb }) => verb === 'destroyed').map(({ model, id }) => keyOf(model, id)))
  return changes
    .flatMap((change) => eventsOfChange(change, index))
    .filter((event) => event.verb === 'destroyed' || !gone.has(keyOf(event.model, event.id)))
}

const keyOf = (model: string, id: Change['id']): string => `${model}/${JSON.stringify(id)}`

function eventsOfChange(change: Change, index: EventIndex): readonly Event[] {
  const model = index.models.get(change.model)
  if (!model) return []
  const others = [...moved(change, model, index), ...paired(change, model, index)]
  return model.isJunction ? others : [...others, ownEvent(change, model)]
}

function ownEvent({ verb, id, before = {}, after = {} }: Change, model: Model): Event {
  const own = { model: model.name, id: id as RecordId }
  switch (verb) {
    case 'created':
      return { verb, ...own, data: after }
    case 'updated':
      return { verb, ...own, data: changed(before, after, model), previous: before }
    case 'destroyed':
      return { verb, ...own, previous: before }
  }
}

function changed(before: JsonObject, after: JsonObject, model: Model): JsonObject {
  const data: Record<string, Json> = {}
  for (const attribute of model.attributes.values()) {
    const value = after[attribute.name]
    if (value === undefined) continue
    const always = attribute.isPrimaryKey || attribute.autoUpdatedAt
    if (always || !same(value, before[attribute.name])) data[attribute.name] = value
  }
  return data
}

const same = (a: Json, b: Json | undefined): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))

/** A foreign key that came, went or moved is a member that left one parent and joined another. */
function moved({ id, before, after }: Change, model: Model, { fedBy }: EventIndex): readonly Event[] {
  const events: Event[] = []
  for (const attribute of model.attributes.values()) {
    const feeds = fedBy.get(attribute)
    if (!feeds) continue
    const from = before?.[attribute.name] ?? null
    const to = after?.[attribute.name] ?? null
    if (from === to) continue
    for (const { owner, association } of feeds) {
      const member = { model: owner.name, attribute: association.name }
      if (to !== null) events.push({ verb: 'addedTo', ...member, id: to as RecordId, addedId: id as RecordId })
      if (from !== null)
        events.push({ verb: 'removedFrom', ...member, id: from as RecordId, removedId: id as RecordId })
    }
  }
  return events
}

/** A row of a junction is a member on both sides, wherever an association says so. */
function paired({ before, after }: Change, model: Model, { pairedBy }: EventIndex): readonly Event[] {
  const events: Event[] = []
  for (const { owner, association } of pairedBy.get(model) ?? []) {
    const { near, far, name } = association
    const [from, to] = [before, after].map(
      (row) => row && { id: row[near.name] ?? null, member: row[far.name] ?? null },
    )
    if (from?.id === to?.id && from?.member === to?.member) continue
    const own = { model: owner.name, attribute: name }
    if (to && to.id !== null && to.member !== null) {
      events.push({ verb: 'addedTo', ...own, id: to.id as RecordId, addedId: to.member as RecordId })
    }
    if (from && from.id !== null && from.member !== null) {
      events.push({ verb: 'removedFrom', ...own, id: from.id as RecordId, removedId: from.member as RecordId })
    }
  }
  return events
}

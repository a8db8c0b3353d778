import { type Association, everyAttribute, type Model } from '../model/model.ts'
import type { Change, RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { AssociationIndex } from './association-index.ts'
import { NetChanges } from './net-changes.ts'

/**
 * The events of one operation, in the order of its changes; those of members that a change adds or removes precede the
 * event of the changed record itself. They follow from what the changes amount to: see `NetChanges`.
 */
export function* eventsOf(changes: readonly Change[], associations: AssociationIndex): Generator<Event> {
  const net = new NetChanges(changes)
  for (const [index, change] of net) {
    const model = associations.models.get(change.model)
    if (!model) continue
    for (const event of membershipEvents(change, model, associations)) if (!net.isObsolete(event, index)) yield event
    if (!model.isJunction) yield recordEvent(change, model)
  }
}

function recordEvent({ verb, id, before = {}, after = {} }: Change, model: Model): Event {
  const record = { model: model.name, id: id as RecordId }
  switch (verb) {
    case 'created':
      return { verb, ...record, data: after }
    case 'updated':
      return { verb, ...record, data: changedValues(before, after, model), previous: before }
    case 'destroyed':
      return { verb, ...record, previous: before }
  }
}

/** The attributes that changed, with the key and the time of the update. */
export function changedValues(before: JsonObject, after: JsonObject, model: Model): JsonObject {
  const data: Record<string, Json> = {}
  for (const attribute of everyAttribute(model)) {
    const value = after[attribute.name]
    if (value === undefined) continue
    const always = attribute.isPrimaryKey || attribute.autoUpdatedAt
    if (always || !isSame(value, before[attribute.name])) data[attribute.name] = value
  }
  return data
}

/** Whether any value differs. */
export const isChanged = (before: JsonObject, after: JsonObject): boolean =>
  Object.entries(after).some(([name, value]) => !isSame(value as Json, before[name]))

const isSame = (a: Json, b: Json | undefined): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))

const membershipEvents = (change: Change, model: Model, associations: AssociationIndex): readonly Event[] => [
  ...foreignKeyEvents(change, model, associations),
  ...junctionEvents(change, model, associations),
]

/** A foreign key that was set, cleared or changed moves the record from one parent to another. */
function foreignKeyEvents({ id, before, after }: Change, model: Model, index: AssociationIndex): readonly Event[] {
  const events: Event[] = []
  for (const attribute of model.attributes.values()) {
    const associations = index.byForeignKey.get(attribute)
    if (!associations) continue
    const from = before?.[attribute.name] ?? null
    const to = after?.[attribute.name] ?? null
    if (from === to) continue
    for (const { owner, association } of associations) {
      if (to !== null) events.push(addedTo(owner, association, to, id))
      if (from !== null) events.push(removedFrom(owner, association, from, id))
    }
  }
  return events
}

/** A row of a junction is a member on both sides, wherever an association is declared. */
function junctionEvents({ before, after }: Change, model: Model, index: AssociationIndex): readonly Event[] {
  const events: Event[] = []
  for (const { owner, association } of index.byJunction.get(model) ?? []) {
    const { near, far } = association
    const [from, to] = [before, after].map((row) => row && [row[near.name] ?? null, row[far.name] ?? null])
    const [fromId = null, fromMember = null] = from ?? []
    const [toId = null, toMember = null] = to ?? []
    if (fromId === toId && fromMember === toMember) continue
    if (toId !== null && toMember !== null) events.push(addedTo(owner, association, toId, toMember))
    if (fromId !== null && fromMember !== null) events.push(removedFrom(owner, association, fromId, fromMember))
  }
  return events
}

const addedTo = (owner: Model, { name }: Association, id: Json, member: Change['id'] | Json): Event => ({
  verb: 'addedTo',
  model: owner.name,
  id: id as RecordId,
  attribute: name,
  addedId: member as RecordId,
})

const removedFrom = (owner: Model, { name }: Association, id: Json, member: Change['id'] | Json): Event => ({
  verb: 'removedFrom',
  model: owner.name,
  id: id as RecordId,
  attribute: name,
  removedId: member as RecordId,
})

import { conditionKey } from '../criteria/condition-key.ts'
import { and, type Condition, isMatchAll, matchAll } from '../criteria/criteria.ts'
import { type Association, type Model, originalOf } from '../model/model.ts'
import type { Event } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Images, JudgedEvent } from '../realtime/visibility.ts'
import { junctionCondition, type ReadAccess } from './guard.ts'

/** The events of an association: a member was added or removed. */
export type MembershipEvent = Event & { readonly verb: 'addedTo' | 'removedFrom' }

export const isMembershipEvent = (event: Event): event is MembershipEvent =>
  event.verb === 'addedTo' || event.verb === 'removedFrom'

/** What a requester must be able to read so that it knows the members: the record or row that contains the reference. */
export interface Membership {
  readonly model: Model
  readonly condition: Condition
}

/**
 * By association, what decides whether its events are seen, where rules decide it. An association whose reference may
 * never be read has a condition that nothing fulfils.
 */
export function membershipsOf(model: Model, access: ReadAccess): ReadonlyMap<string, Membership> {
  const found = new Map<string, Membership>()
  for (const [name, association] of model.associations) {
    const membership = membershipOf(association, access)
    if (membership && !isMatchAll(membership.condition)) found.set(name, membership)
  }
  return found
}

function membershipOf(association: Association, access: ReadAccess): Membership | undefined {
  switch (association.kind) {
    case 'belongsTo':
      return undefined
    case 'hasMany': {
      const model = originalOf(association.target)
      return { model, condition: and(access.readable(model), access.mask(association.via) ?? matchAll) }
    }
    case 'manyToMany':
      return { model: originalOf(association.junction), condition: junctionCondition(association, access) }
  }
}

export const membershipsKey = (memberships: ReadonlyMap<string, Membership>): readonly unknown[] =>
  [...memberships].map(([name, { condition }]) => [name, conditionKey(condition)])

/** An image that contains a reference. */
export interface Reference {
  readonly images: Images
  readonly side: 'before' | 'after'
}

/**
 * The record or row that contained the reference when the event came about: after a member was added, before one was
 * removed. Undefined when it is not among the events.
 */
export function referenceImage(
  event: MembershipEvent,
  association: Association,
  all: readonly JudgedEvent[],
): Reference | undefined {
  const side = event.verb === 'addedTo' ? 'after' : 'before'
  const member = event.verb === 'addedTo' ? event.addedId : event.removedId
  for (const { event: other, images } of all) {
    if (isMembershipEvent(other)) continue
    const image = images[side]
    if (image && refers(association, image, other, event.id, member)) return { images, side }
  }
  return undefined
}

function refers(
  association: Association,
  image: JsonObject,
  { model, id }: Event,
  parent: MembershipEvent['id'],
  member: MembershipEvent['id'],
): boolean {
  switch (association.kind) {
    case 'belongsTo':
      return false
    case 'hasMany':
      return model === association.target.name && id === member && image[association.via.name] === parent
    case 'manyToMany': {
      const { junction, near, far } = association
      return model === junction.name && image[near.name] === parent && image[far.name] === member
    }
  }
}

import type { ManyToMany } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import { andThen, forEachSequential, type MaybePromise } from '../support/maybe-promise.ts'
import type { DeclaredAssociation } from './association-index.ts'

/** Which of these records are members of these ones now. */
export type CurrentMembers = (
  association: ManyToMany,
  ids: readonly RecordId[],
  members: readonly RecordId[],
) => MaybePromise<ReadonlyMap<RecordId, ReadonlySet<RecordId>>>

type Removed = Event & { readonly verb: 'removedFrom' }

/**
 * A `through` model may have several rows for a pair. If one of them is deleted and another remains, the record is still a
 * member, and `removedFrom` is left out. If several are deleted together, only the last event of the pair is kept. The database
 * is asked for the current rows: later changes have events of their own.
 */
export function withoutRemaining(
  events: readonly Event[],
  repeating: readonly DeclaredAssociation<ManyToMany>[],
  currentMembers: CurrentMembers,
): MaybePromise<readonly Event[]> {
  if (repeating.length === 0) return events
  const leftOut = new Set<Event>()
  const asked = forEachSequential(repeating, ({ owner, association }) => {
    const isRemoval = (event: Event): event is Removed =>
      event.verb === 'removedFrom' && event.model === owner.name && event.attribute === association.name
    const group = events.filter(isRemoval)
    if (group.length === 0) return
    const ids = new Set(group.map(({ id }) => id))
    const members = new Set(group.map(({ removedId }) => removedId))
    return andThen(currentMembers(association, [...ids], [...members]), (current) => {
      const pairs = new Set<string>()
      for (const event of group.reverse()) {
        const pair = JSON.stringify([event.id, event.removedId])
        if (pairs.has(pair) || current.get(event.id)?.has(event.removedId)) leftOut.add(event)
        pairs.add(pair)
      }
    })
  })
  return andThen(asked, () => (leftOut.size === 0 ? events : events.filter((event) => !leftOut.has(event))))
}

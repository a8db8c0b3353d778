import type { Condition } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { AddedTo, Event, RemovedFrom } from '../protocol/event.ts'
import type { Maybe } from '../support/maybe.ts'

/** What somebody listens to: a model, one of its records, or those that fulfil a condition. */
export interface Watched {
  readonly model: Model
  readonly id?: RecordId | undefined
  /** About the records themselves, never about those they are associated with. */
  readonly where?: Condition | undefined
}

/** A record that does not fulfil the condition any more. What it holds now is not for those who asked for others. */
export interface Left {
  readonly verb: 'destroyed'
  readonly model: string
  readonly id: RecordId
}

/** An event as those hear it who listen to a part of a model. */
export type WatchedEvent = Event | Left

/**
 * What is heard of the events of one operation. Through a condition a record that comes into sight is created, and one
 * that passes out of it destroyed; of a single record the last that is heard is its end.
 */
export function eventsFor({ model, id, where }: Watched, events: readonly Event[]): readonly WatchedEvent[] {
  const own = events.filter((event) => event.model === model.name && (id === undefined || event.id === id))
  if (where) return own.flatMap((event) => seenThrough(where, event))
  const end = id === undefined ? -1 : own.findIndex(({ verb }) => verb === 'destroyed')
  return end === -1 ? own : own.slice(0, end + 1)
}

function seenThrough(where: Condition, event: Event): readonly WatchedEvent[] {
  switch (event.verb) {
    case 'created':
      return matches(where, event.data) ? [event] : []
    case 'destroyed':
      return matches(where, event.previous) ? [event] : []
    case 'updated': {
      const { model, id, data, previous } = event
      const now = { ...previous, ...data }
      if (!matches(where, previous)) return matches(where, now) ? [{ verb: 'created', model, id, data: now }] : []
      return matches(where, now) ? [event] : [{ verb: 'destroyed', model, id }]
    }
    case 'addedTo':
    case 'removedFrom':
      return [event] // of the record only its key is known: see `ofVisible`
  }
}

/** Which of these records fulfil the condition now. */
export type Visible = (ids: readonly RecordId[]) => Maybe<ReadonlySet<RecordId>>

/** Without what is said of the members of records that are out of sight. Only the database knows which are. */
export async function ofVisible(events: readonly WatchedEvent[], visible: Visible): Promise<readonly WatchedEvent[]> {
  const ids = new Set(events.filter(isOfMember).map(({ id }) => id))
  if (ids.size === 0) return events
  const seen = await visible([...ids])
  return events.filter((event) => !isOfMember(event) || seen.has(event.id))
}

const isOfMember = (event: WatchedEvent): event is AddedTo | RemovedFrom =>
  event.verb === 'addedTo' || event.verb === 'removedFrom'

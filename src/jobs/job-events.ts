import { createHash } from 'node:crypto'
import type { JobEvent } from '../model/job.ts'
import type { Verb } from '../protocol/change.ts'
import type { Event } from '../protocol/event.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { AssociationIndex } from '../realtime/association-index.ts'
import type { ChangeOperation } from '../realtime/change-feed.ts'
import { eventsOf } from '../realtime/events.ts'

/** An event with the record that it leaves: that of the event itself, whatever became of it since. */
export interface RecordEvent {
  readonly event: JobEvent
  readonly record: JsonObject
}

/** The events of one operation that a job is declared for. */
export function recordEventsOf(
  { changes }: ChangeOperation,
  associations: AssociationIndex,
  wanted: ReadonlyMap<string, ReadonlySet<Verb>>,
): readonly RecordEvent[] {
  const { operation, at } = changes[0] as (typeof changes)[number]
  const found: RecordEvent[] = []
  const counts = new Map<string, number>()
  for (const event of eventsOf(changes, associations)) {
    if (event.verb === 'addedTo' || event.verb === 'removedFrom' || !wanted.get(event.model)?.has(event.verb)) continue
    const { verb, model, id } = event
    const key = JSON.stringify([model, id, verb])
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    const previous = verb === 'created' ? undefined : event.previous
    found.push({
      event: { eventId: eventIdOf([operation, at, key, count]), verb, model, id, at, ...(previous && { previous }) },
      record: recordOf(event),
    })
  }
  return found
}

function recordOf(event: Exclude<Event, { readonly verb: 'addedTo' | 'removedFrom' }>): JsonObject {
  switch (event.verb) {
    case 'created':
      return event.data
    case 'updated':
      return { ...event.previous, ...event.data }
    case 'destroyed':
      return event.previous
  }
}

/** Derived from data that is the same whenever and in whichever process the log is read. */
const eventIdOf = (parts: readonly (string | number)[]): string =>
  `evt_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 24)}`

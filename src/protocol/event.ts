import type { Position, RecordId } from './change.ts'
import type { JsonObject } from './json.ts'

/** What somebody who listens hears. Payloads are flat rows; an association is an id. */
export type Event = Created | Updated | Destroyed | AddedTo | RemovedFrom
export interface Created {
  readonly verb: 'created'
  readonly model: string
  readonly id: RecordId
  readonly data: JsonObject
}
export interface Updated {
  readonly verb: 'updated'
  readonly model: string
  readonly id: RecordId
  /** What changed, with the key and the time of the update. */
  readonly data: JsonObject
  readonly previous: JsonObject
}
export interface Destroyed {
  readonly verb: 'destroyed'
  readonly model: string
  readonly id: RecordId
  readonly previous: JsonObject
}
export interface AddedTo {
  readonly verb: 'addedTo'
  readonly model: string
  readonly id: RecordId
  readonly attribute: string
  readonly addedId: RecordId
}
export interface RemovedFrom {
  readonly verb: 'removedFrom'
  readonly model: string
  readonly id: RecordId
  readonly attribute: string
  readonly removedId: RecordId
}

/** The message as clients of the ancestor know it; the model's name is the name of the event. */
export function payloadOf(event: Event): JsonObject {
  const { model: _, ...payload } = event
  return payload as unknown as JsonObject
}

/** An event on its way, shared by everybody who hears it, so that a transport can encode it once. */
export interface Message {
  readonly event: Event
  /** Where a listener that has heard this may resume; absent in the middle of an operation. */
  readonly position?: Position | undefined
}

/** Somebody who listens, as a transport knows them. */
export interface Peer {
  /** Unique in this process; what the peer writes carries it as its origin. */
  readonly id: string
  /** Hears its own changes too. */
  readonly mirror: boolean
  /** False: it cannot keep up, and was told to start afresh. It is never skipped silently. */
  send(message: Message): boolean
  /** What it was told may be incomplete: it must start from a fresh snapshot. */
  reset(): void
}

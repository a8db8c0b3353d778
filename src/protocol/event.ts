import type { RecordId } from './change.ts'
import type { EncodedJson, JsonObject } from './json.ts'
import type { Requester } from './requester.ts'

/** A change as subscribers receive it. Payloads are flat rows; an association is an id. */
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
  /** The changed attributes, the key and the time of the update. */
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

/** A record left the filter of a subscription, or may no longer be seen: its new values are not part of the event. */
export interface Left {
  readonly verb: 'destroyed'
  readonly model: string
  readonly id: RecordId
}

/** An event as a subscription receives it. Recipients of the same payload share one object, so that it is encoded once. */
export type SubscriptionEvent = Event | Left

/** The payload in the form of Sails; the model's name is the name of the event. */
export function payloadOf(event: SubscriptionEvent): JsonObject {
  const { model: _, ...payload } = event
  return payload as unknown as JsonObject
}

/**
 * Which events of its own changes a connection receives. `interface`: `updated` and `destroyed`, as the record interface
 * says. `true`: all of them. `false`: none, as with Sails.
 */
export type Mirror = 'interface' | boolean

/** A connection that receives events. */
export interface Peer {
  /** On whose behalf it asks and receives. Undefined: anonymous. */
  readonly requester?: Requester | undefined
  /** Unique in this process; the origin of the peer's writes. */
  readonly id: string
  readonly mirror: Mirror
  /** Aborted when it disconnects. */
  readonly signal?: AbortSignal | undefined
  /** False: its queue is full and `reset` was sent. An event is never dropped silently. */
  send(event: SubscriptionEvent): boolean
  /**
   * Sends a message of this name with one argument. Undefined: it was sent; a promise resolves when
   * further messages may be sent; false: the connection is closed. Absent where a peer cannot receive messages.
   */
  message?(name: string, argument: EncodedJson): Promise<void> | undefined | false
  /** Tells the client that events may be missing and that it must read its records again. */
  reset(): void
}

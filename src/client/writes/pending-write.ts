import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { WriteOptions } from '../options.ts'
import type { ConflictingWrite } from './outbox-options.ts'

/** A write that is not answered yet, or that live queries show until the stream has passed it. */
export interface PendingWrite extends WriteOptions {
  readonly kind: 'create' | 'update' | 'destroy'
  readonly model: string
  /** Of a create: a temporary one until the answer arrives. */
  id: RecordId
  values: JsonObject
  /** The record as it was displayed when the write was made. */
  base: JsonObject | undefined
  /** The idempotency key. */
  key: string
  /** The If-Match that it was sent with. */
  tag?: string | undefined
  /** `kept`: it could not be sent, and is sent again when the service can be reached. */
  state: 'waiting' | 'sent' | 'kept' | 'answered'
  /** When it was sent first, on the counter of the pending writes; 0 when that is not known. */
  sentAt: number
  /** When the stream opened that was asked to tell when it has passed the write. */
  askedAt?: number
  /** The record in the answer. */
  record?: JsonObject
  /** The token of the operation in the answer; null when it changed nothing. */
  token?: string | null
  /** The record before the write, for queries that it enters: their form of it, found in another query. */
  readonly before: Map<object, JsonObject>
  resolve(record: JsonObject): void
  reject(error: unknown): void
}

export const isAnswered = ({ state }: PendingWrite): boolean => state === 'answered'

/** What the application and the storage see of a write. */
export const described = ({ kind, model, id, values, base }: PendingWrite): ConflictingWrite => ({
  kind,
  model,
  id,
  values,
  base,
})

/** A create that may have taken place without its answer: a record that the stream brings may be the one it made. */
export const isUnanswered = ({ kind, state }: PendingWrite): boolean =>
  kind === 'create' && (state === 'sent' || state === 'kept')

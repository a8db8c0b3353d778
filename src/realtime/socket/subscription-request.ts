import type { RecordId } from '../../protocol/change.ts'

/** What a request subscribes its socket to. */
export interface SubscriptionRequest {
  readonly records: readonly RequestedRecords[]
  /** Models of whose new records there shall be events. */
  readonly models: readonly string[]
  /** The members that the request added to an association of one of the records; the change log tells which they are. */
  readonly added?: AddedMembers | undefined
}

export interface RequestedRecords {
  readonly model: string
  readonly ids: readonly RecordId[]
  /** The request has created them. */
  readonly isCreated?: boolean | undefined
}

export interface AddedMembers {
  readonly model: string
  readonly id: RecordId
  readonly attribute: string
  /** The model of the members. */
  readonly target: string
}

import type { Condition } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'

/** What a stream or an iterator receives events of: a model, one of its records, or those that match a condition. */
export interface SubscriptionTarget {
  readonly model: Model
  readonly id?: RecordId | undefined
  /** On attributes of the records themselves; conditions through associations cannot be matched in memory. */
  readonly where?: Condition | undefined
}

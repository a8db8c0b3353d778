import type { Populate } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json } from '../protocol/json.ts'
import type { SubscriptionRequest } from '../realtime/socket/subscription-request.ts'
import type { Records } from '../storage/store.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { EmptyResult, JsonResult, RecordResult, RecordsResult } from './operation.ts'

/*
 * What a request over a socket subscribes it to, as the clients of Sails expect. A read subscribes to the records of
 * its answer, embedded ones included, and to new records of the models it listed or could have embedded. A write
 * subscribes to the record it wrote.
 */

type Ids = Map<string, Set<RecordId>>

/** The subscriptions of a list: its records, and new records of its model. */
export function listSubscriptions(result: RecordsResult, model: Model): SubscriptionRequest {
  const models = result.records.length > 0 ? [model.name, ...associatedModels(model)] : [model.name]
  return { records: recordsOf(idsOf(result)), models: [...new Set(models)] }
}

/** The subscriptions of one record that was read. */
export const recordSubscriptions = (result: RecordResult, model: Model): SubscriptionRequest => ({
  records: recordsOf(idsOf(result)),
  models: associatedModels(model),
})

/** The subscriptions of the members of an association: those in the answer, and the record that has the association. */
export function memberSubscriptions(
  result: RecordResult | RecordsResult,
  parent: Model,
  id: Json,
): SubscriptionRequest {
  const ids = idsOf(result)
  getOrInsertComputed(ids, parent.name, () => new Set()).add(id as RecordId)
  return { records: recordsOf(ids), models: associatedModels(parent) }
}

/** The subscriptions of a record that was written. */
export const writtenSubscriptions = (result: RecordResult | EmptyResult): SubscriptionRequest => ({
  records:
    result.kind === 'empty'
      ? []
      : [
          {
            model: result.model.name,
            ids: result.records.values(result.model.primaryKey) as RecordId[],
            isCreated: result.created,
          },
        ],
  models: [],
})

/** The subscriptions of records that were written. */
export const writtenManySubscriptions = (result: RecordsResult | JsonResult): SubscriptionRequest => ({
  records: result.kind === 'json' ? [] : recordsOf(idsOf({ ...result, populate: [] }), result.created),
  models: [],
})

const associatedModels = (model: Model): readonly string[] => [
  ...new Set([...model.associations.values()].map(({ target }) => target.name)),
]

function idsOf({ model, records, populate }: RecordResult | RecordsResult): Ids {
  const ids: Ids = new Map()
  collect(records, model, populate, ids)
  return ids
}

/** By their keys alone: to decode all records would take as long as to encode them. */
function collect(records: Records, model: Model, populate: readonly Populate[], ids: Ids): void {
  const found = getOrInsertComputed(ids, model.name, () => new Set<RecordId>())
  for (const id of records.values(model.primaryKey)) found.add(id as RecordId)
  for (const { association, populate: deeper } of populate) {
    const embedded = records.embedded(association.name)
    if (embedded) collect(embedded, association.target, deeper, ids)
  }
}

const recordsOf = (ids: Ids, isCreated?: boolean): SubscriptionRequest['records'] =>
  [...ids].map(([model, found]) => ({ model, ids: [...found], isCreated }))

import { findKey, primaryKeyEquals } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads, ScopedStore } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { afterWithin } from './hooks/after-within.ts'
import { type HookCaller, hasHookBefore, previousRecord, requireWritable } from './hooks/before.ts'
import { writeCurrent } from './hooks/linked-changes.ts'
import type { EmptyResult, Invocation, OperationServices, RecordResult, WriteOperation } from './operation.ts'
import { omit, populate } from './parameters.ts'
import { hasChanges } from './prepare-members.ts'
import { isOneStatement, type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { requiredKey } from './record-key.ts'
import { type RecordInput, readRecordInput } from './record-values.ts'
import { writtenSubscriptions } from './subscriptions.ts'
import { refuseUnwritten } from './unwritten.ts'
import { updateRecord } from './update-record.ts'
import { withoutMasked } from './without-masked.ts'
import { writtenResult } from './written-result.ts'

const withoutKey = { withKey: false }

export type UpdateInput = RecordInput & { readonly id: Json }

/** Some attributes of one record. The others keep their values, with PUT as with PATCH. */
export const update: WriteOperation<UpdateInput, RecordResult | EmptyResult, PreparedRecord> = {
  name: 'update',
  effect: 'writes',
  action: 'update',
  routes: [
    { method: 'PATCH', path: '/:model/:record', style: 'rest' },
    { method: 'PUT', path: '/:model/:record', style: 'rest' },
    { method: 'POST', path: '/:model/:record', style: 'rest' },
    { method: 'PATCH', path: '/:model', style: 'rest' },
    { method: 'PUT', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/update/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/update', style: 'shortcut' },
  ],
  parameters: [populate, omit],

  parse(parameters, { model }, services) {
    const { record } = parameters
    const id = record === undefined ? undefined : model.primaryKey.type.parse(record)
    const key = id ?? requiredKey(parameters, model)
    const { values, parents, members, later, refused, populate } = readRecordInput(
      parameters,
      model,
      services,
      withoutKey,
    )
    return { id: key, values, parents, members, later, refused, populate }
  },

  prepare: prepareUpdate,

  run(invocation, prepared, store, services) {
    const { input, target, precondition, origin } = invocation
    const { model } = target
    const { id, populate } = input
    const context = { origin }
    const written =
      precondition !== undefined || !isOneStatement(prepared, services)
        ? updateCurrent(invocation, prepared, store, services)
        : store.updateByKey
          ? store.updateByKey(model, id, prepared.assignments, context)
          : store.update(model, primaryKeyEquals(model, id), prepared.assignments, context)
    const current = services.hooks ? written.then((stored) => afterWithin(prepared, stored, store)) : written
    return current.then((stored) => {
      if (stored.length === 0) return refuseUnwritten(model, id, 'change', store)
      if (store.reveal || populate.length > 0) return writtenResult(stored, invocation, store, services, false)
      return { kind: 'record', model, records: stored, populate, stored }
    })
  },

  subscriptions: writtenSubscriptions,
}

function prepareUpdate(
  { input, target: { model }, requester }: Invocation<UpdateInput>,
  reads: ScopedReads,
  services: OperationServices,
): MaybePromise<PreparedRecord> {
  return andThen(withoutMasked(input, model, input.id, reads), (given) =>
    prepareGiven(given, model, { requester, reads, services }),
  )
}

function prepareGiven(input: UpdateInput, model: Model, caller: HookCaller): MaybePromise<PreparedRecord> {
  const { reads, services } = caller
  const { members } = input
  if (services.hooks && (members.length > 0 || hasHookBefore('update', model)))
    return prepareWithPrevious(input, model, caller)
  try {
    const prepared = prepareRecord(model, input, 'update', caller)
    return prepared instanceof Promise ? prepared.catch((error) => missingOr(error, input, model, reads)) : prepared
  } catch (error) {
    return missingOr(error, input, model, reads)
  }
}

/** Several statements in a transaction. */
function updateCurrent(
  invocation: Invocation<UpdateInput>,
  prepared: PreparedRecord,
  store: ScopedStore,
  services: OperationServices,
): Promise<Records> {
  const { input, target, precondition, origin } = invocation
  const prepareAgain = () => prepareUpdate(invocation, store, services)
  return writeCurrent(target.model, prepared, prepareAgain, (record) =>
    store.transaction((transaction) => updateRecord({ id: input.id, record, precondition }, transaction, services), {
      origin,
      isSerializable: hasChanges(record),
    }),
  )
}

/** The hooks are given the record as it is. */
async function prepareWithPrevious(input: UpdateInput, model: Model, caller: HookCaller): Promise<PreparedRecord> {
  const { reads } = caller
  const isHooked = hasHookBefore('update', model)
  const previous = isHooked ? await previousRecord('update', model, input.id, reads) : undefined
  if (!isHooked) await requireWritable('update', model, input.id, reads)
  try {
    return await prepareRecord(model, input, 'update', caller, { previous, key: input.id })
  } catch (error) {
    return missingOr(error, input, model, reads)
  }
}

/** A missing record is reported before invalid values are. */
async function missingOr(error: unknown, { id }: UpdateInput, model: Model, reads: ScopedReads): Promise<never> {
  const found = await reads.find(model, findKey(model, id))
  throw found.length === 0 ? noSuchRecord(model.name) : error
}

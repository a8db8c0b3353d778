import { idIn } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads, ScopedTransaction } from '../storage/scoped-store.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { hasHookBefore, previousRecord } from './hooks/before.ts'
import { assignmentsOf } from './insert-record.ts'
import type { Invocation, JsonResult, OperationServices, RecordsResult, WriteOperation } from './operation.ts'
import { noParameters } from './parameters.ts'
import { type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { type ReadValues, type RecordValues, readValues } from './record-values.ts'
import {
  confirmKeys,
  countResult,
  manyResult,
  readRecords,
  readSelected,
  type SelectedInput,
  selectionParameters,
  selectKeys,
} from './selected-records.ts'
import { writtenManySubscriptions } from './subscriptions.ts'
import { embedWithin, embedWritten } from './written-result.ts'

type UpdateManyInput = SelectedInput & { readonly record: ReadValues }

/** The records that match, by their keys, each with what its hook made of the values. */
export type PreparedEach = ReadonlyMap<Json, PreparedRecord>

/** The same values for every record that matches a condition. */
export const updateMany: WriteOperation<UpdateManyInput, RecordsResult | JsonResult, PreparedRecord | PreparedEach> = {
  name: 'updateMany',
  effect: 'writes',
  action: 'update',
  routes: [
    { method: 'PATCH', path: '/:model', style: 'rest', when: 'where' },
    { method: 'PUT', path: '/:model', style: 'rest', when: 'where' },
  ],
  parameters: selectionParameters,

  parse(parameters, { model }, services) {
    const record = readValues({ ...parameters, query: noParameters }, model, services, { withKey: false })
    refuseMembers(record, model)
    return { ...readSelected(parameters, model, services), record }
  },

  /** A hook sees each record, and may give each other values. */
  prepare(invocation, reads, services) {
    const { input, target, requester } = invocation
    const { model } = target
    return hasHookBefore('update', model) && input.record.refused === undefined
      ? prepareSelected(invocation, reads, services)
      : prepareRecord(model, input.record, 'update', { requester, reads, services })
  },

  async run(invocation, prepared, store, services) {
    const { input, target, precondition, origin } = invocation
    const { model } = target
    const { where, count, populate } = input
    let writes = prepared
    let selected: readonly Json[]
    if (!isEach(writes)) selected = await selectKeys(model, where, store, services)
    else if (!store.isWithin) selected = [...writes.keys()]
    else {
      // Others may match since an earlier operation of the transaction.
      const known = writes
      selected = await selectKeys(model, where, store, services)
      const others = selected.filter((key) => !known.has(key))
      writes = new Map([...known, ...(await prepareEach(others, invocation, store, services))])
    }
    const written = await store.transaction(
      async (transaction) => {
        const keys = await confirmKeys(model, selected, where, precondition, transaction, services)
        if (!isEach(writes)) await updateAll(keys, writes, transaction, services)
        else for (const key of keys) await updateAll([key], writes.get(key) as PreparedRecord, transaction, services)
        if (count) return keys.length
        const stored = await readRecords(model, keys, transaction)
        return { stored, embedded: await embedWithin(stored, invocation, transaction, services) }
      },
      { origin, isSerializable: true },
    )
    if (typeof written === 'number') return countResult(written)
    const { stored, embedded = await embedWritten(stored, invocation, store, services) } = written
    return manyResult(model, embedded, populate)
  },

  subscriptions: writtenManySubscriptions,
}

const isEach = (prepared: PreparedRecord | PreparedEach): prepared is PreparedEach => prepared instanceof Map

const prepareSelected = async (
  invocation: Invocation<UpdateManyInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedEach> => {
  const { input, target } = invocation
  return prepareEach(await selectKeys(target.model, input.where, reads, services), invocation, reads, services)
}

async function prepareEach(
  keys: readonly Json[],
  { input, target: { model }, requester }: Invocation<UpdateManyInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedEach> {
  // No hook runs where one of the records may not be changed.
  await reads.assertMayWrite?.('update', model, keys)
  const prepared = new Map<Json, PreparedRecord>()
  for (const key of keys) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const previous = await previousRecord('update', model, key, reads)
    const caller = { requester, reads, services }
    prepared.set(key, await prepareRecord(model, input.record, 'update', caller, { previous }))
  }
  return prepared
}

async function updateAll(
  keys: readonly Json[],
  record: PreparedRecord,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<void> {
  if (keys.length === 0) return
  const { model } = record
  const assignments = await assignmentsOf(record, transaction, services)
  await checkTargets(unchecked(assignments, services), model, transaction)
  await transaction.update(model, idIn(model, keys), assignments)
}

/**
 * Throws for to-many associations and new records: a member cannot belong to several records, and new records would be created
 * for each.
 */
function refuseMembers({ parents, members }: RecordValues, model: Model): void {
  const name = parents[0]?.attribute.name ?? members[0]?.association.name
  if (name === undefined) return
  const message = `"${name}" cannot be set for many records at once: only values of attributes can`
  throw new ServiceError('E_BAD_REQUEST', message, { model: model.name, attribute: name })
}

import type { Json } from '../protocol/json.ts'
import type { ScopedStore, ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { afterWithin } from './hooks/after-within.ts'
import { writeCurrent } from './hooks/linked-changes.ts'
import { insertRecord } from './insert-record.ts'
import type { EmptyResult, Invocation, OperationServices, RecordResult, WriteOperation } from './operation.ts'
import { omit, populate } from './parameters.ts'
import { hasChanges, isCurrent } from './prepare-members.ts'
import { isOneStatement, type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { type RecordInput, readRecordInput } from './record-values.ts'
import { writtenSubscriptions } from './subscriptions.ts'
import { requireVersion } from './version.ts'
import { writtenResult } from './written-result.ts'

/** A new record, with its members and with the new records that it refers to. */
export const create: WriteOperation<RecordInput, RecordResult | EmptyResult, PreparedRecord> = {
  name: 'create',
  effect: 'writes',
  action: 'create',
  routes: [
    { method: 'POST', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/create', style: 'shortcut' },
  ],
  parameters: [populate, omit],

  parse: (parameters, { model }, services) => readRecordInput(parameters, model, services, { withKey: true }),

  prepare: ({ input, target: { model }, requester }, reads, services) =>
    prepareRecord(model, input, 'create', { requester, reads, services }),

  run(invocation, prepared, store, services) {
    const { input, target, origin } = invocation
    const { model } = target
    const { populate } = input
    const written =
      isOneStatement(prepared, services) && mustNotExist(invocation, prepared) === undefined
        ? store.insert(model, prepared.assignments, { origin })
        : insertCurrent(invocation, prepared, store, services)
    const current = services.hooks ? written.then((stored) => afterWithin(prepared, stored, store)) : written
    return current.then((stored) => {
      if (store.reveal || populate.length > 0) return writtenResult(stored, invocation, store, services, true)
      return { kind: 'record', created: true, model, records: stored, populate, stored }
    })
  },

  subscriptions: writtenSubscriptions,
}

/** The key that is given with `If-None-Match: *`. */
const mustNotExist = ({ precondition }: Invocation<RecordInput>, { assignments }: PreparedRecord): Json | undefined =>
  precondition === 'none' ? assignments.find(({ attribute }) => attribute.isPrimaryKey)?.value : undefined

/** Several statements in a transaction. */
function insertCurrent(
  invocation: Invocation<RecordInput>,
  prepared: PreparedRecord,
  store: ScopedStore,
  services: OperationServices,
): Promise<Records> {
  const { input, target, origin, requester } = invocation
  const { model } = target
  const prepareAgain = () => prepareRecord(model, input, 'create', { requester, reads: store, services })
  const insert = (record: PreparedRecord) => async (transaction: ScopedTransaction) => {
    const key = mustNotExist(invocation, record)
    if (key !== undefined) await requireVersion(model, key, 'none', transaction, services)
    return (await isCurrent(record, transaction, services)) ? insertRecord(record, transaction, services) : undefined
  }
  return writeCurrent(model, prepared, prepareAgain, (record) =>
    store.transaction(insert(record), { origin, isSerializable: hasChanges(record) }),
  )
}

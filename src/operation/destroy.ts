import { lockByPrimaryKey, type Populate, primaryKeyEquals } from '../criteria/criteria.ts'
import { originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { boundedReads } from '../storage/byte-budget.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { isDestroyCurrent, prepareDestroy, reachesHooks } from './destroy-changes.ts'
import { destroyRecords } from './destroy-records.ts'
import { embed } from './embed.ts'
import { readAnswerPopulate } from './find-input.ts'
import { beforeDestroy, hasHookBefore, previousRecord, requireWritable } from './hooks/before.ts'
import { type LinkedWrite, noChanges, type PreparedChanges, writeCurrent } from './hooks/linked-changes.ts'
import type { Invocation, OperationServices, RecordResult, WriteOperation } from './operation.ts'
import { omit, populate } from './parameters.ts'
import { missingId, requiredKey } from './record-key.ts'
import { refuseUnwritten } from './unwritten.ts'
import { requireVersion } from './version.ts'

export interface DestroyInput {
  readonly id: Json
  readonly populate: readonly Populate[]
}

/** Deletes a record, with what `onDestroy` of the associations that lead to it asks for; answers the record as it was. */
export const destroy: WriteOperation<DestroyInput, RecordResult, PreparedChanges> = {
  name: 'destroy',
  effect: 'writes',
  action: 'destroy',
  routes: [
    { method: 'DELETE', path: '/:model/:record', style: 'rest' },
    { method: 'DELETE', path: '/:model', style: 'rest' },
    { method: 'GET', path: '/:model/destroy/:record', style: 'shortcut' },
    { method: 'GET', path: '/:model/destroy', style: 'shortcut' },
  ],
  parameters: [populate, omit],

  parse(parameters, { model }, services) {
    // An address that destroys names the record in its path.
    if (parameters.style === 'shortcut' && parameters.record === undefined) throw missingId(model, 'in the path')
    return { id: requiredKey(parameters, model), populate: readAnswerPopulate(parameters, model, services) }
  },

  prepare,

  async run(invocation, prepared, store, services) {
    const { input, target, precondition, origin } = invocation
    const { model } = target
    const { id, populate } = input
    const references = services.referencedBy.get(originalOf(model)) ?? []
    const isOneStatement =
      references.length === 0 && populate.length === 0 && precondition === undefined && store.reveal === undefined
    const records = isOneStatement
      ? await store.delete(model, primaryKeyEquals(model, id), { origin })
      : await writeCurrent(
          model,
          prepared,
          () => prepare(invocation, store, services),
          (changes) =>
            store.transaction(
              async (transaction) => {
                await requireVersion(model, id, precondition, transaction, services)
                const context = { transaction, services, changes }
                if (!(await isDestroyCurrent(model, [id], context))) return undefined
                return destroyReferenced(invocation, context)
              },
              { origin, isSerializable: changes.size > 0 },
            ),
        )
    if (records.length === 0) return refuseUnwritten(model, id, 'delete', store)
    return { kind: 'record', model, records, populate }
  },
}

/** No hook runs for a record that the requester may not destroy. */
async function prepare(
  { input: { id }, target: { model }, requester }: Invocation<DestroyInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedChanges> {
  const isHooked = hasHookBefore('destroy', model)
  if (!isHooked && !reachesHooks(originalOf(model), services)) return noChanges
  const caller = { requester, reads, services }
  if (isHooked) await beforeDestroy(model, await previousRecord('destroy', model, id, reads), caller)
  else await requireWritable('destroy', model, id, reads)
  return prepareDestroy(model, [id], caller)
}

/** What the answer embeds is read before the references to it are cleared. The record stays as it is read until it is deleted. */
async function destroyReferenced(
  { input: { id, populate }, target: { model }, client }: Invocation<DestroyInput>,
  context: LinkedWrite,
): Promise<Records> {
  const { transaction, services } = context
  const found = await transaction.find(model, lockByPrimaryKey(model, id))
  if (found.length === 0) return found
  const answer = await embed(found, populate, transaction, boundedReads(client, services.limits.maxAnswerBytes))
  await destroyRecords(model, [id], context)
  return answer
}

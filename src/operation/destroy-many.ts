import { type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { boundedReads } from '../storage/byte-budget.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { isDestroyCurrent, prepareDestroy, reachesHooks } from './destroy-changes.ts'
import { destroyRecords } from './destroy-records.ts'
import { embed } from './embed.ts'
import { beforeDestroy, hasHookBefore, previousRecord, requireWritable } from './hooks/before.ts'
import { noChanges, type PreparedChanges, writeCurrent } from './hooks/linked-changes.ts'
import type { Invocation, JsonResult, OperationServices, RecordsResult, WriteOperation } from './operation.ts'
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

/** The records that match, by their keys, after the hooks of all that is destroyed with them. */
export interface PreparedMany {
  readonly selected: readonly Json[]
  readonly changes: PreparedChanges
}

/** Deletes every record that matches a condition; answers the records as they were. */
export const destroyMany: WriteOperation<SelectedInput, RecordsResult | JsonResult, PreparedMany | undefined> = {
  name: 'destroyMany',
  effect: 'writes',
  action: 'destroy',
  routes: [{ method: 'DELETE', path: '/:model', style: 'rest', when: 'where' }],
  parameters: selectionParameters,

  parse: (parameters, { model }, services) => readSelected(parameters, model, services),

  prepare: (invocation, reads, services) =>
    runsHooks(invocation.target.model, services) ? selectPrepared(invocation, reads, services) : undefined,

  async run(invocation, prepared, store, services) {
    const { input, target, precondition, origin, client } = invocation
    const { model } = target
    const { where, count, populate } = input
    const select = () => selectPrepared(invocation, store, services)
    // Others may match since an earlier operation of the transaction.
    const first = prepared && !store.isWithin ? prepared : await selectPrepared(invocation, store, services, prepared)
    return writeCurrent(model, first, select, ({ selected, changes }) =>
      store.transaction(
        async (transaction) => {
          const keys = await confirmKeys(model, selected, where, precondition, transaction, services)
          const context = { transaction, services, changes }
          if (!(await isDestroyCurrent(model, keys, context))) return undefined
          const found = count ? undefined : await readRecords(model, keys, transaction)
          const bounded = boundedReads(client, services.limits.maxAnswerBytes)
          const records = found && (await embed(found, populate, transaction, bounded))
          if (keys.length > 0) await destroyRecords(model, keys, context)
          return records ? manyResult(model, records, populate) : countResult(keys.length)
        },
        { origin, isSerializable: true },
      ),
    )
  },
}

const runsHooks = (model: Model, services: OperationServices): boolean =>
  hasHookBefore('destroy', model) || reachesHooks(originalOf(model), services)

/** Runs the hooks of the records that match, and of all that is destroyed with them. `known`: those whose hooks have run. */
async function selectPrepared(
  { input: { where }, target: { model }, requester }: Invocation<SelectedInput>,
  reads: ScopedReads,
  services: OperationServices,
  known?: PreparedMany,
): Promise<PreparedMany> {
  const selected = await selectKeys(model, where, reads, services)
  if (!runsHooks(model, services)) return { selected, changes: noChanges }
  const caller = { requester, reads, services }
  const isHooked = hasHookBefore('destroy', model)
  const ran = new Set(known?.selected)
  const others = selected.filter((key) => !ran.has(key))
  // No hook runs where one of the records may not be destroyed.
  await reads.assertMayWrite?.('destroy', model, others)
  for (const key of others) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (isHooked) await beforeDestroy(model, await previousRecord('destroy', model, key, reads), caller)
    else await requireWritable('destroy', model, key, reads)
  }
  if (others.length === 0 && known) return { selected, changes: known.changes }
  return { selected, changes: new Map([...(known?.changes ?? []), ...(await prepareDestroy(model, others, caller))]) }
}

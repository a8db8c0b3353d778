import { and, idIn, isOneOf } from '../criteria/criteria.ts'
import { type Attribute, type Model, originalOf } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { integrity } from '../storage/scoped-store.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { deletionOrder } from './deletion-order.ts'
import { collectDeletions, type DeletionSet, stayingReferences } from './deletion-set.ts'
import type { LinkedWrite } from './hooks/linked-changes.ts'
import { clearReferences } from './membership.ts'
import type { ForeignKeyReference } from './operation.ts'
import { keptByTrigger } from './unwritten.ts'

/** Keys in one statement. */
const deletedAtOnce = 100

/**
 * Deletes records. What refers to them is deleted, cleared, or prevents it, as `onDestroy` of each association says. This
 * keeps the database consistent, so it includes records that the requester may neither read nor write; its rules apply to
 * the records themselves.
 */
export async function destroyRecords(given: Model, ids: readonly Json[], context: LinkedWrite): Promise<void> {
  const model = originalOf(given)
  const { transaction, services } = context
  const all = integrity(transaction)
  // Before anything is cleared: the rules may go through what refers to the records.
  await transaction.assertMayWrite?.('destroy', given, ids)
  const deletions = await collectDeletions(model, ids, all, services)
  for (const [target, found] of deletions.keys) await all.beforeDelete?.(target, [...found])
  for (const [target, found] of deletions.keys) {
    for (const reference of services.referencedBy.get(target) ?? [])
      await detachReferences(reference, [...found], deletions, context)
  }
  const { order, cut } = deletionOrder(new Set(deletions.keys.keys()), services.referencedBy)
  for (const { model: referring, attribute } of cut) {
    const keysOf = (model: Model) => [...(deletions.keys.get(originalOf(model)) as Set<Json>)]
    const refersToDeleted = isOneOf(attribute, keysOf(attribute.references as Model))
    const where = and(idIn(referring, keysOf(referring)), refersToDeleted)
    if (all.clearBeforeDelete) await all.clearBeforeDelete(referring, where, attribute)
    else await all.update(referring, where, [{ attribute, value: null }])
  }
  const [first, ...rounds] = deletions.rounds
  for (const target of order) {
    for (const round of rounds.toReversed()) {
      if (round.model !== target) continue
      for (const some of chunksOf(round.ids, deletedAtOnce)) await all.delete(target, idIn(target, some))
    }
    if (first?.model !== target) continue
    const deleted = await all.delete(target, idIn(target, ids))
    if (deleted.length < ids.length && (await all.count(target, idIn(target, ids))) > 0)
      throw keptByTrigger(target, 'delete')
  }
}

/**
 * Deletes junction rows and clears foreign keys. Throws E_CONFLICT where a record that stays keeps its reference, and
 * describes these records only if the requester may read them.
 */
async function detachReferences(
  reference: ForeignKeyReference,
  ids: readonly Json[],
  deletions: DeletionSet,
  context: LinkedWrite,
): Promise<void> {
  const { transaction } = context
  const { model, attribute } = reference
  const all = integrity(transaction)
  const referring = isOneOf(attribute, ids)
  if (model.isJunction) {
    await all.delete(model, referring)
    return
  }
  if (attribute.onDestroy === 'cascade' && deletions.keys.has(model)) return
  const staying = stayingReferences(reference, ids, deletions)
  if (attribute.onDestroy === 'setNull') {
    await clearReferences(reference, staying, { ...context, transaction: all })
    return
  }
  const count = await all.count(model, staying)
  if (count === 0) return
  if (all !== transaction && (await transaction.count(model, staying)) < count)
    throw new ServiceError('E_CONFLICT', 'Other records refer to this record')
  const message = `${count} ${model.name} record${count === 1 ? '' : 's'} ${verbOf(attribute, count)} this record as "${attribute.name}"`
  throw new ServiceError('E_CONFLICT', message, { model: model.name, attribute: attribute.name })
}

const verbOf = ({ nullable }: Attribute, count: number): string =>
  `${nullable ? 'refer' : 'require'}${count === 1 ? 's' : ''}${nullable ? ' to' : ''}`

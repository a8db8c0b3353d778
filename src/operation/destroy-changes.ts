import { orderByPrimaryKey } from '../criteria/criteria.ts'
import { type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { integrity } from '../storage/scoped-store.ts'
import type { Reads } from '../storage/store.ts'
import { tooManyAffected } from '../storage/too-many-affected.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { collectDeletions, stayingReferences } from './deletion-set.ts'
import type { HookCaller } from './hooks/before.ts'
import {
  areAllPrepared,
  hasFunctionBefore,
  type LinkedChange,
  type LinkedWrite,
  noChanges,
  type PreparedChanges,
  prepareChanges,
} from './hooks/linked-changes.ts'
import type { OperationServices } from './operation.ts'

/** Runs the hooks of the records that are destroyed with these, and of those whose references to them are cleared. */
export async function prepareDestroy(given: Model, ids: readonly Json[], caller: HookCaller): Promise<PreparedChanges> {
  const model = originalOf(given)
  const { services, reads } = caller
  if (!reachesHooks(model, services)) return noChanges
  const changes = await destroyChanges(model, ids, reads.unscoped ?? reads, services)
  return prepareChanges(changes, caller, 'integrity')
}

/** Whether the hooks of all that is destroyed and cleared have run. */
export async function isDestroyCurrent(
  given: Model,
  ids: readonly Json[],
  { transaction, services, changes }: LinkedWrite,
): Promise<boolean> {
  const model = originalOf(given)
  if (!reachesHooks(model, services)) return true
  return areAllPrepared(await destroyChanges(model, ids, integrity(transaction), services), changes)
}

const reaching = new WeakMap<OperationServices, Map<Model, boolean>>()

/** Whether a destroy of the model can change records of others that have hooks before the write. */
export function reachesHooks(model: Model, services: OperationServices): boolean {
  if (!services.hooks) return false
  const known = getOrInsertComputed(reaching, services, () => new Map<Model, boolean>())
  return getOrInsertComputed(known, model, () => {
    const seen = new Set([model])
    for (const destroyed of seen) {
      for (const { model: referring, attribute } of services.referencedBy.get(destroyed) ?? []) {
        if (referring.isJunction) continue
        if (attribute.onDestroy === 'setNull' && hasFunctionBefore('update', referring)) return true
        if (attribute.onDestroy !== 'cascade') continue
        if (hasFunctionBefore('destroy', referring)) return true
        seen.add(referring)
      }
    }
    return false
  })
}

async function destroyChanges(
  model: Model,
  ids: readonly Json[],
  all: Reads,
  services: OperationServices,
): Promise<readonly LinkedChange[]> {
  const { referencedBy, limits } = services
  const deletions = await collectDeletions(model, ids, all, services)
  const changes: LinkedChange[] = []
  const [, ...rounds] = deletions.rounds
  for (const round of rounds) {
    if (!hasFunctionBefore('destroy', round.model)) continue
    for (const key of round.ids) changes.push({ write: 'destroy', model: round.model, key, references: new Map() })
  }
  for (const [destroyed, keys] of deletions.keys) {
    for (const reference of referencedBy.get(destroyed) ?? []) {
      const { model: referring, attribute } = reference
      if (referring.isJunction || attribute.onDestroy !== 'setNull' || !hasFunctionBefore('update', referring)) continue
      const found = await all.find(referring, {
        where: stayingReferences(reference, [...keys], deletions),
        sort: orderByPrimaryKey(referring),
        limit: limits.maxAffected + 1,
        skip: 0,
        select: [referring.primaryKey],
      })
      if (found.length > limits.maxAffected) throw tooManyAffected(referring, limits.maxAffected)
      for (const key of found.values(referring.primaryKey))
        changes.push({ write: 'update', model: referring, key, references: new Map([[attribute, null]]) })
    }
  }
  return changes
}

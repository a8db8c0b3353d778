import { and, type Condition, idIn, isOneOf, not, orderByPrimaryKey } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads } from '../storage/store.ts'
import type { ForeignKeyReference, OperationServices } from './operation.ts'

/** The records that a destroy deletes, including those that cascade. */
export interface DeletionSet {
  readonly keys: Map<Model, Set<Json>>
  /** In the order in which they were found: the records of each round refer to records of earlier ones. */
  readonly rounds: { readonly model: Model; readonly ids: readonly Json[] }[]
}

/**
 * Collects the records, and all records that refer to them by an association with `cascade`. Throws E_CONFLICT if they are too
 * many.
 */
export async function collectDeletions(
  model: Model,
  ids: readonly Json[],
  all: Reads,
  { referencedBy, limits: { maxAffected } }: OperationServices,
): Promise<DeletionSet> {
  const deletions: DeletionSet = { keys: new Map([[model, new Set(ids)]]), rounds: [{ model, ids }] }
  let count = ids.length
  for (const round of deletions.rounds) {
    for (const { model: referring, attribute } of referencedBy.get(round.model) ?? []) {
      if (attribute.onDestroy !== 'cascade' || referring.isJunction) continue
      const found = await all.find(referring, {
        where: isOneOf(attribute, round.ids),
        sort: orderByPrimaryKey(referring),
        limit: maxAffected + 1,
        skip: 0,
        select: [referring.primaryKey],
      })
      const known = deletions.keys.get(referring)
      const added = found.values(referring.primaryKey).filter((id) => !known?.has(id))
      if (added.length === 0) continue
      if (known) for (const id of added) known.add(id)
      else deletions.keys.set(referring, new Set(added))
      deletions.rounds.push({ model: referring, ids: added })
      count += added.length
      if (count > maxAffected) throw tooMany(model, maxAffected)
    }
  }
  return deletions
}

const tooMany = ({ name }: Model, maxAffected: number): ServiceError =>
  new ServiceError(
    'E_CONFLICT',
    `The operation would destroy more than ${maxAffected} records, including those that are destroyed with this ${name}: destroy those first, in several requests of at most ${maxAffected} records each`,
    { limit: 'maxAffected', model: name },
  )

/** The references to destroyed records by records that are not destroyed with them. */
export function stayingReferences(
  { model, attribute }: ForeignKeyReference,
  ids: readonly Json[],
  deletions: DeletionSet,
): Condition {
  const deleted = deletions.keys.get(model)
  const referring = isOneOf(attribute, ids)
  return deleted ? and(referring, not(idIn(model, [...deleted]))) : referring
}

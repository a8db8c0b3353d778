import { allHold, type Condition, everything, hasKey, holds, oneByKey } from '../criteria/criteria.ts'
import { notIn } from '../criteria/modifiers/in.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, HasMany, ManyToMany, Model } from '../model/model.ts'
import { stampOf } from '../model/stamp.ts'
import { validate } from '../model/validate.ts'
import { invalid, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Transaction } from '../storage/store.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'
import type { Context } from './operation.ts'
import type { Members } from './record-values.ts'

/** Makes a record a member. One that is a member already changes nothing; one of another parent leaves it. */
export function join(
  association: HasMany | ManyToMany,
  parent: Json,
  child: Json,
  transaction: Transaction,
  context: Context,
): Maybe<unknown> {
  const { target } = association
  if (association.kind === 'hasMany') {
    const outside = allHold(hasKey(target, child), { kind: 'not', condition: holds(association.via, parent) })
    return chain(
      transaction.update(target, outside, [{ attribute: association.via, value: parent }, ...stamps(target, context)]),
      (moved) => (moved.length > 0 ? undefined : requireChild(association, child, transaction)),
    )
  }
  return chain(requireChild(association, child, transaction), () =>
    pair(association, parent, child, transaction, context),
  )
}

/** Ends a membership; one that never was changes nothing. */
export function leave(
  association: HasMany | ManyToMany,
  parent: Json,
  child: Json,
  transaction: Transaction,
  context: Context,
): Maybe<unknown> {
  if (association.kind === 'manyToMany') {
    const { junction, near, far } = association
    return transaction.delete(junction, allHold(holds(near, parent), holds(far, child)))
  }
  return release(
    association,
    allHold(hasKey(association.target, child), holds(association.via, parent)),
    transaction,
    context,
  )
}

/** Makes these the members and no others. */
export function replaceMembers(
  { association, ids, wereRecords }: Members,
  parent: Json,
  transaction: Transaction,
  context: Context,
): Maybe<void> {
  return chain(wereRecords ? refuseCut(association, parent, ids.length, transaction, context) : undefined, () =>
    chain(keepOnly(association, parent, ids, transaction, context), () =>
      each(ids, (id) => join(association, parent, id, transaction, context)),
    ),
  )
}

function keepOnly(
  association: HasMany | ManyToMany,
  parent: Json,
  ids: readonly Json[],
  transaction: Transaction,
  context: Context,
): Maybe<unknown> {
  if (association.kind === 'manyToMany') {
    const { junction, near, far } = association
    return transaction.delete(junction, allHold(holds(near, parent), outsideOf(far, ids)))
  }
  const { via, target } = association
  return release(association, allHold(holds(via, parent), outsideOf(target.primaryKey, ids)), transaction, context)
}

const outsideOf = (attribute: Attribute, ids: readonly Json[]): Condition =>
  ids.length === 0 ? everything : { kind: 'compare', attribute, modifier: notIn, operand: ids }

/**
 * An answer holds only so many members. Whole records that are sent back may be such a part, and taking it for all of
 * them would quietly let the others go.
 */
function refuseCut(
  association: HasMany | ManyToMany,
  parent: Json,
  given: number,
  transaction: Transaction,
  { limits }: Context,
): Maybe<void> {
  const [model, attribute] =
    association.kind === 'hasMany' ? [association.target, association.via] : [association.junction, association.near]
  return chain(transaction.count(model, holds(attribute, parent)), (count) => {
    if (count <= limits.defaultLimit || count <= given) return
    const message = `"${association.name}" has ${count} members, more than an answer embeds: give a list of ids to replace them`
    throw new ServiceError('E_CONFLICT', message, { attribute: association.name })
  })
}

function release(
  { target, via, name }: HasMany,
  members: Condition,
  transaction: Transaction,
  context: Context,
): Maybe<unknown> {
  if (via.nullable)
    return transaction.update(target, members, [{ attribute: via, value: null }, ...stamps(target, context)])
  return chain(transaction.count(target, members), (count) => {
    if (count === 0) return
    throw new ServiceError(
      'E_CONFLICT',
      `Each ${target.name} must have its "${via.name}": it cannot be taken out of "${name}"`,
      {
        model: target.name,
        attribute: via.name,
      },
    )
  })
}

function pair(
  { junction, near, far }: ManyToMany,
  parent: Json,
  child: Json,
  transaction: Transaction,
  context: Context,
): Maybe<unknown> {
  if (junction.isJunction) {
    return transaction.insertMissing(junction, [
      { attribute: near, value: parent },
      { attribute: far, value: child },
    ])
  }
  return chain(transaction.count(junction, allHold(holds(near, parent), holds(far, child))), (count) => {
    if (count > 0) return
    const values = new Map([
      [near.name, parent],
      [far.name, child],
    ])
    return chain(validate(junction, values, 'create', context), (assignments) =>
      transaction.insert(junction, assignments),
    )
  })
}

function requireChild({ name, target }: HasMany | ManyToMany, child: Json, transaction: Transaction): Maybe<void> {
  return chain(transaction.find(target, oneByKey(target, child)), (found) => {
    if (found.length === 0) throw invalid(name, 'exists', `"${name}" names a ${target.name} that does not exist`)
  })
}

/** What changes with every change of a record. */
export const stamps = (model: Model, { clock }: Context): readonly Assignment[] =>
  [...model.attributes.values()]
    .filter((attribute) => attribute.autoUpdatedAt)
    .map((attribute) => ({ attribute, value: stampOf(attribute, clock.now()) }))

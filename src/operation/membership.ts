import {
  and,
  type Condition,
  eq,
  findKey,
  idIn,
  isNoneOf,
  isOneOf,
  matchAll,
  not,
  primaryKeyEquals,
} from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import { missingTarget } from '../model/missing-target.ts'
import { type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import { timestampFor } from '../model/timestamp.ts'
import { validate } from '../model/validate.ts'
import { invalid, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedTransaction } from '../storage/scoped-store.ts'
import type { Transaction } from '../storage/store.ts'
import { tooManyAffected } from '../storage/too-many-affected.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { type LinkedWrite, preparedAssignments } from './hooks/linked-changes.ts'
import { foreignKeyChange, type NewMember, pairChange } from './member-changes.ts'
import type { Members } from './member-values.ts'
import type { ForeignKeyReference, OperationServices } from './operation.ts'

type ToMany = HasMany | ManyToMany

/** That a record is, or is to be, a member of another. */
export interface Membership {
  readonly association: ToMany
  readonly parent: Json
  readonly child: Json
}

/** Makes a record a member. A member stays as it is; a member of another parent leaves that one. `created`: it was just created. */
export async function linkRecord(membership: Membership, context: LinkedWrite, created?: NewMember): Promise<void> {
  const { transaction, services, changes } = context
  const { association, parent, child } = membership
  const { target } = association
  await assertMayChange('add', membership, transaction)
  if (association.kind === 'manyToMany') {
    if (!created) await requireChild(association, child, transaction)
    const prepared = preparedAssignments(pairChange(association, parent, created ?? child), changes)
    const pair = [
      { attribute: association.near, value: parent },
      { attribute: association.far, value: child },
    ]
    await insertJunctionRow(association.junction, pair, prepared, context)
    return
  }
  const { via } = association
  const isElsewhere = and(primaryKeyEquals(target, child), { kind: 'not', condition: eq(via, parent) })
  const others = preparedAssignments(foreignKeyChange(association, child, parent), changes)
  if (others) await checkTargets(unchecked(others, services), target, transaction)
  const assignments = [{ attribute: via, value: parent }, ...(others ?? timestampAssignments(target, services))]
  const moved = await transaction.update(target, isElsewhere, assignments)
  if (moved.length === 0) await requireChild(association, child, transaction)
}

/** Ends a membership; without one, nothing changes. */
export async function unlinkRecord(membership: Membership, context: LinkedWrite): Promise<void> {
  const { transaction } = context
  const { association, parent, child } = membership
  await assertMayChange('remove', membership, transaction)
  if (association.kind === 'manyToMany') {
    const { junction, near, far } = association
    const isMember = and(eq(near, parent), eq(far, child))
    // What the requester may not read is no member for it.
    if (
      transaction.assertMayChangeMembers &&
      (await transaction.count(junction, knownRows(association, isMember))) === 0
    )
      return
    await transaction.delete(junction, isMember)
    return
  }
  const isMember = and(primaryKeyEquals(association.target, child), eq(association.via, parent))
  await clearForeignKey(association, isMember, context)
}

/** The records that are to be the only members. */
export interface Replacement {
  readonly members: Members
  readonly parent: Json
}

/** Makes these records the members, and no others. */
export async function replaceMembers(replacement: Replacement, context: LinkedWrite): Promise<void> {
  const { joining, transaction } = await beginReplacement(replacement, 0, context)
  await unlinkOthers(replacement, { ...context, transaction })
  await linkAll({ ...replacement, members: joining }, { ...context, transaction })
}

/** A replacement whose rights are checked. */
export interface BegunReplacement {
  /** The members without those that are members already. */
  readonly joining: Members
  readonly transaction: ScopedTransaction
}

/**
 * The rights to replace members, and to read those that stay, may end with the first one that leaves, so both are looked at before. `created`: how
 * many of the new members are created.
 */
export async function beginReplacement(
  { members, parent }: Replacement,
  created: number,
  { transaction }: LinkedWrite,
): Promise<BegunReplacement> {
  if (!transaction.replacingMembers) return { joining: members, transaction }
  const { association, ids } = members
  const staying = ids.length === 0 ? new Set() : new Set(await stayingMembers(association, parent, ids, transaction))
  if (association.kind === 'manyToMany' && ids.length > 0)
    for (const inverse of inversesOf(association)) await transaction.assertMayChangeMembers?.('add', inverse, ids)
  return {
    joining: { ...members, ids: ids.filter((id) => !staying.has(id)) },
    transaction: await transaction.replacingMembers(association, parent, ids.length + created > 0),
  }
}

async function stayingMembers(
  association: ToMany,
  parent: Json,
  ids: readonly Json[],
  transaction: ScopedTransaction,
): Promise<readonly Json[]> {
  const page = { sort: [], limit: ids.length, skip: 0 }
  if (association.kind === 'manyToMany') {
    const { junction, near, far } = association
    const where = knownRows(association, and(eq(near, parent), isOneOf(far, ids)))
    return (await transaction.find(junction, { ...page, where, select: [far] })).values(far)
  }
  const { via, target } = association
  const where = and(eq(via, parent), idIn(target, ids))
  return (await transaction.find(target, { ...page, where, select: [target.primaryKey] })).values(target.primaryKey)
}

/** Makes these records members. */
export async function linkAll({ members, parent }: Replacement, context: LinkedWrite): Promise<void> {
  const { association, ids } = members
  for (const child of ids) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    await linkRecord({ association, parent, child }, context)
  }
}

/** Ends the membership of all other records. The rights are checked by `beginReplacement`. */
export async function unlinkOthers(replacement: Replacement, context: LinkedWrite): Promise<void> {
  const { members, parent } = replacement
  const { association, ids, wereRecords } = members
  const { transaction } = context
  if (wereRecords) await refuseTruncatedList(replacement, context)
  if (association.kind === 'manyToMany') {
    const { junction, near, far } = association
    // A row of a declared model may refer to no member. It is not one that leaves.
    const rows = and(eq(near, parent), ids.length === 0 ? not(eq(far, null)) : isNoneOf(far, ids))
    if (transaction.assertMayChangeMembers) await unlinkKnown(association, rows, context)
    else await transaction.delete(junction, rows)
    return
  }
  const { via, target } = association
  const isOther = and(eq(via, parent), isNoneOf(target.primaryKey, ids))
  await clearForeignKey(association, isOther, context)
}

/**
 * Members that the requester may not read stay, as they do where the member has a foreign key. All are found before the first one leaves,
 * with which the requester may lose the right to read others.
 */
async function unlinkKnown(
  association: ManyToMany,
  rows: Condition,
  { transaction, services: { limits } }: LinkedWrite,
): Promise<void> {
  const { junction, far } = association
  const where = knownRows(association, rows)
  const page = { where, sort: [], limit: limits.maxAffected + 1, skip: 0, select: [far] }
  const members = (await transaction.find(junction, page)).values(far)
  if (members.length > limits.maxAffected) throw tooManyAffected(junction, limits.maxAffected)
  const inverses = inversesOf(association)
  for (const some of chunksOf(members, unlinkedAtOnce))
    for (const inverse of inverses) await transaction.assertMayChangeMembers?.('remove', inverse, some)
  for (const some of chunksOf(members, unlinkedAtOnce))
    await transaction.delete(junction, and(rows, isOneOf(far, some)))
}

const unlinkedAtOnce = 500

/** Restricts junction rows to those of members that the requester may read: rules apply to related records. */
function knownRows({ far, target }: ManyToMany, rows: Condition): Condition {
  const association = { kind: 'belongsTo', name: far.name, target: originalOf(target), foreignKey: far } as const
  return and(rows, { kind: 'related', association, condition: matchAll })
}

/** Throws E_FORBIDDEN unless the requester may change the association of the parent, and of the member where it has the inverse. */
async function assertMayChange(
  action: 'add' | 'remove',
  { association, parent, child }: Membership,
  transaction: ScopedTransaction,
): Promise<void> {
  if (!transaction.assertMayChangeMembers) return
  await transaction.assertMayChangeMembers(action, association, [parent])
  if (association.kind === 'hasMany') return
  for (const inverse of inversesOf(association)) await transaction.assertMayChangeMembers(action, inverse, [child])
}

/** The same association as the members declare it. */
const inversesOf = ({ target, junction, near, far }: ManyToMany): readonly ManyToMany[] =>
  [...originalOf(target).associations.values()]
    .filter((inverse) => inverse.kind === 'manyToMany')
    .filter((inverse) => inverse.junction === junction && inverse.near === far && inverse.far === near)

/**
 * An answer embeds a limited number of members. Records that are sent back may be such a part of the list; taking them
 * for all would remove the others silently.
 */
async function refuseTruncatedList(
  { members: { association, ids }, parent }: Replacement,
  { transaction, services: { limits } }: LinkedWrite,
): Promise<void> {
  const count =
    association.kind === 'hasMany'
      ? await transaction.count(association.target, eq(association.via, parent))
      : await transaction.count(association.junction, knownRows(association, eq(association.near, parent)))
  if (count <= limits.defaultLimit || count <= ids.length) return
  const message = `"${association.name}" has ${count} members, more than an answer embeds: give a list of ids to replace them`
  throw new ServiceError('E_CONFLICT', message, { attribute: association.name })
}

async function clearForeignKey(
  { target, via, name }: HasMany,
  members: Condition,
  context: LinkedWrite,
): Promise<void> {
  if (via.nullable) {
    await clearReferences({ model: target, attribute: via }, members, context)
    return
  }
  const count = await context.transaction.count(target, members)
  if (count === 0) return
  const message = `Each ${target.name} requires its "${via.name}": it cannot be removed from "${name}"`
  throw new ServiceError('E_CONFLICT', message, { model: target.name, attribute: via.name })
}

/** Sets the references of the records that match to null, with what the hooks made of each. */
export async function clearReferences(
  { model, attribute }: ForeignKeyReference,
  where: Condition,
  { transaction, services, changes }: LinkedWrite<Transaction & Pick<ScopedTransaction, 'unscoped'>>,
): Promise<void> {
  const cleared = { attribute, value: null }
  for (const { change, assignments } of changes.values()) {
    if (change.references.get(attribute) !== null) continue
    await checkTargets(unchecked(assignments, services), model, transaction)
    const record = and(primaryKeyEquals(model, change.key), where)
    const updated = await transaction.update(model, record, [cleared, ...assignments])
    // The requester could read it until a member left before it.
    if (updated.length === 0 && transaction.unscoped && (await transaction.unscoped.count(model, record)) > 0)
      throw new ServiceError('E_FORBIDDEN', `You may not update this ${model.name}`, { model: model.name })
  }
  await transaction.update(model, where, [cleared, ...timestampAssignments(model, services)])
}

async function insertJunctionRow(
  junction: Model,
  pair: readonly Assignment[],
  prepared: readonly Assignment[] | undefined,
  { transaction, services }: LinkedWrite,
): Promise<void> {
  if (junction.isJunction) {
    await transaction.insertMissing(junction, pair)
    return
  }
  const count = await transaction.count(junction, and(...pair.map(({ attribute, value }) => eq(attribute, value))))
  if (count > 0) return
  if (prepared) {
    await checkTargets(unchecked(prepared, services), junction, transaction)
    await transaction.insert(junction, [...prepared, ...pair])
    return
  }
  const values = new Map(pair.map(({ attribute, value }) => [attribute.name, value]))
  await transaction.insert(junction, await validate(junction, values, 'create', services))
}

async function requireChild({ name, target }: ToMany, child: Json, transaction: ScopedTransaction): Promise<void> {
  const found = await transaction.find(target, findKey(target, child))
  if (found.length === 0) throw invalid(name, 'exists', `"${name}" ${missingTarget(target.name, child).message}`)
}

/** `updatedAt`, which changes with every change of a record. */
const timestampAssignments = (model: Model, { clock }: OperationServices): readonly Assignment[] =>
  [...originalOf(model).attributes.values()]
    .filter((attribute) => attribute.autoUpdatedAt)
    .map((attribute) => ({ attribute, value: timestampFor(attribute, clock.now()) }))

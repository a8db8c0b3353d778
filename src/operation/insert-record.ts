import { findByPrimaryKey } from '../criteria/criteria.ts'
import type { Assignment } from '../model/assignment.ts'
import { type Attribute, type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { integrity, type ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { laterAssignments } from './later-values.ts'
import { NewMember } from './member-changes.ts'
import { beginReplacement, linkAll, linkRecord, unlinkOthers } from './membership.ts'
import type { OperationServices } from './operation.ts'
import type { PreparedMembers, PreparedRecord } from './prepare-record.ts'

type Keys = ReadonlyMap<Attribute, Json>

/**
 * Inserts a record, the records that it refers to, and its members. References that the database does not check are
 * checked first. `keys` are those of records that were created before it, by the attribute that refers to them.
 */
export async function insertRecord(
  record: PreparedRecord,
  transaction: ScopedTransaction,
  services: OperationServices,
  keys?: Keys,
): Promise<Records> {
  const { model, members } = record
  const assignments = await assignmentsOf(record, transaction, services, keys)
  await checkTargets(unchecked(assignments, services), model, transaction)
  const stored = await transaction.insert(model, assignments)
  for (const item of members) await writeFirstMembers(item, keyOf(stored, model), transaction, services)
  return afterMembers(record, stored, transaction)
}

/** The record after its members were written: it may be one of them itself, or a member of one. */
export const afterMembers = (
  record: PreparedRecord,
  stored: Records,
  transaction: ScopedTransaction,
): MaybePromise<Records> =>
  changesReferencesOf(record.model, record)
    ? readStored(originalOf(record.model), keyOf(stored, record.model), transaction)
    : stored

/** The stored record, read without access rules, as a write returns it. */
export const readStored = (model: Model, key: Json, transaction: ScopedTransaction): MaybePromise<Records> =>
  integrity(transaction).find(model, findByPrimaryKey(model, key))

/** Whether records of this model become or cease to be members with the record, by their foreign keys. */
export const changesReferencesOf = (model: Model, { members, parents }: PreparedRecord): boolean =>
  members.some(
    ({ association, created }) =>
      (association.kind === 'hasMany' && originalOf(association.target) === originalOf(model)) ||
      created.some((record) => changesReferencesOf(model, record)),
  ) || parents.some(({ record }) => changesReferencesOf(model, record))

/** The assignments of a record, with the values that are known now: keys of records that were created before it. */
export async function assignmentsOf(
  { assignments, parents, later, model }: PreparedRecord,
  transaction: ScopedTransaction,
  services: OperationServices,
  keys?: Keys,
): Promise<readonly Assignment[]> {
  if (parents.length === 0 && keys === undefined && later === undefined) return assignments
  const created = new Map(keys)
  for (const { attribute, record } of parents) {
    if (!created.has(attribute))
      created.set(attribute, keyOf(await insertRecord(record, transaction, services), record.model))
  }
  return [
    ...assignments,
    ...[...created].map(([attribute, value]) => ({ attribute, value })),
    // A reference to the record that this one is created in is that of the association.
    ...(later === undefined
      ? []
      : laterAssignments(later, model, services).filter(({ attribute }) => !created.has(attribute))),
  ]
}

/** Makes these records, existing and new, the members of the associations of a record. */
export async function writeMembers(
  all: readonly PreparedMembers[],
  parent: Json,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<void> {
  let replacing = transaction
  const begun: { readonly members: PreparedMembers; readonly joining: PreparedMembers }[] = []
  for (const members of all) {
    const context = { transaction: replacing, services, changes: members.changes }
    const { joining, ...rest } = await beginReplacement({ members, parent }, members.created.length, context)
    begun.push({ members, joining: { ...members, ids: joining.ids } })
    replacing = rest.transaction
  }
  for (const { members, joining } of begun) {
    await unlinkOthers({ members, parent }, { transaction: replacing, services, changes: members.changes })
    await writeFirstMembers(joining, parent, replacing, services)
  }
}

/** The members of one association of a new record: it has no others, which the requester would need the right to remove. */
export async function writeFirstMembers(
  members: PreparedMembers,
  parent: Json,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<void> {
  const { association, created, changes } = members
  const context = { transaction, services, changes }
  await linkAll({ members, parent }, context)
  for (const [index, record] of created.entries()) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (association.kind === 'hasMany') {
      await insertRecord(record, transaction, services, new Map([[association.via, parent]]))
    } else {
      const stored = await insertRecord(record, transaction, services)
      const child = keyOf(stored, record.model)
      await linkRecord({ association, parent, child }, context, new NewMember(index))
    }
  }
}

export const keyOf = (stored: Records, { primaryKey }: Model): Json => stored.values(primaryKey)[0] as Json

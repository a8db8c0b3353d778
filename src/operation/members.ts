import { findByPrimaryKey, findKey, lockKey, type Populate } from '../criteria/criteria.ts'
import type { HasMany, ManyToMany } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { ScopedReads, ScopedStore, ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { assertDefined } from '../support/assert.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { populateWhole, readAnswerPopulate } from './find-input.ts'
import {
  areAllPrepared,
  type LinkedWrite,
  noChanges,
  type PreparedChanges,
  writeCurrent,
} from './hooks/linked-changes.ts'
import { type MemberWrite, memberChanges } from './member-changes.ts'
import { assertMayWriteMembers } from './member-values.ts'
import type {
  EmptyResult,
  Invocation,
  OperationServices,
  ParameterValues,
  RecordResult,
  Target,
  WriteOperation,
} from './operation.ts'
import { prepareMembers } from './prepare-members.ts'
import { existingKey } from './record-key.ts'
import { requireVersion } from './version.ts'
import { embedWritten } from './written-result.ts'

/** What every change of an association needs. */
export interface MembersInput {
  readonly parent: Json
  readonly association: HasMany | ManyToMany
  readonly populate: readonly Populate[]
}

/**
 * Throws E_NO_SUCH_ROUTE for an association that leads to one record: it has no members; and E_FORBIDDEN where the requester
 * may not write the foreign key.
 */
export function readMembersInput(
  parameters: ParameterValues,
  target: Target,
  services: OperationServices,
): MembersInput {
  const association = assertDefined(target.association, 'a route without its association')
  if (association.kind === 'belongsTo') {
    throw new ServiceError(
      'E_NO_SUCH_ROUTE',
      `"${association.name}" of ${target.model.name} leads to one record and has no members`,
    )
  }
  assertMayWriteMembers(association, target.model, parameters.mayWrite)
  const others = readAnswerPopulate(parameters, target.model, services)
  return {
    parent: existingKey(parameters.record, target.model),
    association,
    populate: populateWhole(others, association.name, target.model, services.limits),
  }
}

/** The records that join and leave, and how many of the new members are created. */
export interface MembersChange extends Pick<MemberWrite, 'add' | 'remove'> {
  readonly created?: number
}

export interface PreparedChange {
  readonly changes: PreparedChanges
}

/** Throws E_NO_SUCH_RECORD for a parent that the requester may not read. */
export async function requireParent(
  { input: { parent }, target: { model } }: Invocation<MembersInput>,
  reads: ScopedReads,
): Promise<void> {
  const found = await reads.find(model, findKey(model, parent))
  if (found.length === 0) throw noSuchRecord(model.name)
}

/** Runs the hooks of the records that join and leave. None runs for a record whose members the requester may not change. */
export async function prepareChange(
  invocation: Invocation<MembersInput>,
  { created = 0, ...change }: MembersChange,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedChange> {
  if (!services.hooks) return { changes: noChanges }
  await requireParent(invocation, reads)
  const { input, requester } = invocation
  const { parent, association } = input
  return { changes: await prepareMembers({ association, parent, ...change }, created, { requester, reads, services }) }
}

/** A change of members, as it is prepared and written. */
interface MembersWork<Prepared extends PreparedChange> {
  readonly change: MembersChange
  readonly prepared: Prepared
  readonly prepareAgain: () => MaybePromise<Prepared>
  /**
   * May return the key of a member that must be in the answer. Returns undefined, and has written nothing, when it must be
   * prepared again.
   */
  readonly write: (context: LinkedWrite, prepared: Prepared) => Promise<{ readonly member?: Json } | undefined>
}

/** Changes the members in one transaction and answers the parent with them, if the requester may read it after that. */
export async function changeMembers<Prepared extends PreparedChange>(
  invocation: Invocation<MembersInput>,
  { change, prepared, prepareAgain, write }: MembersWork<Prepared>,
  store: ScopedStore,
  services: OperationServices,
): Promise<RecordResult | EmptyResult> {
  const { input, target, precondition, origin } = invocation
  const { model } = target
  const { parent, association, populate } = input
  const writeAll = (prepared: Prepared) => async (transaction: ScopedTransaction) => {
    const found = await transaction.find(model, lockKey(model, parent))
    if (found.length === 0) throw noSuchRecord(model.name)
    await requireVersion(model, parent, precondition, transaction, services)
    const current = await memberChanges({ association, parent, ...change }, transaction, services)
    const { changes } = prepared
    return areAllPrepared(current, changes) ? write({ transaction, services, changes }, prepared) : undefined
  }
  const { member } = await writeCurrent(model, prepared, prepareAgain, (prepared) =>
    store.transaction(writeAll(prepared), { origin, isSerializable: prepared.changes.size > 0 }),
  )
  const stored = await store.find(model, findByPrimaryKey(model, parent))
  if (stored.length === 0 && store.reveal) return { kind: 'empty' }
  if (stored.length === 0) throw noSuchRecord(model.name)
  const records = await embedWritten(stored, invocation, store, services, (embedded) =>
    member === undefined ? embedded : withMember(embedded, member, association, store),
  )
  return { kind: 'record', model, records, populate, stored, member }
}

/** `prepare` and `run` of an operation that changes the members of a record without creating one. */
export function changingMembers<Input extends MembersInput>(
  changeOf: (input: Input) => MembersChange,
  write: (input: Input, context: LinkedWrite) => Promise<void>,
): Pick<WriteOperation<Input, RecordResult | EmptyResult, PreparedChange>, 'prepare' | 'run'> {
  const prepare = (invocation: Invocation<Input>, reads: ScopedReads, services: OperationServices) =>
    prepareChange(invocation, changeOf(invocation.input), reads, services)
  return {
    prepare,
    run: (invocation, prepared, store, services) =>
      changeMembers(
        invocation,
        {
          change: changeOf(invocation.input),
          prepared,
          prepareAgain: () => prepare(invocation, store, services),
          async write(context) {
            await write(invocation.input, context)
            return {}
          },
        },
        store,
        services,
      ),
  }
}

/** The largest page of an association may end before the member that was just added; it is then appended. */
async function withMember(
  records: Records,
  member: Json,
  { name, target }: HasMany | ManyToMany,
  store: ScopedStore,
): Promise<Records> {
  const members = records.decode()[0]?.[name] as readonly JsonObject[]
  if (members.some((record) => record[target.primaryKey.name] === member)) return records
  const found = await store.find(target, findByPrimaryKey(target, member))
  const longer = [...members, ...found.decode()]
  return records.embed([{ name, decode: () => longer, encode: () => JSON.stringify(longer) }])
}

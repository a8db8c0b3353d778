import { findByPrimaryKey } from '../../criteria/criteria.ts'
import type { Assignment } from '../../model/assignment.ts'
import type { HookedWrite } from '../../model/hooks.ts'
import { type Attribute, type Model, originalOf } from '../../model/model.ts'
import { type Purpose, validate } from '../../model/validate.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { ScopedReads, ScopedTransaction } from '../../storage/scoped-store.ts'
import type { Transaction } from '../../storage/store.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import type { OperationServices } from '../operation.ts'
import { beforeDestroy, type HookCaller, previousRecord, valuesToWrite } from './before.ts'
import { afterValidation } from './lifecycle.ts'

/*
 * Linked changes: those of records that a write changes besides its own. A reference is set or cleared because a record
 * becomes or ceases to be a member of an association, or because the record that it refers to is destroyed; a record is
 * destroyed with another one; a row is made for a pair of a many-to-many association. The hooks before a write run for each
 * of them, before the transaction. In the transaction they are looked for again: when there is one whose hook did not run,
 * nothing is written and the write is prepared again.
 */

export interface LinkedChange {
  readonly write: HookedWrite
  readonly model: Model
  /** The key of the record; of a new row for a pair, what identifies the member. */
  readonly key: Json
  /** The references that the write sets. Undefined: a value that is known only then. */
  readonly references: ReadonlyMap<Attribute, Json | undefined>
}

interface PreparedChange {
  readonly change: LinkedChange
  /** What the hook made of the values, without the references. */
  readonly assignments: readonly Assignment[]
}

/** The linked changes of one write whose hooks have run. */
export type PreparedChanges = ReadonlyMap<string, PreparedChange>
export const noChanges: PreparedChanges = new Map()

/** A write that changes other records with its own, in its transaction. */
export interface LinkedWrite<Of extends Transaction = ScopedTransaction> {
  readonly transaction: Of
  readonly services: OperationServices
  readonly changes: PreparedChanges
}

/** Whether functions of the application run before these writes of the model. */
export const hasFunctionBefore = (write: HookedWrite, model: Model): boolean => {
  const { hooks } = originalOf(model)
  if (!hooks) return false
  return hooks.before[write] !== undefined || (write !== 'destroy' && hooks.lifecycle.validated?.[write] !== undefined)
}

/** Under the rules of the requester no hook runs for a record that it may not write. Integrity knows no rules. */
export type ChangeScope = 'rules' | 'integrity'

/** Runs the hooks of the changes. Records that do not exist any more are left out. */
export async function prepareChanges(
  changes: readonly LinkedChange[],
  caller: HookCaller,
  scope: ChangeScope,
): Promise<PreparedChanges> {
  if (changes.length === 0) return noChanges
  const prepared = new Map<string, PreparedChange>()
  for (const change of changes) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const assignments = await prepareChange(change, caller, scope)
    if (assignments) prepared.set(idOf(change), { change, assignments })
  }
  return prepared
}

/** Whether the hooks of all changes have run. */
export const areAllPrepared = (changes: readonly LinkedChange[], prepared: PreparedChanges): boolean =>
  changes.every((change) => prepared.has(idOf(change)))

/** What the hook made of one change; undefined when none ran. */
export const preparedAssignments = (
  change: LinkedChange,
  prepared: PreparedChanges,
): readonly Assignment[] | undefined => (prepared.size === 0 ? undefined : prepared.get(idOf(change))?.assignments)

const idOf = ({ write, model, key, references }: LinkedChange): string =>
  JSON.stringify([write, model.name, [...references.keys()].map(({ name }) => name), key])

/** Another request may change records between the preparation of a write and its transaction. */
const maxAttempts = 5

/** Writes what is prepared. `write` returns undefined, and has written nothing, when it must be prepared again. */
export async function writeCurrent<Prepared, Result>(
  { name }: Model,
  prepared: Prepared,
  prepareAgain: () => MaybePromise<Prepared>,
  write: (prepared: Prepared) => Promise<Result | undefined>,
): Promise<Result> {
  let current = prepared
  for (let attempt = 1; ; attempt++) {
    const result = await write(current)
    if (result !== undefined) return result
    if (attempt === maxAttempts) break
    current = await prepareAgain()
  }
  throw new ServiceError('E_UNAVAILABLE', `The ${name} is being changed by other requests`, {
    headers: { 'Retry-After': '1' },
  })
}

async function prepareChange(
  change: LinkedChange,
  caller: HookCaller,
  scope: ChangeScope,
): Promise<readonly Assignment[] | undefined> {
  const { write, model } = change
  if (write === 'create') return assignmentsOf(change, caller, undefined)
  const previous = await unlessMissing(() => previousOf(change, write, caller.reads, scope))
  if (!previous) return undefined
  if (write === 'update') return assignmentsOf(change, caller, previous)
  await beforeDestroy(model, previous, caller)
  return []
}

async function previousOf(
  { model, key }: LinkedChange,
  write: 'update' | 'destroy',
  reads: ScopedReads,
  scope: ChangeScope,
): Promise<JsonObject> {
  if (scope === 'rules') return previousRecord(write, model, key, reads)
  const [stored] = (await (reads.unscoped ?? reads).find(model, findByPrimaryKey(model, key))).decode()
  if (!stored) throw noSuchRecord(model.name)
  return stored
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'E_NO_SUCH_RECORD') return undefined
    throw error
  }
}

/** The values that a hook, the rules and the callbacks of a Sails application make of the references that are written. */
async function assignmentsOf(
  { model, write, references }: LinkedChange,
  caller: HookCaller,
  previous: JsonObject | undefined,
): Promise<readonly Assignment[]> {
  const purpose = write as Purpose
  const known: Assignment[] = []
  const unknown = new Set<Attribute>()
  for (const [attribute, value] of references) {
    if (value === undefined) unknown.add(attribute)
    else known.push({ attribute, value })
  }
  const given = new Map(known.map(({ attribute, value }) => [attribute.name, value]))
  const written = new Map(await valuesToWrite(model, given, purpose, caller, { previous, except: unknown }))
  const fixed = new Set(references.keys())
  for (const { name } of fixed) written.delete(name)
  const validated = await validate(model, written, purpose, caller.services, fixed)
  const assignments = await afterValidation(model, [...known, ...validated], purpose, caller)
  return assignments.filter(({ attribute }) => !fixed.has(attribute))
}

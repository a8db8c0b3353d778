import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import { missingValue, type Purpose, validate } from '../model/validate.ts'
import { type InvalidAttributes, ServiceError, type Violation } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { unchecked } from './check-targets.ts'
import { type HookCaller, hasHookBefore, valuesToWrite } from './hooks/before.ts'
import { afterValidation, hasCallbackAfterValidation, keyOfCallback } from './hooks/lifecycle.ts'
import type { PreparedChanges } from './hooks/linked-changes.ts'
import type { Members } from './member-values.ts'
import type { LaterValue, OperationServices } from './operation.ts'
import { prepareMembers } from './prepare-members.ts'
import { invalidRecord, type ReadValues, type RecordValues } from './record-values.ts'

/** A validated record, with the records to create with it. */
export interface PreparedRecord {
  readonly model: Model
  readonly assignments: readonly Assignment[]
  /** Records to create before it, by the attribute that will refer to them. */
  readonly parents: readonly { readonly attribute: Attribute; readonly record: PreparedRecord }[]
  readonly members: readonly PreparedMembers[]
  /** Values that are known when it is written. Undefined: none. */
  readonly later?: ReadonlyMap<Attribute, LaterValue> | undefined
}

export interface PreparedMembers extends Members {
  readonly created: readonly PreparedRecord[]
  /** The changes of other records that this makes, after their hooks. */
  readonly changes: PreparedChanges
  /** The record whose members they are. Undefined: a new one. */
  readonly parent: Json | undefined
}

export interface PrepareOptions {
  /** The attribute that will refer to a record created before it. */
  readonly reference?: Attribute | undefined
  /** The record before an update, where a hook needs it. */
  readonly previous?: JsonObject | undefined
  /** The key of the record that is updated. */
  readonly key?: Json | undefined
}

/**
 * Runs the hooks of a record and of the new records in it, and validates what they return. Both may run functions of the
 * application, so this precedes the transaction. Throws one E_INVALID_ATTRIBUTES with the violations of all records; those
 * of new records have names such as `pets.0.name`.
 */
export function prepareRecord(
  model: Model,
  values: ReadValues,
  purpose: Purpose,
  caller: HookCaller,
  { reference, previous, key }: PrepareOptions = {},
): MaybePromise<PreparedRecord> {
  const { parents, members, later, refused } = values
  if (refused) return refuse(refused, values, { model, purpose, caller, previous, key, path: '' }, reference)
  if (parents.length === 0 && members.length === 0 && reference === undefined && later === undefined) {
    const assignments = model.hooks
      ? validateWithHooks(model, values.values, purpose, caller, previous)
      : validate(model, values.values, purpose, caller.services)
    return assignments instanceof Promise
      ? assignments.then((assignments) => ({ model, assignments, parents: none, members: none }))
      : { model, assignments, parents: none, members: none }
  }
  assertMayCreateAll(values, caller.reads)
  const invalid: Record<string, readonly Violation[]> = {}
  return prepare(values, { model, purpose, caller, previous, key, invalid, path: '' }, reference).then((prepared) => {
    if (Object.keys(invalid).length > 0) throw invalidRecord(model, invalid)
    return prepared
  })
}

const none: readonly never[] = []

/** A hook may set other values, and does not run for a record that is refused: the values are validated where there is none. */
async function refuse(
  refused: InvalidAttributes,
  { values, parents, later }: RecordValues,
  preparation: Omit<Preparation, 'invalid'>,
  reference: Attribute | undefined,
): Promise<never> {
  const { model, purpose } = preparation
  const invalid = { ...refused }
  const assigned = assignedLater({ parents, later }, reference)
  if (!isHooked(model, purpose)) await validateRecord(values, assigned, { ...preparation, invalid })
  throw invalidRecord(model, invalid)
}

const isHooked = (model: Model, purpose: Purpose): boolean =>
  hasHookBefore(purpose, model) || hasCallbackAfterValidation(purpose, model)

/** Whether hooks may run when a record is prepared, those of new records in it too. */
export const mayRunHooks = (
  model: Model,
  { parents, members }: RecordValues,
  purpose: Purpose,
  { hooks }: OperationServices,
): boolean => hooks !== undefined && (isHooked(model, purpose) || parents.length > 0 || members.length > 0)

/** The hooks of a model run before and after its values are validated. */
const validateWithHooks = (
  model: Model,
  given: ReadonlyMap<string, Json>,
  purpose: Purpose,
  caller: HookCaller,
  previous: JsonObject | undefined,
): MaybePromise<readonly Assignment[]> =>
  andThen(valuesToWrite(model, given, purpose, caller, { previous }), (complete) =>
    validateAround(model, complete, purpose, caller, nothing),
  )

const nothing: ReadonlySet<Attribute> = new Set()

/** Validates values, and runs the callback that follows. */
function validateAround(
  model: Model,
  values: ReadonlyMap<string, Json>,
  purpose: Purpose,
  caller: HookCaller,
  except: ReadonlySet<Attribute>,
): MaybePromise<readonly Assignment[]> {
  const key = keyOfCallback(model, values, purpose)
  if (!key || except.has(key))
    return andThen(validate(model, values, purpose, caller.services, except), (validated) =>
      afterValidation(model, validated, purpose, caller),
    )
  return andThen(validate(model, values, purpose, caller.services, new Set([...except, key])), async (validated) => {
    const complete = await afterValidation(model, validated, purpose, caller)
    if (!complete.some(({ attribute }) => attribute === key)) throw missingValue(model, key)
    return complete
  })
}

/** Whether the record is written by one statement, without others and without checks that the database does not make. */
export const isOneStatement = (
  { parents, members, assignments, later }: PreparedRecord,
  services: OperationServices,
): boolean =>
  parents.length === 0 &&
  members.length === 0 &&
  later === undefined &&
  (services.unenforced.size === 0 || unchecked(assignments, services).length === 0)

interface Preparation {
  readonly model: Model
  readonly purpose: Purpose
  readonly caller: HookCaller
  readonly previous: JsonObject | undefined
  readonly key: Json | undefined
  /** The violations that were found, by their place in the body. */
  readonly invalid: Record<string, readonly Violation[]>
  readonly path: string
}

async function prepare(
  { values, parents, members, later }: RecordValues,
  preparation: Preparation,
  reference: Attribute | undefined,
): Promise<PreparedRecord> {
  const { model, path, caller } = preparation
  const prepared: { attribute: Attribute; record: PreparedRecord }[] = []
  for (const { attribute, model: target, record } of parents) {
    const nested = {
      ...preparation,
      model: target,
      ...asNew,
      path: `${path}${attribute.name}.`,
    } as const
    prepared.push({ attribute, record: await prepare(record, nested, undefined) })
  }
  const assigned = assignedLater({ parents, later }, reference)
  const assignments = await validateRecord(values, assigned, preparation)
  const preparedMembers: PreparedMembers[] = []
  for (const { created, ...item } of members) {
    const { association } = item
    const via = association.kind === 'hasMany' ? association.via : undefined
    const records: PreparedRecord[] = []
    for (const [index, record] of created.entries()) {
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      const nestedPath = `${path}${association.name}.${index}.`
      const nested = {
        ...preparation,
        model: association.target,
        ...asNew,
        path: nestedPath,
      } as const
      records.push(await prepare(record, nested, via))
    }
    const parent = preparation.key
    const changes = await prepareMembers(
      { association, parent, add: item.ids, remove: 'others' },
      created.length,
      caller,
    )
    preparedMembers.push({ ...item, created: records, changes, parent })
  }
  return { model, assignments, parents: prepared, members: preparedMembers, later }
}

/** The attributes whose values are known when the record is written. */
const assignedLater = (
  { parents, later }: Pick<RecordValues, 'parents' | 'later'>,
  reference: Attribute | undefined,
): ReadonlySet<Attribute> =>
  new Set([...parents.map(({ attribute }) => attribute), ...(reference ? [reference] : []), ...(later?.keys() ?? [])])

/** Throws E_FORBIDDEN where the requester may create no records of a model of which there are new ones: no hook runs then. */
function assertMayCreateAll({ parents, members }: RecordValues, reads: ScopedReads): void {
  if (!reads.assertMayCreate) return
  for (const { model, record } of parents) {
    reads.assertMayCreate(model)
    assertMayCreateAll(record, reads)
  }
  for (const { association, created } of members) {
    if (created.length > 0) reads.assertMayCreate(association.target)
    for (const record of created) assertMayCreateAll(record, reads)
  }
}

const asNew = { purpose: 'create', previous: undefined, key: undefined } as const

/**
 * Collects violations, so that those of all records are reported together. `assigned` are the attributes whose values
 * are known when the record is written.
 */
async function validateRecord(
  given: ReadonlyMap<string, Json>,
  assigned: ReadonlySet<Attribute>,
  { model, purpose, caller, previous, invalid, path }: Preparation,
): Promise<readonly Assignment[]> {
  try {
    const written = await valuesToWrite(model, without(assigned, given), purpose, caller, {
      previous,
      except: assigned,
    })
    return await validateAround(model, without(assigned, written), purpose, caller, assigned)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details.invalidAttributes === undefined) throw error
    for (const [name, violations] of Object.entries(error.details.invalidAttributes)) invalid[path + name] = violations
    return []
  }
}

function without(attributes: ReadonlySet<Attribute>, values: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const others = new Map(values)
  for (const { name } of attributes) others.delete(name)
  return others
}

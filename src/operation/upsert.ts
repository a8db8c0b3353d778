import { and, eq, findKey, lockKey, type Populate, primaryKeyEquals } from '../criteria/criteria.ts'
import type { Attribute, Model } from '../model/model.ts'
import { isValueTaken, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads, ScopedStore, ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { checkTargets, unchecked } from './check-targets.ts'
import { readAnswerPopulate } from './find-input.ts'
import { afterWithin } from './hooks/after-within.ts'
import { hasHookBefore, previousRecord } from './hooks/before.ts'
import { afterMembers, assignmentsOf, insertRecord, writeFirstMembers } from './insert-record.ts'
import type { EmptyResult, Invocation, OperationServices, RecordResult, WriteOperation } from './operation.ts'
import { omit, populate, upsert as upsertParameter } from './parameters.ts'
import { hasChanges, isCurrent } from './prepare-members.ts'
import { type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { type ReadValues, readValues } from './record-values.ts'
import { writtenSubscriptions } from './subscriptions.ts'
import { updateRecord } from './update-record.ts'
import { withoutMasked } from './without-masked.ts'
import { writtenResult } from './written-result.ts'

export interface UpsertInput {
  readonly record: ReadValues
  readonly attribute: Attribute
  readonly value: Json
  readonly populate: readonly Populate[]
}

/** The record to update, or to create when no key is given. */
export interface PreparedUpsert {
  readonly id: Json | undefined
  readonly record: PreparedRecord
}

/** Another request may create or delete the record between the lookup and the write. */
const maxAttempts = 5

/** Updates the record with this value of a unique attribute, or creates it. */
export const upsert: WriteOperation<UpsertInput, RecordResult | EmptyResult, PreparedUpsert> = {
  name: 'upsert',
  effect: 'writes',
  routes: [{ method: 'POST', path: '/:model', style: 'rest', when: 'upsert' }],
  parameters: [upsertParameter, populate, omit],

  parse(parameters, { model }, services) {
    const { upsert: name, ...query } = parameters.query
    const attribute = uniqueAttribute(name, model)
    const record = readValues({ ...parameters, query }, model, services, { withKey: true })
    const given = record.values.get(attribute.name) ?? null
    const value = given === null ? undefined : attribute.type.parse(given)
    if (value === undefined)
      throw new ServiceError('E_BAD_REQUEST', `The body must have a value of "${attribute.name}" to look up`, {
        model: model.name,
        attribute: attribute.name,
      })
    return { record, attribute, value, populate: readAnswerPopulate(parameters, model, services) }
  },

  prepare: prepareUpsert,

  /** What was prepared may be outdated: then it is prepared again. */
  async run(invocation, prepared, store, services) {
    const { model } = invocation.target
    let { id, record } = prepared
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      if (attempt > 1) ({ id, record } = await prepareUpsert(invocation, store, services))
      const stored =
        id === undefined
          ? await insertUnlessFound(record, { invocation, store, services })
          : await updateFound(id, record, { invocation, store, services })
      if (!stored) continue
      const current = services.hooks ? await afterWithin(record, stored, store) : stored
      return writtenResult(current, invocation, store, services, id === undefined)
    }
    throw new ServiceError('E_UNAVAILABLE', `The ${model.name} is being changed by other requests`, {
      headers: { 'Retry-After': '1' },
    })
  },

  subscriptions: writtenSubscriptions,
}

function uniqueAttribute(name: Json | undefined, model: Model): Attribute {
  const attribute = typeof name === 'string' ? model.attributes.get(name) : undefined
  if (attribute && !attribute.hidden && (attribute.unique || attribute.isPrimaryKey)) return attribute
  const names = [...model.attributes.values()]
    .filter(({ unique, isPrimaryKey, hidden }) => !hidden && (unique || isPrimaryKey))
    .map(({ name }) => name)
  throw new ServiceError('E_BAD_REQUEST', `"upsert" takes a unique attribute of ${model.name}: ${names.join(' or ')}`, {
    model: model.name,
  })
}

async function prepareUpsert(
  { input, target: { model }, requester, precondition }: Invocation<UpsertInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<PreparedUpsert> {
  const caller = { requester, reads, services }
  const id = await keyWith(input, model, reads)
  if (id === undefined) {
    if (precondition !== undefined && precondition !== 'none')
      throw new ServiceError('E_PRECONDITION_FAILED', `The ${model.name} does not exist`, { model: model.name })
    reads.assertMayCreate?.(model)
    return { id, record: await prepareRecord(model, input.record, 'create', caller) }
  }
  const values = new Map(input.record.values)
  values.delete(model.primaryKey.name)
  const isHooked = hasHookBefore('update', model) || (input.record.members.length > 0 && services.hooks)
  const previous = isHooked ? await previousRecord('update', model, id, reads) : undefined
  const given = await withoutMasked({ ...input.record, values }, model, id, reads)
  return { id, record: await prepareRecord(model, given, 'update', caller, { previous, key: id }) }
}

/** Only a record that the requester may read, with its value, is found. */
async function keyWith({ attribute, value }: UpsertInput, model: Model, reads: ScopedReads): Promise<Json | undefined> {
  const criteria = { ...findKey(model, value), where: eq(attribute, value) }
  return (await reads.find(model, criteria)).values(model.primaryKey)[0]
}

interface Caller {
  readonly invocation: Invocation<UpsertInput>
  readonly store: ScopedStore
  readonly services: OperationServices
}

/** Undefined when the record with the value has come meanwhile, or when it must be prepared again. */
async function insertUnlessFound(record: PreparedRecord, caller: Caller): Promise<Records | undefined> {
  const { invocation, store } = caller
  const isFound = async () => (await keyWith(invocation.input, invocation.target.model, store)) !== undefined
  try {
    if (record.parents.length === 0) {
      const stored = await insertCurrent(record, insertMissing, caller)
      if (stored || (await isFound())) return stored
    } else if (store.isWithin && (await isFound())) return undefined
    // What is taken is another unique value, or the value of a record that the requester may not read: the violation says so.
    return await insertCurrent(record, insertRecord, caller)
  } catch (error) {
    // On PostgreSQL no statement follows an error within a transaction.
    if (!store.isWithin && isTaken(error, invocation.input.attribute) && (await isFound())) return undefined
    throw error
  }
}

function insertCurrent(
  record: PreparedRecord,
  insert: typeof insertMissing,
  { invocation: { origin }, store, services }: Caller,
): Promise<Records | undefined> {
  return store.transaction(
    async (transaction) =>
      (await isCurrent(record, transaction, services)) ? insert(record, transaction, services) : undefined,
    { origin, isSerializable: hasChanges(record) },
  )
}

/** A violation would end the transaction that the operation may be a part of, so the insertion is left out instead. */
async function insertMissing(
  record: PreparedRecord,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<Records | undefined> {
  const { model, members } = record
  const assignments = await assignmentsOf(record, transaction, services)
  await checkTargets(unchecked(assignments, services), model, transaction)
  const stored = await transaction.insertMissing(model, assignments)
  const [key] = stored.values(model.primaryKey)
  if (key === undefined) return undefined
  for (const item of members) await writeFirstMembers(item, key, transaction, services)
  return afterMembers(record, stored, transaction)
}

const isTaken = (error: unknown, { name }: Attribute): boolean =>
  error instanceof ServiceError && (error.code === 'E_CONFLICT' || isValueTaken(error, name))

/** Undefined when the record no longer has the value, or must be prepared again. */
async function updateFound(
  id: Json,
  record: PreparedRecord,
  { invocation, store, services }: Caller,
): Promise<Records | undefined> {
  const { input, target, precondition, origin } = invocation
  const { model } = target
  return store.transaction(
    async (transaction) => {
      await transaction.find(model, lockKey(model, id))
      const isUnchanged = and(primaryKeyEquals(model, id), eq(input.attribute, input.value))
      if ((await transaction.count(model, isUnchanged)) === 0) return undefined
      return updateRecord({ id, record, precondition }, transaction, services)
    },
    { origin, isSerializable: hasChanges(record) },
  )
}

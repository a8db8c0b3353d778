import { type Model, originalOf } from '../model/model.ts'
import { type InvalidAttributes, ServiceError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import { JoinedRecords } from '../storage/joined-records.ts'
import type { ScopedReads, ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { eventLoopTurn } from '../support/event-loop-turn.ts'
import { hasProperties } from '../support/has-properties.ts'
import { runsWithin } from './hooks/after-within.ts'
import { writeCurrent } from './hooks/linked-changes.ts'
import { changesReferencesOf, insertRecord, keyOf, readStored } from './insert-record.ts'
import type { Invocation, JsonResult, OperationServices, RecordsResult, WriteOperation } from './operation.ts'
import { count, omit, populate } from './parameters.ts'
import { hasChanges, isCurrent } from './prepare-members.ts'
import { isOneStatement, mayRunHooks, type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { invalidRecord, type ReadValues, readValues } from './record-values.ts'
import { countResult, manyResult, readManyAnswer } from './selected-records.ts'
import { writtenManySubscriptions } from './subscriptions.ts'
import { embedWithin, embedWritten } from './written-result.ts'

type CreateManyInput = ReturnType<typeof readManyAnswer> & { readonly records: readonly ReadValues[] }

/** New records, from a list. Violations are named by their place in it: `2.name`. */
export const createMany: WriteOperation<CreateManyInput, RecordsResult | JsonResult, readonly PreparedRecord[]> = {
  name: 'createMany',
  effect: 'writes',
  action: 'create',
  routes: [{ method: 'POST', path: '/:model', style: 'rest', when: 'list' }],
  parameters: [count, populate, omit],
  acceptsList: true,

  parse(parameters, { model }, services) {
    const { list = [] } = parameters
    const { maxAffected } = services.limits
    if (list.length > maxAffected)
      throw new ServiceError('E_BAD_REQUEST', `A list of more than ${maxAffected} records`, { limit: 'maxAffected' })
    // A list of a program may have holes.
    const bodies = Array.from(list, (body, index) => {
      if (hasProperties(body)) return body as JsonObject
      throw new ServiceError('E_BAD_BODY', `Item ${index} of the list is not an object of attributes`)
    })
    const records: ReadValues[] = []
    let invalidCount = 0
    for (const body of bodies) {
      const record = readValues({ ...parameters, body }, model, services, {
        withKey: true,
        suggests: invalidCount === 0,
      })
      records.push(record)
      if (record.refused && ++invalidCount === maxInvalid) break
    }
    return { records, ...readManyAnswer(parameters, model, services) }
  },

  prepare: prepareAll,

  async run(invocation, prepared, store, services) {
    const { input, target, origin } = invocation
    const { model } = target
    const { count, populate } = input
    const failing: FailingItem = { index: undefined }
    const insert = (records: readonly PreparedRecord[]) => async (transaction: ScopedTransaction) => {
      if (services.hooks)
        for (const record of records) if (!(await isCurrent(record, transaction, services))) return undefined
      const stored = await insertAll(records, transaction, services, failing)
      if (count) return stored.length
      const shown: Records[] = []
      for (const part of await current(model, records, stored, transaction, services))
        shown.push(transaction.reveal ? await transaction.reveal(model, part) : part)
      const joined = new JoinedRecords(shown)
      return { joined, embedded: await embedWithin(joined, invocation, transaction, services) }
    }
    const prepareAgain = () => prepareAll(invocation, store, services)
    const written = await writeCurrent(model, prepared, prepareAgain, (records) =>
      store.transaction(insert(records), { origin, isSerializable: records.some(hasChanges) }),
    ).catch((error) => Promise.reject(ofItem(error, failing, model)))
    if (typeof written === 'number') return countResult(written, true)
    const { joined, embedded = await embedWritten(joined, invocation, store, services) } = written
    return manyResult(model, embedded, populate, true)
  },

  subscriptions: writtenManySubscriptions,
}

async function prepareAll(
  { input: { records }, target: { model }, requester }: Invocation<CreateManyInput>,
  reads: ScopedReads,
  services: OperationServices,
): Promise<readonly PreparedRecord[]> {
  const prepared: PreparedRecord[] = []
  const invalid: Record<string, InvalidAttributes[string]> = {}
  let invalidCount = 0
  const isRefused = records.some(({ refused }) => refused !== undefined)
  for (const [index, record] of records.entries()) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    // No hook runs for a list that is refused.
    if (isRefused && !record.refused && mayRunHooks(model, record, 'create', services)) continue
    try {
      prepared.push(await prepareRecord(model, record, 'create', { requester, reads, services }))
    } catch (error) {
      Object.assign(invalid, placed(error, index))
      if (++invalidCount === maxInvalid) break
    }
  }
  if (prepared.length < records.length) throw invalidRecord(model, invalid)
  return prepared
}

/** The records after all are written: one may have become a member of a later one, or a hook may have changed it. */
async function current(
  model: Model,
  records: readonly PreparedRecord[],
  stored: readonly Records[],
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<readonly Records[]> {
  if (!records.some((record) => changesReferencesOf(model, record) || (services.hooks && runsWithin(record))))
    return stored
  const found: Records[] = []
  for (const one of stored) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const now = await readStored(originalOf(model), keyOf(one, model), transaction)
    found.push(now.length === 0 ? one : now)
  }
  return found
}

/** Statements that are sent together. On a database within the process all of them are run at once. */
const insertedAtOnce = 100

/** The place of the record whose insert has failed; undefined where another step has. */
interface FailingItem {
  index: number | undefined
}

/** Statements that do not depend on each other are sent without waiting for the answers in between. */
async function insertAll(
  records: readonly PreparedRecord[],
  transaction: ScopedTransaction,
  services: OperationServices,
  failing: FailingItem,
): Promise<readonly Records[]> {
  failing.index = undefined
  if (
    transaction.unscoped === undefined &&
    services.hooks === undefined &&
    records.every((record) => isOneStatement(record, services))
  ) {
    const stored: Records[] = []
    for (const some of chunksOf(records, insertedAtOnce)) {
      const inserts = some.map(async ({ model, assignments }) => transaction.insert(model, assignments))
      try {
        stored.push(...(await Promise.all(inserts)))
      } catch (error) {
        const settled = await Promise.allSettled(inserts)
        failing.index = stored.length + settled.findIndex(({ status }) => status === 'rejected')
        throw error
      }
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    }
    return stored
  }
  const stored: Records[] = []
  for (const [index, record] of records.entries()) {
    failing.index = index
    stored.push(await insertRecord(record, transaction, services))
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  }
  failing.index = undefined
  return stored
}

/** What the database has found in one item, by its names in the list: outside of the rules, which hide some of them. */
function ofItem(error: unknown, { index }: FailingItem, { name }: Model): unknown {
  if (index === undefined || !(error instanceof ServiceError) || error.details.model !== name) return error
  if (error.details.invalidAttributes === undefined) return error
  const invalidAttributes = placed(error, index)
  return new ServiceError(error.code, `Item ${index} of the list: ${error.message}`, {
    ...error.details,
    invalidAttributes,
  })
}

/** The violations of so many records are reported; those of the others after them are not looked for. */
const maxInvalid = 100

/** The violations of one item, by their names in the list. Throws other errors. */
function placed(error: unknown, index: number): InvalidAttributes {
  if (!(error instanceof ServiceError) || error.details.invalidAttributes === undefined) throw error
  return Object.fromEntries(
    Object.entries(error.details.invalidAttributes).map(([name, violations]) => [`${index}.${name}`, violations]),
  )
}

import {
  allAttributes,
  and,
  type Condition,
  idIn,
  orderByPrimaryKey,
  type Populate,
  type Selection,
} from '../criteria/criteria.ts'
import { type Model, originalOf } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { JoinedRecords } from '../storage/joined-records.ts'
import { integrity, type ScopedReads, type ScopedTransaction } from '../storage/scoped-store.ts'
import type { Records } from '../storage/store.ts'
import { forEachChunkInTurns } from '../support/chunks-in-turns.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { constantOf } from './constant-condition.ts'
import { readAnswerPopulate, readCount, readWhere } from './find-input.ts'
import type { JsonResult, OperationServices, ParameterValues, Precondition, RecordsResult } from './operation.ts'
import { count, namesOf, noParameters, omit, populate, transportParameters, where } from './parameters.ts'
import { requireVersion } from './version.ts'

/** What a write of many records asks for: which records, and whether they are answered or counted. */
export interface SelectedInput {
  readonly where: Condition
  readonly count: boolean
  readonly populate: readonly Populate[]
}

export const selectionParameters = [where, count, populate, omit]
const known = namesOf([...selectionParameters, ...transportParameters])

/** Throws E_BAD_REQUEST for a condition that every record fulfils: it is more often a mistake than meant. */
export function readSelected(parameters: ParameterValues, model: Model, services: OperationServices): SelectedInput {
  const { query } = parameters
  const unknown = Object.keys(query).find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new ServiceError(
      'E_BAD_CRITERIA',
      `"${unknown.slice(0, 60)}" has no meaning here: "where" selects the records`,
    )
  const condition = readWhere({ ...parameters, body: noParameters }, model, services.limits)
  if (constantOf(condition) === true)
    throw new ServiceError(
      'E_BAD_REQUEST',
      `"where" selects every ${model.name}; if that is meant, give a condition that all fulfil, such as {"${model.primaryKey.name}":{"!=":null}}`,
      { model: model.name },
    )
  return { where: condition, ...readManyAnswer(parameters, model, services) }
}

export const readManyAnswer = (parameters: ParameterValues, model: Model, services: OperationServices) => ({
  count: readCount(parameters.query[count.name]),
  populate: readAnswerPopulate(parameters, model, services),
})

const keySelections = new WeakMap<Model, Selection>()
const onlyKey = (model: Model): Selection => getOrInsertComputed(keySelections, model, () => [model.primaryKey])

/** The keys of the records that match. Throws E_CONFLICT when there are more than one operation may change. */
export async function selectKeys(
  model: Model,
  condition: Condition,
  reads: ScopedReads,
  { limits: { maxAffected } }: OperationServices,
): Promise<readonly Json[]> {
  const found = await reads.find(model, listOf(model, condition, maxAffected + 1, onlyKey(model)))
  if (found.length > maxAffected)
    throw new ServiceError(
      'E_CONFLICT',
      `The condition matches more than ${maxAffected} records: change them in several requests`,
      { limit: 'maxAffected', model: model.name },
    )
  return found.values(model.primaryKey)
}

/** Those of the keys whose records still match, each in one of the required versions. */
export async function confirmKeys(
  model: Model,
  keys: readonly Json[],
  condition: Condition,
  precondition: Precondition | undefined,
  transaction: ScopedTransaction,
  services: OperationServices,
): Promise<readonly Json[]> {
  const confirmed: Json[] = []
  await forEachChunkInTurns(keys, readAtOnce, async (some) => {
    const found = await transaction.find(
      model,
      listOf(model, and(idIn(model, some), condition), some.length, onlyKey(model)),
    )
    confirmed.push(...found.values(model.primaryKey))
  })
  const original = originalOf(model)
  await integrity(transaction).requireAffectable?.(original, idIn(original, confirmed))
  if (precondition !== undefined && precondition !== '*')
    for (const key of confirmed) await requireVersion(model, key, precondition, transaction, services)
  return confirmed
}

/** The records with these keys, which are read in parts. */
export async function readRecords(
  model: Model,
  keys: readonly Json[],
  transaction: ScopedTransaction,
): Promise<Records> {
  const parts: Records[] = []
  await forEachChunkInTurns(keys, readAtOnce, async (some) => {
    parts.push(await transaction.find(model, listOf(model, idIn(model, some), some.length, allAttributes(model))))
  })
  return new JoinedRecords(parts)
}

/** Keys of one statement, which may evaluate a costly condition: on a database within the process it runs in one turn of the event loop. */
const readAtOnce = 100

const listOf = (model: Model, condition: Condition, limit: number, select: Selection) => ({
  where: condition,
  sort: orderByPrimaryKey(model),
  limit,
  skip: 0,
  select,
})

/** The answer to a write of many records. */
export const manyResult = (
  model: Model,
  records: Records,
  embedded: readonly Populate[],
  created = false,
): RecordsResult => ({ kind: 'records', model, records, populate: embedded, created })

export const countResult = (value: number, created = false): JsonResult => ({
  kind: 'json',
  value: { count: value },
  created,
})

import { allAttributes, findByPrimaryKey, type Populate, type Selection } from '../criteria/criteria.ts'
import { withForeignKeys } from '../criteria/parse-populate.ts'
import { parseSelect } from '../criteria/parse-select.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { boundedReads } from '../storage/byte-budget.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { ReadOptions, Records } from '../storage/store.ts'
import type { Limits } from '../support/limits.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { embed } from './embed.ts'
import { readPopulate } from './find-input.ts'
import type { Invocation, OperationServices, ParameterValues, RecordResult, Target } from './operation.ts'
import { noParameters, omit, parameterValue, select as selectParameter } from './parameters.ts'
import { existingKey } from './record-key.ts'

/** What is shown of one record. */
export interface RecordProjection {
  readonly select: Selection
  readonly populate: readonly Populate[]
  /** Whether all attributes are selected, so that the version of the record is known. */
  readonly isWhole: boolean
}

/** One record by its key, and what is shown of it. */
export interface RecordInput extends RecordProjection {
  readonly id: Json
}

export function parseRecordInput(
  parameters: ParameterValues,
  { model }: Target,
  { limits }: OperationServices,
): RecordInput {
  const { select, populate, isWhole } = readProjection(parameters, model, limits)
  const { record } = parameters
  const id = (record === undefined ? undefined : model.primaryKey.type.parse(record)) ?? existingKey(record, model)
  return { id, select, populate, isWhole }
}

/** By model, with every association embedded and with none. */
const plainProjections = { true: new WeakMap<Model, RecordProjection>(), false: new WeakMap<Model, RecordProjection>() }

/** A request without parameters asks for the same of every record, which is parsed once for each model. */
export function readProjection(parameters: ParameterValues, model: Model, limits: Limits): RecordProjection {
  const { query, body, populates } = parameters
  if (query !== noParameters || body !== noParameters) return parseProjection(parameters, model, limits)
  const plain = plainProjections[`${populates}`]
  const known = plain.get(model)
  if (known) return known
  const projection = parseProjection(parameters, model, limits)
  plain.set(model, projection)
  return projection
}

function parseProjection(parameters: ParameterValues, model: Model, limits: Limits): RecordProjection {
  const populate = readPopulate(parameters, model, limits)
  const named = parseSelect(
    parameterValue(parameters, selectParameter),
    parameterValue(parameters, omit),
    model,
    limits,
  )
  const select = withForeignKeys(named, model, populate)
  return { select, populate, isWhole: select === allAttributes(model) }
}

/** Reads one record. Throws E_NO_SUCH_RECORD. */
export function fetchOne(
  { input, target: { model }, client }: Pick<Invocation<RecordInput>, 'input' | 'target' | 'client'>,
  reads: ScopedReads,
  { limits }: OperationServices,
): MaybePromise<RecordResult> {
  const { id, select, populate } = input
  // A store bounds one record by itself, with less to do.
  const options = populate.length === 0 ? client : boundedReads(client, limits.maxAnswerBytes)
  const found = reads.findByKey
    ? reads.findByKey(model, id, select, options)
    : reads.find(model, findByPrimaryKey(model, id, select), options)
  if (found instanceof Promise) return found.then((found) => shown(found, input, model, reads, options))
  return shown(found, input, model, reads, options)
}

function shown(
  found: Records,
  { populate, isWhole }: RecordProjection,
  model: Model,
  reads: ScopedReads,
  options: ReadOptions | undefined,
): MaybePromise<RecordResult> {
  if (found.length === 0) throw noSuchRecord(model.name)
  const stored = isWhole ? found : undefined
  if (populate.length === 0) return { kind: 'record', model, records: found, populate, stored }
  const complete = (records: Records): RecordResult => ({ kind: 'record', model, records, populate, stored })
  return andThen(embed(found, populate, reads, options), complete)
}

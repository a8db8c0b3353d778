import type { Model, Models } from '../../model/model.ts'
import { type FindInput, readFind } from '../../operation/find-input.ts'
import type { OperationServices } from '../../operation/operation.ts'
import { operationNamed } from '../../operation/operations.ts'
import { count, limit, noParameters, omit, populate, select, skip, sort, where } from '../../operation/parameters.ts'
import { parseKey } from '../../operation/record-key.ts'
import type { RecordId } from '../../protocol/change.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { forEachInTurns } from '../../support/event-loop-turn.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import { type Authorization, assertAllowed } from '../dispatch/authorize.ts'
import { decodeResumePosition, type ResumePosition } from './resume-position.ts'

/** A query of a stream, as it was asked for. */
export interface NamedQuery {
  readonly name: string
  /** As the requester may see it. */
  readonly view: Model
  readonly input: FindInput
  readonly held: HeldList | undefined
}

/** What the client holds already: the keys of its rows in their order, as they were at a position. */
export interface HeldList {
  readonly after: ResumePosition
  readonly ids: readonly RecordId[]
}

const maxNameLength = 64

export interface QueryContext {
  readonly authorization: Authorization
  readonly models: Models
  readonly services: OperationServices
}

/**
 * In several turns of the event loop: a hundred queries with long conditions take a tenth of a second. Throws a ServiceError that
 * names the query.
 */
export function readQueries(raw: Json | undefined, context: QueryContext): MaybePromise<readonly NamedQuery[]> {
  if (raw === undefined) return []
  if (!isJsonObject(raw)) throw new ServiceError('E_BAD_BODY', 'The queries must be an object: a name for each query')
  const queries: NamedQuery[] = []
  const read = ([name, query]: [string, Json | undefined]) => queries.push(readQuery(name, query, context))
  return andThen(forEachInTurns(Object.entries(raw), read), () => queries)
}

function readQuery(name: string, raw: Json | undefined, context: QueryContext): NamedQuery {
  if (name === '' || name.length > maxNameLength)
    throw new ServiceError('E_BAD_REQUEST', `The name of a query has 1 to ${maxNameLength} characters`, { query: name })
  try {
    return { name, ...queryOf(raw, context) }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const message = `Query ${JSON.stringify(name)}: ${error.message}`
    throw new ServiceError(error.code, message, { ...error.details, query: name })
  }
}

function queryOf(raw: Json | undefined, { authorization, models, services }: QueryContext): Omit<NamedQuery, 'name'> {
  if (!isJsonObject(raw)) throw new ServiceError('E_BAD_BODY', 'A query must be an object')
  const { model: modelName, after, ids, ...options } = raw
  const model = typeof modelName === 'string' ? models.get(modelName) : undefined
  if (!model || model.isJunction)
    throw new ServiceError('E_BAD_REQUEST', `There is no model ${JSON.stringify(modelName ?? null)}`)
  const { view, input } = liveFind(options, model, authorization, services)
  return { view, input, held: readHeld(after, ids, view, services.limits.maxLimit) }
}

const optionNames: ReadonlySet<string> = new Set(
  [where, sort, limit, skip, select, omit, populate, count].map(({ name }) => name),
)

/** Associations are embedded only where they are named. */
export function liveFind(
  options: JsonObject,
  model: Model,
  { access }: Authorization,
  services: OperationServices,
): { readonly view: Model; readonly input: FindInput } {
  const unknown = Object.keys(options).find((name) => !optionNames.has(name))
  if (unknown !== undefined) throw new ServiceError('E_BAD_CRITERIA', `A live query has no option "${unknown}"`)
  if (access) assertAllowed(operationNamed('find'), { model }, access)
  const view = access ? access.views.of(model) : model
  const body = { where: {}, ...options }
  return { view, input: readFind({ style: 'rest', query: noParameters, body, populates: false }, view, services) }
}

function readHeld(after: Json | undefined, ids: Json | undefined, model: Model, maxIds: number): HeldList | undefined {
  if (after === undefined && ids === undefined) return undefined
  if (typeof after !== 'string' || !Array.isArray(ids))
    throw new ServiceError('E_BAD_REQUEST', '"after" is a position, and "ids" the list of the keys that are held')
  if (ids.length > maxIds)
    throw new ServiceError('E_BAD_REQUEST', `"ids" has more than ${maxIds} keys`, { limit: 'maxLimit' })
  const keys = ids.map((id) => parseKey(id, model) as RecordId)
  if (new Set(keys).size < keys.length) throw new ServiceError('E_BAD_REQUEST', '"ids" names a key twice')
  return { after: decodeResumePosition(after), ids: keys }
}

const maxOperations = 1_000

/** The tokens of operations whose passing a client waits for. */
export function readOperations(raw: Json = []): readonly string[] {
  const isList = Array.isArray(raw) && raw.length <= maxOperations
  if (isList && raw.every((token) => typeof token === 'string' && token.length <= 64)) return raw as readonly string[]
  throw new ServiceError('E_BAD_BODY', `"operations" is a list of at most ${maxOperations} tokens`)
}

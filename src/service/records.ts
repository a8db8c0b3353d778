import { parseWhere } from '../criteria/parse-where.ts'
import type { Model } from '../model/model.ts'
import type { Operation, Outcome, Parameters } from '../operation/operation.ts'
import { type OperationName, operations } from '../operation/operations.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { type Pipeline, perform } from './handle.ts'
import type { Match } from './route.ts'

export interface LoosePage {
  readonly data: readonly JsonObject[]
  /** To be given as `cursor` for the next page; null on the last. */
  readonly next: string | null
  /** Present when `count` was asked for. */
  readonly total?: number
}

/** One model's records, for code in the same process. The types are laid over it by the public entry. */
export interface LooseRecords {
  find(options?: JsonObject): Promise<LoosePage>
  findOne(id: Json, options?: JsonObject): Promise<JsonObject | undefined>
  count(options?: { readonly where?: Json }): Promise<number>
  create(values: JsonObject): Promise<JsonObject>
  update(id: Json, values: JsonObject): Promise<JsonObject>
  destroy(id: Json): Promise<JsonObject>
}

/** The same operations as over the wire, on the same path: only the parsing of bytes is missing. */
export function recordsOf(pipeline: Pipeline, model: Model): LooseRecords {
  const run = async (name: OperationName, given: Given): Promise<Outcome> => {
    const operation = operations[name] as Operation
    const record = keyText(given.id, model)
    const parameters: Parameters = {
      style: 'rest',
      record,
      query: nothing,
      body: given.body ?? nothing,
      populates: false,
    }
    const match: Match = {
      operation,
      style: 'rest',
      served: true,
      model,
      record: undefined,
      association: undefined,
      child: undefined,
    }
    const input = operation.parse(parameters, match, pipeline.context)
    return perform(pipeline, match, input, nobody)
  }
  return {
    find: async (options = {}) => {
      const { records, next, total } = await run('find', { body: { ...options, where: options.where ?? {} } })
      return { data: records.decode(), next: next ?? null, ...(total !== undefined && { total }) }
    },
    findOne: async (id, options = {}) => {
      try {
        return (await run('findOne', { id, body: options })).records.decode()[0]
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'E_NO_SUCH_RECORD') return undefined
        throw error
      }
    },
    count: async ({ where = {} } = {}) =>
      pipeline.store.count(model, parseWhere(where, model, pipeline.context.limits)),
    create: async (values) => first(await run('create', { body: values })),
    update: async (id, values) => first(await run('update', { id, body: values })),
    destroy: async (id) => first(await run('destroy', { id })),
  }
}

interface Given {
  readonly id?: Json
  readonly body?: JsonObject
}

/** No transport, so nobody to be left out of what is told. */
const nobody = Object.freeze({})
const nothing: JsonObject = Object.freeze({})

function keyText(id: Json | undefined, model: Model): string | number | undefined {
  if (id === undefined || typeof id === 'string' || typeof id === 'number') return id
  throw new ServiceError('E_BAD_REQUEST', `The id of a ${model.name} is ${model.primaryKey.type.noun}`)
}

const first = ({ records }: Outcome): JsonObject => records.decode()[0] as JsonObject

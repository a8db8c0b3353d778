import type { Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import { type Json, type JsonObject } from '../protocol/json.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import type { Parameters } from '../operation/operation.ts'
import { type OperationName, operations } from '../operation/operations.ts'
import type { Operation } from '../operation/operation.ts'
import { type Pipeline, perform } from './handle.ts'

/** One model's records, for code in the same process. The types are laid over it by the public entry. */
export interface LooseRecords {
  find(options?: JsonObject): Promise<{ readonly data: readonly JsonObject[] }>
  findOne(id: Json, options?: JsonObject): Promise<JsonObject | undefined>
  count(options?: { readonly where?: Json }): Promise<number>
  create(values: JsonObject): Promise<JsonObject>
  update(id: Json, values: JsonObject): Promise<JsonObject>
  destroy(id: Json): Promise<JsonObject>
}

/** The same operations as over the wire, on the same path: only the parsing of bytes is missing. */
export function recordsOf(pipeline: Pipeline, model: Model): LooseRecords {
  const run = async (name: OperationName, given: Given): Promise<readonly JsonObject[]> => {
    const operation = operations[name] as Operation
    const parameters: Parameters = { style: 'rest', record: keyText(given.id, model), query: nothing, body: given.body ?? nothing }
    const match = { operation, style: 'rest', served: true, model, record: undefined } as const
    const input = operation.parse(parameters, match, pipeline.context)
    return (await perform(pipeline, match, input, undefined)).records.decode()
  }
  return {
    find: async (options = {}) => ({ data: await run('find', { body: { ...options, where: options['where'] ?? {} } }) }),
    findOne: async (id, options = {}) => {
      try {
        return (await run('findOne', { id, body: options }))[0]
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'E_NO_SUCH_RECORD') return undefined
        throw error
      }
    },
    count: async ({ where = {} } = {}) => pipeline.store.count(model, parseWhere(where, model, pipeline.context.limits)),
    create: async (values) => first(await run('create', { body: values }), model),
    update: async (id, values) => first(await run('update', { id, body: values }), model),
    destroy: async (id) => first(await run('destroy', { id }), model),
  }
}

interface Given {
  readonly id?: Json
  readonly body?: JsonObject
}

const nothing: JsonObject = Object.freeze({})

function keyText(id: Json | undefined, model: Model): string | number | undefined {
  if (id === undefined || typeof id === 'string' || typeof id === 'number') return id
  throw new ServiceError('E_BAD_REQUEST', `The id of a ${model.name} is ${model.primaryKey.type.noun}`)
}

function first(records: readonly JsonObject[], model: Model): JsonObject {
  const [record] = records
  if (!record) throw noSuchRecord(model.name)
  return record
}

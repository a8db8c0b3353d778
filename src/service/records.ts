import { parseWhere } from '../criteria/parse-where.ts'
import type { Association, Model } from '../model/model.ts'
import type { Operation, Outcome, Parameters } from '../operation/operation.ts'
import { type OperationName, operations } from '../operation/operations.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { type Pipeline, perform } from './handle.ts'
import { type LooseLiveEvents, type LooseLiveOptions, liveRecords } from './live-records.ts'
import type { Match } from './route.ts'

export interface LoosePage {
  readonly data: readonly JsonObject[]
  readonly next: string | null
  readonly total?: number
}

/** One model's records, for code in the same process. The public entry lays types over it, and they say what is promised. */
export interface LooseRecords {
  find(options?: JsonObject): Promise<LoosePage>
  findOne(id: Json, options?: JsonObject): Promise<JsonObject | undefined>
  count(options?: JsonObject): Promise<number>
  create(values: JsonObject): Promise<JsonObject>
  update(id: Json, values: JsonObject): Promise<JsonObject>
  destroy(id: Json): Promise<JsonObject>
  related(id: Json, association: string, options?: JsonObject): Promise<LoosePage | JsonObject | undefined>
  add(id: Json, association: string, member: Json): Promise<JsonObject>
  remove(id: Json, association: string, member: Json): Promise<JsonObject>
  replace(id: Json, association: string, members: readonly Json[]): Promise<JsonObject>
  live(options?: LooseLiveOptions): LooseLiveEvents
}

/** The same operations as over the wire, on the same path: only the parsing of bytes is missing. */
export function recordsOf(pipeline: Pipeline, model: Model): LooseRecords {
  const run = async (name: OperationName, { association, ...given }: Given): Promise<Outcome> => {
    const operation = operations[name] as Operation
    const parameters: Parameters = { style: 'rest', query: nothing, body: nothing, populates: false, ...given }
    const named = { model, association, record: undefined, child: undefined }
    const match: Match = { operation, style: 'rest', served: true, ...named }
    return perform(pipeline, match, operation.parse(parameters, match, pipeline.context), nobody)
  }
  const of = (id: Json) => ({ record: keyOf(id, model) })
  const within = (id: Json, name: string) => ({ ...of(id), association: associationNamed(name, model) })
  const member = (id: Json, name: string, child: Json) => {
    const given = within(id, name)
    return { ...given, child: keyOf(child, given.association.target) }
  }
  return {
    find: async (options) => page(await run('find', { body: listing(options) })),
    findOne: (id, options = {}) => ifAny(async () => run('findOne', { ...of(id), body: only(showWords, options) })),
    count: async (options = {}) => {
      const { where = {} } = only(['where'], options)
      return pipeline.store.count(model, parseWhere(where, model, pipeline.context.limits))
    },
    create: async (values) => first(await run('create', { body: values })),
    update: async (id, values) => first(await run('update', { ...of(id), body: values })),
    destroy: async (id) => first(await run('destroy', of(id))),
    related: async (id, name, options = {}) => {
      const given = within(id, name)
      if (given.association.kind !== 'belongsTo')
        return page(await run('populate', { ...given, body: listing(options) }))
      return ifAny(() => run('populate', { ...given, body: only(showWords, options) }))
    },
    add: async (id, name, child) => first(await run('add', member(id, name, child))),
    remove: async (id, name, child) => first(await run('remove', member(id, name, child))),
    replace: async (id, name, list) => first(await run('replace', { ...within(id, name), list })),
    live: (options = {}) => liveRecords(pipeline.lives, model, pipeline.context.limits, options),
  }
}

/** What a call adds to what is the same for all. */
interface Given extends Partial<Parameters> {
  readonly association?: Association
}

/** No transport, so nobody to be left out of what is told. */
const nobody = Object.freeze({})
const nothing: JsonObject = Object.freeze({})

const showWords = ['select', 'omit', 'populate']
const listWords = [...showWords, 'where', 'sort', 'limit', 'skip', 'cursor', 'count']

/** There is always a `where`: without it, names that say nothing about the answer would be attributes. */
const listing = ({ where = {}, ...others }: JsonObject = {}): JsonObject => only(listWords, { ...others, where })

/** An option that does not exist is refused: ignored, it would answer more than was asked for. */
function only(words: readonly string[], options: JsonObject): JsonObject {
  const unknown = Object.keys(options).find((word) => !words.includes(word))
  if (unknown !== undefined) throw new ServiceError('E_BAD_CRITERIA', `There is no option "${unknown}" here`)
  return options
}

function keyOf(id: Json, { name, primaryKey }: Model): string | number {
  if (typeof id === 'string' || typeof id === 'number') return id
  throw new ServiceError('E_BAD_REQUEST', `The id of a ${name} is ${primaryKey.type.noun}`, { model: name })
}

function associationNamed(name: string, model: Model): Association {
  const association = model.associations.get(name)
  if (association) return association
  throw new ServiceError('E_BAD_REQUEST', `${model.name} has no association "${name}"`, { model: model.name })
}

const page = ({ records, next, total }: Outcome): LoosePage => ({
  data: records.decode(),
  next: next ?? null,
  ...(total !== undefined && { total }),
})

const first = ({ records }: Outcome): JsonObject => records.decode()[0] as JsonObject

async function ifAny(ask: () => Promise<Outcome>): Promise<JsonObject | undefined> {
  try {
    return first(await ask())
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'E_NO_SUCH_RECORD') return undefined
    throw error
  }
}

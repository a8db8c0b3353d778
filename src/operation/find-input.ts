import { type Criteria, everything, type Populate } from '../criteria/criteria.ts'
import { parsePage } from '../criteria/parse-page.ts'
import { pageOf, parsePopulate, populateAll, withKeys } from '../criteria/parse-populate.ts'
import { omittedAssociations, parseSelect } from '../criteria/parse-select.ts'
import { parseSort } from '../criteria/parse-sort.ts'
import { parseWhere } from '../criteria/parse-where.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { entry } from '../support/entry.ts'
import type { Limits } from '../support/limits.ts'
import { openCursor } from './cursor.ts'
import { type Context, type Parameters, parameter } from './operation.ts'
import { reserved } from './reserved.ts'

/** A list, as it was asked for. */
export interface FindInput {
  readonly criteria: Criteria
  readonly populate: readonly Populate[]
  readonly count: boolean
}

export function readFind(parameters: Parameters, model: Model, { limits, secret }: Context): FindInput {
  const get = (name: string) => parameter(parameters, name)
  const sort = parseSort(get('sort'), model, limits)
  const page = parsePage(get('limit'), get('skip'), limits)
  const cursor = get('cursor')
  if (cursor !== undefined && page.skip > 0)
    throw new ServiceError('E_BAD_CRITERIA', '"cursor" and "skip" cannot be given together')
  const populate = readPopulate(parameters, model, limits, page.limit)
  return {
    criteria: {
      where: readWhere(parameters, model, limits),
      sort,
      ...page,
      select: withKeys(parseSelect(get('select'), get('omit'), model), model, populate),
      after: cursor === undefined ? undefined : openCursor(cursor, model, sort, secret),
    },
    populate,
    count: readCount(get('count')),
  }
}

/** What is to be embedded. The whole of every association is the ordinary case, and is made once for each model. */
export function readPopulate(
  parameters: Parameters,
  model: Model,
  limits: Limits,
  within: number,
): readonly Populate[] {
  const populate = parameter(parameters, 'populate')
  if (populate !== undefined && populate !== '') return parsePopulate(populate, model, limits, within)
  if (!parameters.populates) return none
  const every = everyAssociation(model, limits)
  const omitted = omittedAssociations(parameter(parameters, 'omit'), model)
  return omitted.size === 0 ? every : every.filter(({ association }) => !omitted.has(association))
}

const none: readonly Populate[] = []
const everyone = new WeakMap<Model, readonly Populate[]>()

function everyAssociation(model: Model, limits: Limits): readonly Populate[] {
  return entry(everyone, model, () => populateAll(model, limits))
}

/** Every association but this one, which is embedded as far as an answer goes. */
export const populateWhole = (
  populate: readonly Populate[],
  name: string,
  model: Model,
  limits: Limits,
): readonly Populate[] => {
  const association = model.associations.get(name)
  if (!association) return populate
  const whole = { association, criteria: pageOf(association.target, limits.maxLimit), populate: [] }
  return [...populate.filter((item) => item.association !== association), whole]
}

/** `where`, used instead of the attributes; or else every name that says nothing about the answer is an attribute. */
function readWhere(parameters: Parameters, model: Model, limits: Limits) {
  const where = parameter(parameters, 'where')
  if (where !== undefined) return parseWhere(typeof where === 'string' ? parseJson(where) : where, model, limits)
  const { query, body } = parameters
  const filter: Record<string, Json> = Object.create(null)
  for (const source of [query, body]) {
    for (const name of Object.keys(source)) if (!reserved.has(name)) filter[name] = source[name] as Json
  }
  return Object.keys(filter).length === 0 ? everything : parseWhere(filter, model, limits)
}

function readCount(raw: Json | undefined): boolean {
  if (raw === undefined || raw === 'false' || raw === false) return false
  if (raw === 'true' || raw === true) return true
  throw new ServiceError('E_BAD_CRITERIA', '"count" is true or false')
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('E_BAD_CRITERIA', '"where" is not valid JSON')
  }
}

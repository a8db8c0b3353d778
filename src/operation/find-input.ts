import { CostBudget } from '../criteria/cost-budget.ts'
import { type Condition, type Criteria, matchAll, type Populate } from '../criteria/criteria.ts'
import { parsePage } from '../criteria/parse-page.ts'
import {
  type ParsePopulateOptions,
  pageOf,
  parsePopulate,
  populateAll,
  withForeignKeys,
} from '../criteria/parse-populate.ts'
import { omittedAssociations, parseSelect } from '../criteria/parse-select.ts'
import { parseSort } from '../criteria/parse-sort.ts'
import { type ParseWhereOptions, parseWhere } from '../criteria/parse-where.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { jsonInText } from '../protocol/json-size.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Limits } from '../support/limits.ts'
import { assertBoundTo } from './bound-cursor.ts'
import { decodeCursor } from './cursor.ts'
import type { OperationServices, ParameterValues } from './operation.ts'
import {
  count,
  cursor,
  isCountFlag,
  isFilter,
  limit,
  noParameters,
  omit,
  parameterValue,
  populate,
  select,
  skip,
  sort,
  where,
} from './parameters.ts'

/** A list, as it was asked for. */
export interface FindInput {
  readonly criteria: Criteria
  readonly populate: readonly Populate[]
  readonly count: boolean
}

export function readFind(parameters: ParameterValues, model: Model, services: OperationServices): FindInput {
  const parse = (operands?: Json[]) => parseFind(parameters, model, services, operands)
  return services.shapes ? services.shapes.read(parameters, model, services.limits, parse) : parse()
}

function parseFind(
  parameters: ParameterValues,
  model: Model,
  { limits, cursors }: OperationServices,
  operands: Json[] | undefined,
): FindInput {
  const budget = new CostBudget(limits)
  const order = parseSort(parameterValue(parameters, sort), model, limits, budget)
  const page = parsePage(parameterValue(parameters, limit), parameterValue(parameters, skip), limits)
  const place = parameterValue(parameters, cursor)
  assertBoundTo(parameters, place)
  if (place !== undefined && page.skip > 0)
    throw new ServiceError('E_BAD_CRITERIA', '"cursor" and "skip" cannot be given together')
  const embedded = readPopulate(parameters, model, limits, { budget })
  return {
    criteria: {
      where: readWhere(parameters, model, limits, { budget, operands }),
      sort: order,
      ...page,
      ...(place === undefined ? { after: undefined } : decodeCursor(place, model, order, cursors)),
      select: withForeignKeys(
        parseSelect(parameterValue(parameters, select), parameterValue(parameters, omit), model, limits),
        model,
        embedded,
      ),
    },
    populate: embedded,
    count: readCount(parameterValue(parameters, count), model),
  }
}

/** What is to be embedded. Every association is the ordinary case, which is made once for each model. */
export function readPopulate(
  parameters: ParameterValues,
  model: Model,
  limits: Limits,
  options: ParsePopulateOptions = {},
): readonly Populate[] {
  const given = parameterValue(parameters, populate)
  if (given !== undefined && given !== '') return parsePopulate(given, model, limits, options)
  if (!parameters.populates) return none
  const every = everyAssociation(model, limits)
  const omitted = omittedAssociations(parameterValue(parameters, omit), model, limits)
  return omitted.size === 0 ? every : every.filter(({ association }) => !omitted.has(association))
}

/** What the answer of a write embeds: its body holds values, so only the query string is read. */
export const readAnswerPopulate = (
  parameters: ParameterValues,
  model: Model,
  { limits }: OperationServices,
): readonly Populate[] => {
  if (parameters.query !== noParameters)
    return readPopulate({ ...parameters, body: noParameters }, model, limits, { within: 1 })
  return parameters.populates ? everyAssociation(model, limits) : none
}

const none: readonly Populate[] = []
const populateOfModel = new WeakMap<Model, readonly Populate[]>()

function everyAssociation(model: Model, limits: Limits): readonly Populate[] {
  return getOrInsertComputed(populateOfModel, model, () => populateAll(model, limits))
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

/** `where`, used instead of filters by attribute; without it, every name that is no parameter is an attribute. */
export function readWhere(
  parameters: ParameterValues,
  model: Model,
  limits: Limits,
  options?: ParseWhereOptions,
): Condition {
  const given = parameterValue(parameters, where)
  if (isGivenTwice(given))
    throw new ServiceError('E_BAD_CRITERIA', '"where" is given more than once: combine conditions by {"and":[…]}')
  if (given !== undefined)
    return parseWhere(typeof given === 'string' ? parseJson(given, limits) : given, model, limits, options)
  const { query, body } = parameters
  const filter: Record<string, Json> = Object.create(null)
  for (const source of [query, body]) {
    for (const name of Object.keys(source)) if (isFilter(name, source[name], model)) filter[name] = source[name] as Json
  }
  return Object.keys(filter).length === 0 ? matchAll : parseWhere(filter, model, limits, options)
}

/** A list of keys is a condition; conditions as texts are two parameters of a query string. */
const isGivenTwice = (given: Json | undefined): boolean =>
  Array.isArray(given) && given.some((item) => typeof item === 'string' && item.trimStart().startsWith('{'))

/** With a model, another value may be a filter by its attribute `count`. */
export function readCount(raw: Json | undefined, model?: Model): boolean {
  if (raw === 'true' || raw === true) return true
  if (isCountFlag(raw) || (model && isFilter(count.name, raw, model))) return false
  throw new ServiceError('E_BAD_CRITERIA', '"count" is true or false')
}

function parseJson(text: string, limits: Limits): Json {
  const value = jsonInText(text, limits)
  if (value === undefined) throw new ServiceError('E_BAD_CRITERIA', '"where" is not valid JSON')
  return value
}

import type { Association, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { jsonInText } from '../protocol/json-size.ts'
import type { Limits } from '../support/limits.ts'
import { nearest } from '../support/nearest.ts'
import { CostBudget, costs } from './cost-budget.ts'
import { allAttributes, type Criteria, matchAll, orderByPrimaryKey, type Populate, type Selection } from './criteria.ts'
import { parsePage } from './parse-page.ts'
import { namesIn, parseSelect } from './parse-select.ts'
import { parseSort } from './parse-sort.ts'
import { parseWhere } from './parse-where.ts'

export interface ParsePopulateOptions {
  /**
   * For a write: the number of records that the associations are embedded in. The largest possible number of embedded records is
   * then checked before the write, which must not fail after its commit.
   */
  readonly within?: number | undefined
  /** Shared with the other parts of the request. Default: a budget of its own. */
  readonly budget?: CostBudget | undefined
  /** The level of nesting; 1 for the associations of the records themselves. */
  readonly depth?: number
}

/**
 * Parses `populate`: `false`, names, or an object of names and options:
 * `{ pets: { where, sort, limit, skip, select, omit, populate } }`. Reads count the embedded records while they are read.
 * Throws E_BAD_CRITERIA.
 */
export function parsePopulate(
  raw: Json,
  model: Model,
  limits: Limits,
  { within, budget = new CostBudget(limits), depth = 1 }: ParsePopulateOptions,
): readonly Populate[] {
  if (raw === false || raw === 'false') return []
  if (depth > limits.maxPopulateDepth) {
    throw bad(`"populate" is nested deeper than ${limits.maxPopulateDepth} levels`, 'maxPopulateDepth')
  }
  return Object.entries(requested(raw, limits)).map(([name, options]) => {
    const association = model.associations.get(name)
    if (!association) throw bad(`${model.name} has no association "${name.slice(0, 60)}"${suggestion(name, model)}`)
    budget.spend(costs.populate)
    const criteria = parseOptions(options, association, limits, budget)
    const embedded = within && within * (association.kind === 'belongsTo' ? 1 : criteria.limit)
    if (embedded !== undefined && embedded > limits.maxPopulated)
      throw bad(`"populate" of a write may embed at most ${limits.maxPopulated} records`, 'maxPopulated')
    const nested = options.populate
    const populate =
      nested === undefined
        ? []
        : parsePopulate(nested, association.target, limits, { within: embedded, budget, depth: depth + 1 })
    return {
      association,
      criteria: {
        ...criteria,
        select: withForeignKeys(criteria.select, association.target, populate),
        maxRows: limits.maxPopulated + 1,
      },
      populate,
    }
  })
}

/** Every association, each with a page of the default size. */
export const populateAll = (model: Model, limits: Limits): readonly Populate[] =>
  [...model.associations.values()].map((association) => ({
    association,
    criteria: pageOf(association.target, association.kind === 'belongsTo' ? 1 : limits.defaultLimit),
    populate: [],
  }))

export const pageOf = (model: Model, limit: number): Criteria => ({
  where: matchAll,
  sort: orderByPrimaryKey(model),
  limit,
  skip: 0,
  select: allAttributes(model),
})

/** The selection with the foreign keys that the to-one associations of `populate` need. */
export function withForeignKeys(select: Selection, model: Model, populate: readonly Populate[]): Selection {
  const needed = populate.flatMap(({ association }) =>
    association.kind === 'belongsTo' ? [association.foreignKey] : [],
  )
  if (needed.every((attribute) => select.includes(attribute))) return select
  return allAttributes(model).filter((attribute) => select.includes(attribute) || needed.includes(attribute))
}

const optionNames = ['where', 'sort', 'limit', 'skip', 'select', 'omit', 'populate']

function requested(raw: Json, limits: Limits): Readonly<Record<string, JsonObject>> {
  if (typeof raw === 'string' && raw.startsWith('{')) return requested(parseJson(raw, limits), limits)
  if (isJsonObject(raw)) {
    return Object.fromEntries(
      Object.entries(raw).map(([name, options]) => [
        name,
        isJsonObject(options) ? options : optionsOfFlag(name, options),
      ]),
    )
  }
  const names = namesIn(raw, 'populate', limits)
  if (!Array.isArray(names) || names.length === 0) throw bad('"populate" must be names of associations, or false')
  return Object.fromEntries(
    names.map((item) => {
      const name = typeof item === 'string' ? item.trim() : ''
      if (name === '') throw bad('"populate" must be names of associations separated by commas')
      return [name, {}]
    }),
  )
}

function optionsOfFlag(name: string, options: Json): JsonObject {
  if (options === true || options === 'true') return {}
  throw bad(`"populate": the options of "${name.slice(0, 60)}" must be an object`)
}

function parseOptions(
  options: JsonObject,
  { target, kind }: Association,
  limits: Limits,
  budget: CostBudget,
): Criteria {
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name)) throw bad(`"populate" has no option "${name.slice(0, 60)}"`)
  }
  const get = (name: string) => (Object.hasOwn(options, name) ? options[name] : undefined)
  const where = get('where')
  const page = parsePage(get('limit'), get('skip'), limits)
  return {
    where:
      where === undefined
        ? matchAll
        : parseWhere(typeof where === 'string' ? parseJson(where, limits) : where, target, limits, { budget }),
    sort: parseSort(get('sort'), target, limits, budget),
    ...(kind === 'belongsTo' ? { limit: 1, skip: 0 } : page),
    select: parseSelect(get('select'), get('omit'), target, limits),
  }
}

function parseJson(text: string, limits: Limits): Json {
  const value = jsonInText(text, limits)
  if (value === undefined) throw bad('"populate" is not valid JSON')
  return value
}

const bad = (message: string, limit?: string): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, limit === undefined ? {} : { limit })

/** The association that an unknown name was probably meant to be, as the end of a message. */
function suggestion(name: string, { associations }: Model): string {
  const near = nearest(name.slice(0, 60), [...associations.keys()])
  return near === undefined ? '' : `; did you mean "${near}"?`
}

import type { Association, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'
import { allOf, byKey, type Criteria, everything, type Populate, type Selection } from './criteria.ts'
import { parsePage } from './parse-page.ts'
import { parseSelect } from './parse-select.ts'
import { parseSort } from './parse-sort.ts'
import { parseWhere } from './parse-where.ts'

/**
 * Which associations an answer embeds: `false`, names, or an object of names and what is wanted of each:
 * `{ pets: { where, sort, limit, skip, select, omit, populate } }`. `within` is how many records they are embedded in
 * at most, so that the size of an answer is bounded before anything is read.
 */
export function parsePopulate(raw: Json, model: Model, limits: Limits, within: number, depth = 1): readonly Populate[] {
  if (raw === false || raw === 'false') return []
  if (depth > limits.maxPopulateDepth) {
    throw bad(`"populate" goes deeper than ${limits.maxPopulateDepth} levels`, 'maxPopulateDepth')
  }
  return Object.entries(wanted(raw)).map(([name, options]) => {
    const association = model.associations.get(name)
    if (!association) throw bad(`${model.name} has no association "${name.slice(0, 60)}"`)
    const criteria = parseOptions(options, association, limits)
    const embedded = within * (association.kind === 'belongsTo' ? 1 : criteria.limit)
    if (embedded > limits.maxPopulated)
      throw bad(`"populate" may embed ${limits.maxPopulated} records: ask for fewer`, 'maxPopulated')
    const nested = options.populate
    const populate = nested === undefined ? [] : parsePopulate(nested, association.target, limits, embedded, depth + 1)
    return {
      association,
      criteria: { ...criteria, select: withKeys(criteria.select, association.target, populate) },
      populate,
    }
  })
}

/** Every association, each with a page of the ordinary size. */
export const populateAll = (model: Model, limits: Limits): readonly Populate[] =>
  [...model.associations.values()].map((association) => ({
    association,
    criteria: pageOf(association.target, association.kind === 'belongsTo' ? 1 : limits.defaultLimit),
    populate: [],
  }))

export const pageOf = (model: Model, limit: number): Criteria => ({
  where: everything,
  sort: byKey(model),
  limit,
  skip: 0,
  select: allOf(model),
})

/** What must be fetched so that the associations can be: the foreign keys of those that are embedded in their place. */
export function withKeys(select: Selection, model: Model, populate: readonly Populate[]): Selection {
  const needed = populate.flatMap(({ association }) =>
    association.kind === 'belongsTo' ? [association.foreignKey] : [],
  )
  if (needed.every((attribute) => select.includes(attribute))) return select
  return allOf(model).filter((attribute) => select.includes(attribute) || needed.includes(attribute))
}

const known = ['where', 'sort', 'limit', 'skip', 'select', 'omit', 'populate']

function wanted(raw: Json): Readonly<Record<string, JsonObject>> {
  if (typeof raw === 'string' && raw.startsWith('{')) return wanted(parseJson(raw))
  if (isJsonObject(raw)) {
    return Object.fromEntries(
      Object.entries(raw).map(([name, options]) => [name, isJsonObject(options) ? options : plain(name, options)]),
    )
  }
  const names = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(names) || names.length === 0) throw bad('"populate" takes names of associations, or false')
  return Object.fromEntries(
    names.map((item) => {
      const name = typeof item === 'string' ? item.trim() : ''
      if (name === '') throw bad('"populate" takes names of associations, with a comma between them')
      return [name, {}]
    }),
  )
}

function plain(name: string, options: Json): JsonObject {
  if (options === true || options === 'true') return {}
  throw bad(`"populate" takes an object of options for "${name.slice(0, 60)}"`)
}

function parseOptions(options: JsonObject, { target, kind }: Association, limits: Limits): Criteria {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw bad(`"populate" does not know the option "${name.slice(0, 60)}"`)
  }
  const get = (name: string) => (Object.hasOwn(options, name) ? options[name] : undefined)
  const where = get('where')
  const page = parsePage(get('limit'), get('skip'), limits)
  return {
    where:
      where === undefined
        ? everything
        : parseWhere(typeof where === 'string' ? parseJson(where) : where, target, limits),
    sort: parseSort(get('sort'), target, limits),
    ...(kind === 'belongsTo' ? { limit: 1, skip: 0 } : page),
    select: parseSelect(get('select'), get('omit'), target),
  }
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('"populate" is not valid JSON')
  }
}

const bad = (message: string, limit?: string): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, limit === undefined ? {} : { limit })

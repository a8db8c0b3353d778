import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { jsonInText } from '../protocol/json-size.ts'
import type { Limits } from '../support/limits.ts'
import { CostBudget, costs } from './cost-budget.ts'
import { orderByPrimaryKey, type Sort } from './criteria.ts'
import { attributeNamed, storedOrExpression } from './parse-where.ts'

const bad = (message: string): ServiceError => new ServiceError('E_BAD_CRITERIA', message)

/**
 * Parses `name`, `name DESC`, `age DESC, name`, a list of those or of `{ age: 'DESC' }`, or an object
 * `{ age: -1, name: 1 }` (or 0 instead of -1), also as JSON text. The result is a total order: the primary key breaks ties.
 * Throws E_BAD_CRITERIA.
 */
export function parseSort(
  raw: Json | undefined,
  model: Model,
  limits: Limits,
  budget = new CostBudget(limits),
): readonly Sort[] {
  if (raw === undefined) return orderByPrimaryKey(model)
  const sorts = terms(raw, limits).map(([name, direction]): Sort => {
    const sort = resolveName(name, model)
    const { type, stored } = sort.attribute
    if (!type.ordered) throw bad(`Cannot sort by "${name}": it is ${type.noun}, which has no order`)
    if (stored.isUnordered)
      throw bad(`Cannot sort by "${name}": the database has no comparisons for the type of its column`)
    budget.spend(sort.through ? costs.relatedSort : costs.node)
    return { ...sort, direction: parseDirection(direction, name) }
  })
  if (sorts.length > limits.maxSortKeys) {
    throw new ServiceError('E_BAD_CRITERIA', `"sort" may name at most ${limits.maxSortKeys} attributes`, {
      limit: 'maxSortKeys',
    })
  }
  const names = new Set(sorts.map(nameOf))
  if (names.size < sorts.length) throw bad('"sort" names an attribute twice')
  return [...sorts, ...orderByPrimaryKey(model).filter((sort) => !names.has(nameOf(sort)))]
}

/** `-name`, `name:desc` and `name.desc`, as other systems write it. The message names what the requester may know. */
function assertNotOtherNotation(text: string, { attributes }: Model): void {
  const [, sign, after, before, direction = ''] = /^(?:([-+])(.+)|(.+)[:.|](asc|desc))$/is.exec(text) ?? []
  const name = after ?? before
  if (name === undefined || attributes.has(text) || attributes.get(name)?.hidden !== false) return
  throw bad(`"sort" is written "${name} ${sign === '-' ? 'DESC' : sign === '+' ? 'ASC' : direction.toUpperCase()}"`)
}

/** The name in the notation of the parameter: `name` or `owner.name`. */
export const nameOf = ({ attribute, through }: Sort): string =>
  through ? `${through.name}.${attribute.name}` : attribute.name

/** `name`, or `owner.name` for an attribute of the record that the to-one association `owner` refers to. */
function resolveName(name: string, model: Model): Omit<Sort, 'direction'> {
  const dot = name.indexOf('.')
  const through = dot === -1 ? undefined : model.associations.get(name.slice(0, dot))
  if (through?.kind !== 'belongsTo') {
    assertNotOtherNotation(name, model)
    return { attribute: storedOrExpression(attributeNamed(model, name)) }
  }
  return { attribute: storedOrExpression(attributeNamed(through.target, name.slice(dot + 1))), through }
}

type Term = readonly [name: string, direction: Json]

/** The terms of the parameter. A text or a list is read only up to one term more than the limit, which the caller refuses. */
function terms(raw: Json, limits: Limits): readonly Term[] {
  const most = limits.maxSortKeys + 1
  if (typeof raw === 'string')
    return raw.startsWith('[') || raw.startsWith('{')
      ? terms(parseJson(raw, limits), limits)
      : raw.split(',', most).map(term)
  if (Array.isArray(raw))
    return raw.slice(0, most).map((item) => (typeof item === 'string' ? term(item) : singleTerm(item)))
  if (isJsonObject(raw)) return Object.entries(raw).map(([name, direction]) => [name, numberOf(direction)])
  throw bad('"sort" must be an attribute and a direction')
}

function term(text: string): Term {
  const words = text.trim().split(/\s+/, 3)
  if (words.length > 2 || words[0] === '')
    throw bad('"sort" must be an attribute and a direction, for example "name DESC"')
  return [words[0] as string, words[1] ?? 'asc']
}

function singleTerm(item: Json): Term {
  const entries = isJsonObject(item) ? Object.entries(item) : []
  if (entries.length !== 1) throw bad('Each item of "sort" must name one attribute')
  return entries[0] as Term
}

/** In a query string (`sort[age]=-1`) the direction is a text. */
const numberOf = (direction: Json): Json =>
  direction === '1' || direction === '0' || direction === '-1' ? Number(direction) : direction

/** Sails 0.x sorts by 1 and 0. */
const directions: ReadonlyMap<Json, 'asc' | 'desc'> = new Map<Json, 'asc' | 'desc'>([
  ['asc', 'asc'],
  [1, 'asc'],
  ['desc', 'desc'],
  [-1, 'desc'],
  [0, 'desc'],
])

function parseDirection(raw: Json, name: string): 'asc' | 'desc' {
  const direction = directions.get(typeof raw === 'string' ? raw.toLowerCase() : raw)
  if (direction !== undefined) return direction
  throw bad(`The sort direction of "${name}" must be ASC or DESC`)
}

function parseJson(text: string, limits: Limits): Json {
  const value = jsonInText(text, limits)
  if (value === undefined) throw bad('"sort" is not valid JSON')
  return value
}

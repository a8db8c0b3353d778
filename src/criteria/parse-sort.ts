import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'
import { byKey, type Sort } from './criteria.ts'
import { attributeNamed } from './parse-where.ts'

const bad = (message: string): ServiceError => new ServiceError('E_BAD_CRITERIA', message)

/**
 * `name`, `name DESC`, `age DESC, name`, a list of those or of `{ age: 'DESC' }`, or one object of `{ age: -1, name: 1 }`;
 * as JSON text too. The order that comes back is total: the primary key breaks the ties.
 */
export function parseSort(raw: Json | undefined, model: Model, limits: Limits): readonly Sort[] {
  if (raw === undefined) return byKey(model)
  const sorts = terms(raw).map(([name, direction]): Sort => {
    const sort = named(name, model)
    const { type } = sort.attribute
    if (!type.ordered) throw bad(`"${name}" holds ${type.noun}, which has no order`)
    return { ...sort, direction: parseDirection(direction, name) }
  })
  if (sorts.length > limits.maxSortKeys) {
    throw new ServiceError('E_BAD_CRITERIA', `"sort" takes at most ${limits.maxSortKeys} attributes`, {
      limit: 'maxSortKeys',
    })
  }
  const names = new Set(sorts.map(nameOf))
  if (names.size < sorts.length) throw bad('"sort" names an attribute twice')
  return [...sorts, ...byKey(model).filter((sort) => !names.has(nameOf(sort)))]
}

/** As a client writes it. */
export const nameOf = ({ attribute, through }: Sort): string =>
  through ? `${through.name}.${attribute.name}` : attribute.name

/** `name`, or `owner.name` for the attribute of the one a record points to. */
function named(name: string, model: Model): Omit<Sort, 'direction'> {
  const dot = name.indexOf('.')
  const through = dot === -1 ? undefined : model.associations.get(name.slice(0, dot))
  if (through?.kind !== 'belongsTo') return { attribute: attributeNamed(model, name) }
  return { attribute: attributeNamed(through.target, name.slice(dot + 1)), through }
}

type Term = readonly [name: string, direction: Json]

function terms(raw: Json): readonly Term[] {
  if (typeof raw === 'string')
    return raw.startsWith('[') || raw.startsWith('{') ? terms(parseJson(raw)) : raw.split(',').map(term)
  if (Array.isArray(raw)) return raw.map((item) => (typeof item === 'string' ? term(item) : only(item)))
  if (isJsonObject(raw)) return Object.entries(raw)
  throw bad('"sort" takes an attribute and a direction')
}

function term(text: string): Term {
  const words = text.trim().split(/\s+/)
  if (words.length > 2 || words[0] === '') throw bad('"sort" takes an attribute and a direction, as in "name DESC"')
  return [words[0] as string, words[1] ?? 'asc']
}

function only(item: Json): Term {
  const entries = isJsonObject(item) ? Object.entries(item) : []
  if (entries.length !== 1) throw bad('Each item of "sort" names one attribute')
  return entries[0] as Term
}

function parseDirection(raw: Json, name: string): 'asc' | 'desc' {
  if (raw === 1 || raw === -1) return raw === 1 ? 'asc' : 'desc'
  const word = typeof raw === 'string' ? raw.toLowerCase() : ''
  if (word === 'asc' || word === 'desc') return word
  throw bad(`The direction of "${name}" is ASC or DESC`)
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw bad('"sort" is not valid JSON')
  }
}

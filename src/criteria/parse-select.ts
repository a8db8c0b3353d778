import { type Association, attributeOf, type Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'
import { allAttributes, type Selection } from './criteria.ts'
import { attributeNamed } from './parse-where.ts'

/**
 * Parses `select=name,age` or `omit=bio`, texts or lists. `omit` may also name associations. The primary key is always
 * selected, and `select` has precedence over `omit`. Throws E_BAD_CRITERIA.
 */
export function parseSelect(select: Json | undefined, omit: Json | undefined, model: Model, limits: Limits): Selection {
  if (select !== undefined) {
    const selected = names(select, 'select', limits)
    if (selected.length === 1 && selected[0] === '*') return allAttributes(model)
    const wanted = new Set(selected.map((name) => attributeNamed(model, name)))
    return allAttributes(model).filter((attribute) => attribute.isPrimaryKey || wanted.has(attribute))
  }
  if (omit !== undefined) {
    const attributes = names(omit, 'omit', limits).filter(
      (name) => attributeOf(model, name) || !model.associations.has(name),
    )
    const omitted = new Set(attributes.map((name) => attributeNamed(model, name)))
    if (omitted.has(model.primaryKey)) throw bad('The primary key cannot be omitted')
    return allAttributes(model).filter((attribute) => !omitted.has(attribute))
  }
  return allAttributes(model)
}

/** The associations named in `omit`. */
export function omittedAssociations(omit: Json | undefined, model: Model, limits: Limits): ReadonlySet<Association> {
  if (omit === undefined) return new Set()
  return new Set(names(omit, 'omit', limits).flatMap((name) => model.associations.get(name) ?? []))
}

function names(raw: Json, parameter: string, limits: Limits): readonly string[] {
  const list = namesIn(raw, parameter, limits)
  if (!Array.isArray(list) || list.length === 0) throw bad(`"${parameter}" must be names of attributes`)
  return list.map((item) => {
    const name = typeof item === 'string' ? item.trim() : ''
    if (name === '') throw bad(`"${parameter}" must be names of attributes separated by commas`)
    return name
  })
}

/** The items of a list of names, or of a text of names with commas; other values unchanged. Throws E_BAD_CRITERIA for too many. */
export function namesIn(raw: Json, parameter: string, { maxParameters }: Limits): Json {
  // Splitting stops one name past the limit.
  const list = typeof raw === 'string' ? raw.split(',', maxParameters + 1) : raw
  if (Array.isArray(list) && list.length > maxParameters)
    throw new ServiceError('E_BAD_CRITERIA', `"${parameter}" has more than ${maxParameters} names`, {
      limit: 'maxParameters',
    })
  return list
}

const bad = (message: string): ServiceError => new ServiceError('E_BAD_CRITERIA', message)

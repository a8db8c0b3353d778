import { type Association, attributeOf, type Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { allAttributes, type Selection } from './criteria.ts'
import { attributeNamed } from './parse-where.ts'

/**
 * Parses `select=name,age` or `omit=bio`, texts or lists. `omit` may also name associations. The primary key is always
 * selected, and `select` has precedence over `omit`. Throws E_BAD_CRITERIA.
 */
export function parseSelect(select: Json | undefined, omit: Json | undefined, model: Model): Selection {
  if (select !== undefined) {
    const selected = names(select, 'select')
    if (selected.length === 1 && selected[0] === '*') return allAttributes(model)
    const wanted = new Set(selected.map((name) => attributeNamed(model, name)))
    return allAttributes(model).filter((attribute) => attribute.isPrimaryKey || wanted.has(attribute))
  }
  if (omit !== undefined) {
    const attributes = names(omit, 'omit').filter((name) => attributeOf(model, name) || !model.associations.has(name))
    const omitted = new Set(attributes.map((name) => attributeNamed(model, name)))
    if (omitted.has(model.primaryKey)) throw bad('The primary key cannot be omitted')
    return allAttributes(model).filter((attribute) => !omitted.has(attribute))
  }
  return allAttributes(model)
}

/** The associations named in `omit`. */
export function omittedAssociations(omit: Json | undefined, model: Model): ReadonlySet<Association> {
  if (omit === undefined) return new Set()
  return new Set(names(omit, 'omit').flatMap((name) => model.associations.get(name) ?? []))
}

function names(raw: Json, parameter: string): readonly string[] {
  const list = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(list) || list.length === 0) throw bad(`"${parameter}" must be names of attributes`)
  return list.map((item) => {
    const name = typeof item === 'string' ? item.trim() : ''
    if (name === '') throw bad(`"${parameter}" must be names of attributes separated by commas`)
    return name
  })
}

const bad = (message: string): ServiceError => new ServiceError('E_BAD_CRITERIA', message)

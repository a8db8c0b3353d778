import type { Association, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { allOf, type Selection } from './criteria.ts'
import { attributeNamed } from './parse-where.ts'

/** `select=name,age` or `omit=bio`; as a list too. `omit` may name associations as well. The primary key is always there, and `select` wins over `omit`. */
export function parseSelect(select: Json | undefined, omit: Json | undefined, model: Model): Selection {
  if (select !== undefined) {
    const chosen = names(select, 'select')
    if (chosen.length === 1 && chosen[0] === '*') return allOf(model)
    const wanted = new Set(chosen.map((name) => attributeNamed(model, name)))
    return allOf(model).filter((attribute) => attribute.isPrimaryKey || wanted.has(attribute))
  }
  if (omit !== undefined) {
    const given = names(omit, 'omit').filter((name) => model.attributes.has(name) || !model.associations.has(name))
    const unwanted = new Set(given.map((name) => attributeNamed(model, name)))
    if (unwanted.has(model.primaryKey)) throw bad('The primary key cannot be omitted')
    return allOf(model).filter((attribute) => !unwanted.has(attribute))
  }
  return allOf(model)
}

/** The associations that need not be embedded, because they are named in `omit`. */
export function omittedAssociations(omit: Json | undefined, model: Model): ReadonlySet<Association> {
  if (omit === undefined) return new Set()
  return new Set(names(omit, 'omit').flatMap((name) => model.associations.get(name) ?? []))
}

function names(raw: Json, parameter: string): readonly string[] {
  const list = typeof raw === 'string' ? raw.split(',') : raw
  if (!Array.isArray(list) || list.length === 0) throw bad(`"${parameter}" takes names of attributes`)
  return list.map((item) => {
    const name = typeof item === 'string' ? item.trim() : ''
    if (name === '') throw bad(`"${parameter}" takes names of attributes, with a comma between them`)
    return name
  })
}

const bad = (message: string): ServiceError => new ServiceError('E_BAD_CRITERIA', message)

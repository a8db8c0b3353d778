import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import { allOf, type Selection } from './criteria.ts'
import { attributeNamed } from './parse-where.ts'

/** `select=name,age` or `omit=bio`; as a list too. The primary key is always there, and `select` wins over `omit`. */
export function parseSelect(select: Json | undefined, omit: Json | undefined, model: Model): Selection {
  if (select !== undefined) {
    const chosen = names(select, 'select')
    if (chosen.length === 1 && chosen[0] === '*') return allOf(model)
    const wanted = new Set(chosen.map((name) => attributeNamed(model, name)))
    return allOf(model).filter((attribute) => attribute.isPrimaryKey || wanted.has(attribute))
  }
  if (omit !== undefined) {
    const unwanted = new Set(names(omit, 'omit').map((name) => attributeNamed(model, name)))
    if (unwanted.has(model.primaryKey)) throw bad('The primary key cannot be omitted')
    return allOf(model).filter((attribute) => !unwanted.has(attribute))
  }
  return allOf(model)
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

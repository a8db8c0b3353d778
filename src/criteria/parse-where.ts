import type { Association, Attribute, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'
import type { Comparison, Condition } from './criteria.ts'
import type { Modifier } from './modifier.ts'
import { equals } from './modifiers/equals.ts'
import { isIn, notIn } from './modifiers/in.ts'
import { notEquals } from './modifiers/not-equals.ts'
import { modifierNamed } from './modifiers.ts'

/**
 * A condition as somebody wrote it, resolved against the model. A bare key, or a list of keys, asks for those records.
 * Throws E_BAD_CRITERIA naming what is wrong, before any statement is built.
 */
export function parseWhere(raw: Json, model: Model, limits: Limits): Condition {
  if (typeof raw === 'string' || typeof raw === 'number') return compare(model.primaryKey, equals, raw, limits)
  if (Array.isArray(raw)) return compare(model.primaryKey, isIn, raw, limits)
  if (!isJsonObject(raw)) throw bad('"where" takes an object')
  return new WhereParser(limits).object(raw, model, 1)
}

class WhereParser {
  readonly #limits: Limits
  #comparisons = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  object(raw: JsonObject, model: Model, depth: number): Condition {
    if (depth > this.#limits.maxDepth) {
      throw bad(`"where" is nested deeper than ${this.#limits.maxDepth} levels`, { limit: 'maxDepth' })
    }
    const conditions: Condition[] = []
    for (const name of Object.keys(raw)) conditions.push(this.#member(name, raw[name] as Json, model, depth))
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'and', conditions }
  }

  #member(name: string, raw: Json, model: Model, depth: number): Condition {
    if (name === 'and' || name === 'or') {
      if (!Array.isArray(raw) || !raw.every(isJsonObject)) throw bad(`"${name}" takes a list of conditions`)
      return { kind: name, conditions: raw.map((item) => this.object(item as JsonObject, model, depth + 1)) }
    }
    if (name === 'not') {
      if (!isJsonObject(raw)) throw bad('"not" takes a condition')
      return { kind: 'not', condition: this.object(raw, model, depth + 1) }
    }
    const association = model.associations.get(name)
    if (association && isJsonObject(raw) && !(association.kind === 'belongsTo' && compares(raw))) {
      return this.#related(association, raw, depth)
    }
    return this.#comparison(attributeNamed(model, name), raw)
  }

  #related(association: Association, raw: JsonObject, depth: number): Condition {
    return { kind: 'related', association, condition: this.object(raw, association.target, depth + 1) }
  }

  #comparison(attribute: Attribute, raw: Json): Condition {
    if (!isJsonObject(raw)) return this.#one(attribute, Array.isArray(raw) ? isIn : equals, raw)
    const names = Object.keys(raw)
    if (names.length === 0) throw bad(`"${attribute.name}" is compared with nothing`, { attribute: attribute.name })
    const conditions = names.map((name) => {
      const modifier = modifierNamed(name)
      if (!modifier) {
        throw bad(`"${attribute.name}" cannot be compared by "${clip(name)}"`, { attribute: attribute.name })
      }
      const operand = raw[name] as Json
      return this.#one(attribute, modifier === notEquals && Array.isArray(operand) ? notIn : modifier, operand)
    })
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'and', conditions }
  }

  #one(attribute: Attribute, modifier: Modifier, raw: Json): Comparison {
    if (++this.#comparisons > this.#limits.maxConditions) {
      throw bad(`"where" holds more than ${this.#limits.maxConditions} comparisons`, { limit: 'maxConditions' })
    }
    return compare(attribute, modifier, raw, this.#limits)
  }
}

/** `{ owner: { '!=': 3 } }` compares the key; `{ owner: { city: 'Oslo' } }` asks about the owner. */
function compares(raw: JsonObject): boolean {
  const names = Object.keys(raw)
  return names.length > 0 && names.every((name) => modifierNamed(name) && !isJsonObject(raw[name]))
}

const compare = (attribute: Attribute, modifier: Modifier, raw: Json, limits: Limits): Comparison => ({
  kind: 'compare',
  attribute,
  modifier,
  operand: modifier.parse(raw, attribute, limits),
})

/** The attribute a client named. Throws E_BAD_CRITERIA when the model has none of this name. */
export function attributeNamed(model: Model, name: string): Attribute {
  const attribute = model.attributes.get(name)
  if (attribute) return attribute
  if (model.associations.has(name))
    throw bad(`"${name}" of ${model.name} holds many records and no value`, { attribute: name })
  throw bad(`${model.name} has no attribute "${clip(name)}"`, { attribute: clip(name) })
}

const bad = (message: string, details: { attribute?: string; limit?: string } = {}): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, details)

const clip = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name)

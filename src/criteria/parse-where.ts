import { type Association, type Attribute, attributeOf, type BelongsTo, type Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { beginsLikeJson, jsonInText } from '../protocol/json-size.ts'
import type { Limits } from '../support/limits.ts'
import { CostBudget, costs } from './cost-budget.ts'
import type { Comparison, Condition } from './criteria.ts'
import type { Operator } from './operator.ts'
import { equals } from './operators/equals.ts'
import { isIn, notIn } from './operators/in.ts'
import { notEquals } from './operators/not-equals.ts'
import { sameJson } from './operators/same-json.ts'
import { operatorNamed, operatorSuggestion } from './operators.ts'
import { suggestion } from './unknown-attribute.ts'

export interface ParseWhereOptions {
  /** Shared with the other parts of the request. Default: a budget of its own. */
  readonly budget?: CostBudget | undefined
  /** Receives the operand of each comparison as it was sent, in the order of the tree. */
  readonly operands?: Json[] | undefined
}

/**
 * Parses a `where` and resolves its names. A bare key or a list of keys selects those records. Sails 0.x also has text
 * operators in front of attributes: `{ like: { name: 'R%' } }`. Throws E_BAD_CRITERIA, before
 * any statement is built.
 */
export function parseWhere(
  raw: Json,
  model: Model,
  limits: Limits,
  { budget = new CostBudget(limits), operands }: ParseWhereOptions = {},
): Condition {
  const isList = Array.isArray(raw)
  if (isList || typeof raw === 'string' || typeof raw === 'number') {
    operands?.push(raw)
    return compare(model.primaryKey, isList ? isIn : equals, raw, limits)
  }
  if (!isJsonObject(raw)) throw bad('"where" must be an object')
  return new WhereParser(limits, budget, namesOfRequests, operands).object(raw, model, 1)
}

/** As `parseWhere`, for a condition of the application: it may compare hidden attributes, and lead through them. */
export const parseOwnWhere = (raw: JsonObject, model: Model, limits: Limits): Condition =>
  new WhereParser(limits, new CostBudget(limits), allNames).object(raw, model, 1)

/** What the names in a condition may stand for. */
interface Names {
  attribute(model: Model, name: string): Attribute
  association(model: Model, name: string): Association | undefined
}

const namesOfRequests: Names = {
  attribute: attributeNamed,
  association: (model, name) => model.associations.get(name),
}

const allNames: Names = {
  attribute: (model, name) => attributeOf(model, name) ?? attributeNamed(model, name),
  association: (model, name) => model.associations.get(name) ?? hiddenAssociation(model, name),
}

function hiddenAssociation(model: Model, name: string): BelongsTo | undefined {
  const foreignKey = model.attributes.get(name)
  return foreignKey?.references && { kind: 'belongsTo', name, target: foreignKey.references, foreignKey }
}

class WhereParser {
  readonly #limits: Limits
  readonly #budget: CostBudget
  readonly #names: Names
  readonly #operands: Json[] | undefined

  constructor(limits: Limits, budget: CostBudget, names: Names, operands?: Json[]) {
    this.#limits = limits
    this.#budget = budget
    this.#names = names
    this.#operands = operands
  }

  object(raw: JsonObject, model: Model, depth: number): Condition {
    if (depth > this.#limits.maxDepth) {
      throw bad(`"where" is nested deeper than ${this.#limits.maxDepth} levels`, { limit: 'maxDepth' })
    }
    const names = Object.keys(raw)
    if (names.length !== 1) this.#budget.spend(costs.node)
    const conditions = names.map((name) => this.#member(name, raw[name] as Json, model, depth))
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'and', conditions }
  }

  #member(name: string, given: Json, model: Model, depth: number): Condition {
    const raw = combinations.includes(name) ? fromText(given, this.#limits) : given
    if (name === 'and' || name === 'or') {
      this.#budget.spend(costs.node)
      if (!Array.isArray(raw) || !raw.every(isJsonObject)) throw bad(`"${name}" must be a list of conditions`)
      return { kind: name, conditions: raw.map((item) => this.object(item as JsonObject, model, depth + 1)) }
    }
    if (name === 'not') {
      this.#budget.spend(costs.node)
      if (!isJsonObject(raw)) throw bad('"not" must be a condition')
      return { kind: 'not', condition: this.object(raw, model, depth + 1) }
    }
    const operator = attributeOf(model, name) || model.associations.has(name) ? undefined : operatorNamed(name)
    const texts = operator?.isText ? fromText(raw, this.#limits) : undefined
    if (isJsonObject(texts)) {
      const byAttribute = Object.entries(texts).map(([attribute, operand]) => [attribute, { [name]: operand }])
      return this.object(Object.fromEntries(byAttribute), model, depth + 1)
    }
    const association = this.#names.association(model, name)
    if (association && isJsonObject(raw) && !(association.kind === 'belongsTo' && isComparison(raw))) {
      return this.#related(association, raw, depth)
    }
    return this.#comparison(storedOrExpression(this.#names.attribute(model, name)), raw)
  }

  #related(association: Association, raw: JsonObject, depth: number): Condition {
    this.#budget.spend(costs.related)
    return { kind: 'related', association, condition: this.object(raw, association.target, depth + 1) }
  }

  #comparison(attribute: Attribute, raw: Json): Condition {
    if (!isJsonObject(raw)) return this.#one(attribute, Array.isArray(raw) ? isIn : equality(attribute, raw), raw)
    const names = Object.keys(raw)
    if (names.length === 0) throw bad(`The condition of "${attribute.name}" is empty`, { attribute: attribute.name })
    const conditions = names.map((name) => {
      const operator = operatorNamed(name)
      if (!operator) {
        const hint =
          attribute.type.storedAs === 'json' ? ': JSON is compared as a text' : operatorSuggestion(clip(name))
        throw bad(`Unknown operator "${clip(name)}" for "${attribute.name}"${hint}`, { attribute: attribute.name })
      }
      const operand = raw[name] as Json
      return this.#one(attribute, operator === notEquals && Array.isArray(operand) ? notIn : operator, operand)
    })
    return conditions.length === 1 ? (conditions[0] as Condition) : { kind: 'and', conditions }
  }

  #one(attribute: Attribute, operator: Operator, raw: Json): Comparison {
    this.#operands?.push(raw)
    const comparison = compare(attribute, operator, raw, this.#limits)
    this.#budget.spend(costOf(comparison))
    return comparison
  }
}

const equality = ({ type }: Attribute, raw: Json): Operator =>
  type.storedAs === 'json' && raw !== null ? sameJson : equals

const combinations = ['and', 'or', 'not']

/** In a query string these may be JSON: `?or=[{"name":"Rex"}]`, `?startsWith={"name":"R"}`. */
const fromText = (raw: Json, limits: Limits): Json =>
  typeof raw === 'string' && beginsLikeJson(raw) ? (jsonInText(raw, limits) ?? raw) : raw

function costOf({ operator, operand }: Comparison): number {
  if (operator.readsWholeValue) return costs.wholeValue
  return costs.node + (Array.isArray(operand) ? Math.floor(operand.length / costs.valuesPerNode) : 0)
}

/** `{ owner: { '!=': 3 } }` compares the key; `{ owner: { city: 'Oslo' } }` is a condition on the owner. */
function isComparison(raw: JsonObject): boolean {
  const names = Object.keys(raw)
  return names.length > 0 && names.every((name) => operatorNamed(name) && !isJsonObject(raw[name]))
}

const compare = (attribute: Attribute, operator: Operator, raw: Json, limits: Limits): Comparison => ({
  kind: 'compare',
  attribute,
  operator,
  operand: operator.parse(raw, attribute, limits),
})

/** The attribute of this name. Throws E_BAD_CRITERIA if the model has none, or if it is hidden. */
export function attributeNamed(model: Model, name: string): Attribute {
  const attribute = attributeOf(model, name)
  if (attribute && !attribute.hidden) return attribute
  if (model.associations.has(name))
    throw bad(`"${name}" of ${model.name} is a to-many association and has no value`, { attribute: name })
  throw bad(`${model.name} has no attribute "${clip(name)}"${suggestion(name, model)}`, { attribute: clip(name) })
}

/** Throws E_BAD_CRITERIA for an attribute that only `get` computes: the database does not know its values. */
export function storedOrExpression(attribute: Attribute): Attribute {
  const { name, computed } = attribute
  if (!computed || computed.sql) return attribute
  throw bad(`"${name}" is computed without \`sql\`: it cannot be filtered or sorted`, { attribute: name })
}

const bad = (message: string, details: { attribute?: string; limit?: string } = {}): ServiceError =>
  new ServiceError('E_BAD_CRITERIA', message, details)

const clip = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name)

import { type CriteriaTemplate, FilledCriteria, templateOf } from '../criteria/criteria-template.ts'
import type { Model } from '../model/model.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { checkedLength } from '../protocol/json-size.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { Limits } from '../support/limits.ts'
import { Lru } from '../support/lru.ts'
import type { FindInput } from './find-input.ts'
import type { ParameterValues } from './operation.ts'
import {
  count,
  cursor,
  limit,
  omit,
  parameterValue,
  populate,
  reserved,
  select,
  skip,
  sort,
  where,
} from './parameters.ts'

/** The structure of a request for a list, and the values that its condition compares. */
export interface FindShape {
  /** Equal for requests that differ in values only. */
  readonly key: string
  /** The operands of the comparisons, in order. */
  readonly operands: readonly Json[]
}

/** Longer shapes are not cached: they are rarely sent twice. */
const longestKey = 2000
/** A deeper condition is left to the parser, which refuses it. */
const deepestShape = 64
const tooLong = ' '.repeat(longestKey + 1)

/** The parameters whose values are part of the shape, because they decide what is compiled. */
const structural = [sort, limit, skip, select, omit, populate, count]

/** The shape of a request. Undefined if the request is too long to be cached, begins at a cursor, or cannot be parsed. */
function shapeOf(parameters: ParameterValues, model: number): FindShape | undefined {
  if (parameterValue(parameters, cursor) !== undefined) return undefined
  const operands: Json[] = []
  let key = parameters.populates ? `${model}+` : `${model}-`
  for (const parameter of structural) {
    const value = parameterValue(parameters, parameter)
    if (value !== undefined) key += `${parameter.name}=${exactText(value)};`
  }
  const condition = parameterValue(parameters, where)
  if (condition === undefined) key += filterShape(parameters, operands)
  else {
    const raw = typeof condition === 'string' ? parsed(condition) : condition
    // Keys and lists of keys are parsed on another way.
    if (raw === undefined || !isJsonObject(raw)) return undefined
    key += objectShape(raw, operands, 1)
  }
  return key.length > longestKey ? undefined : { key, operands }
}

const exactText = (value: Json): string =>
  typeof value === 'string' ? `${value.length}:${value}` : JSON.stringify(value)

/** A long text is left to the parser, which checks its size before. */
function parsed(text: string): Json | undefined {
  if (text.length > checkedLength) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Filters by attribute, as `readWhere` takes them: those of the body replace those of the query string in their place. */
function filterShape({ query, body }: ParameterValues, operands: Json[]): string {
  let text = '{'
  for (const name of Object.keys(query))
    if (!reserved.has(name))
      text += memberShape(name, (Object.hasOwn(body, name) ? body : query)[name] as Json, operands, 1)
  for (const name of Object.keys(body))
    if (!reserved.has(name) && !Object.hasOwn(query, name)) text += memberShape(name, body[name] as Json, operands, 1)
  return `${text}}`
}

const memberShape = (name: string, value: Json, operands: Json[], depth: number): string =>
  `${name.length}:${name}${conditionShape(value, operands, depth)}`

/**
 * The structure of a condition as it was sent. What decides how a value is compiled and what it costs is part of it: whether
 * it is null, a list, and of which length.
 */
function conditionShape(raw: Json, operands: Json[], depth: number): string {
  if (depth > deepestShape) return tooLong
  if (Array.isArray(raw)) {
    if (raw.some((item) => typeof item === 'object' && item !== null)) return listShape(raw, operands, depth)
    operands.push(raw)
    return `[${raw.length}]`
  }
  if (!isJsonObject(raw)) {
    operands.push(raw)
    return raw === null ? '!' : '?'
  }
  return objectShape(raw, operands, depth + 1)
}

/** Stops once the key is too long. */
function listShape(raw: readonly Json[], operands: Json[], depth: number): string {
  let text = '['
  for (let index = 0; index < raw.length && text.length <= longestKey; index++)
    text += `${conditionShape(raw[index] as Json, operands, depth + 1)},`
  return `${text}]`
}

function objectShape(raw: JsonObject, operands: Json[], depth: number): string {
  let text = '{'
  for (const name of Object.keys(raw)) {
    if (text.length > longestKey) break
    text += memberShape(name, raw[name] as Json, operands, depth)
  }
  return `${text}}`
}

/** The parsed request of a shape. */
export class FindTemplate {
  readonly #input: FindInput
  readonly #template: CriteriaTemplate

  constructor(input: FindInput) {
    this.#input = input
    this.#template = templateOf(input.criteria)
  }

  /**
   * The request with other values, each validated as it is when the request is parsed. Undefined: a value is of another
   * kind than the one of the template.
   */
  fill(given: readonly Json[], limits: Limits): FindInput | undefined {
    if (given.length === 0) return this.#input
    const { criteria, comparisons } = this.#template
    const operands: Json[] = []
    let isSame = true
    for (let slot = 0; slot < given.length; slot++) {
      const { operator, attribute, operand: first } = comparisons[slot] as CriteriaTemplate['comparisons'][number]
      const operand = operator.parse(given[slot] as Json, attribute, limits)
      if (!isSameKind(operand, first)) isSame = false
      operands.push(operand)
    }
    if (!isSame) return undefined
    const { populate, count } = this.#input
    return { criteria: new FilledCriteria(criteria, operands), populate, count }
  }
}

function isSameKind(operand: Json, first: Json): boolean {
  if (Array.isArray(operand)) return Array.isArray(first) && operand.length === first.length
  return !Array.isArray(first) && (operand === null) === (first === null)
}

/**
 * Caches parsed lists by their shape, so that a request with other values is neither parsed nor compiled again. For the first
 * request of a shape only the key is stored, and the template for the second: shapes that are never repeated take little memory.
 */
export class FindShapes {
  readonly #kept: Lru<string, FindTemplate | 'seen once' | 'never'>
  /** Requesters may see one model in different ways, under one name. */
  readonly #numbers = new WeakMap<Model, number>()
  #models = 0

  constructor(size: number) {
    this.#kept = new Lru(size)
  }

  /** `parse` parses the whole request, and tells what was given to each comparison. */
  read(parameters: ParameterValues, model: Model, limits: Limits, parse: (operands?: Json[]) => FindInput): FindInput {
    const shape = shapeOf(
      parameters,
      getOrInsertComputed(this.#numbers, model, () => ++this.#models),
    )
    if (!shape) return parse()
    const kept = this.#kept.get(shape.key)
    if (kept instanceof FindTemplate) return kept.fill(shape.operands, limits) ?? parse()
    if (kept === 'never') return parse()
    const operands: Json[] = []
    const input = parse(operands)
    if (kept === undefined) this.#kept.set(shape.key, 'seen once')
    else this.#kept.set(shape.key, areSame(operands, shape.operands) ? new FindTemplate(input) : 'never')
    return input
  }
}

/** Whether the parser found the same operands as the shape, in the same order. The parser also reads conditions within texts. */
const areSame = (parsed: readonly Json[], named: readonly Json[]): boolean =>
  parsed.length === named.length && parsed.every((operand, index) => isSameValue(operand, named[index] as Json))

/** The condition may have been read from its text twice: two lists of the same texts and numbers are one value. */
const isSameValue = (a: Json, b: Json): boolean =>
  Array.isArray(a) && Array.isArray(b)
    ? a.length === b.length && a.every((item, index) => Object.is(item, b[index]))
    : Object.is(a, b)

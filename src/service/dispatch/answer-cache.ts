import { modelsIn } from '../../access/condition-parts.ts'
import type { Access } from '../../access/policy.ts'
import { readRulesOf } from '../../access/read-rules.ts'
import type { Condition, Populate } from '../../criteria/criteria.ts'
import { type Model, type Models, originalOf } from '../../model/model.ts'
import type { FindInput } from '../../operation/find-input.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Store } from '../../storage/store.ts'
import type { TableVersions } from '../../storage/table-versions.ts'
import type { Limits } from '../../support/limits.ts'
import { involvedModels } from '../live/query-dependencies.ts'
import { isKnown } from './entity-tag.ts'
import type { Plan } from './resolve.ts'

/** The answer to one plan for all requesters with the same rules. */
interface Variant {
  readonly tables: readonly string[]
  answer: ServiceResponse | undefined
  /** Of the tables, before they were read. */
  versions: string | undefined
  bytes: number
}

/** A request whose answer may be kept. */
export interface Asked {
  readonly variant: Variant
  readonly versions: string
  /** What was answered the last time, if nothing that it depends on has changed. */
  readonly answer: ServiceResponse | undefined
}

/** For one plan: requesters past this number replace the first. */
const maxVariants = 16
/** One answer takes at most this part of the cache. */
const largestPart = 8
/** Of an answer without its text, and of what it is found by. */
const overheadBytes = 1000

/**
 * Answers to lists that are asked for again, while nothing has changed that they were made of: the plan, the outcome of the
 * rules, and the versions of all tables that the plan reads or that a condition or a rule passes through.
 */
export class AnswerCache {
  readonly #versions: TableVersions
  readonly #models: Models
  readonly #maxBytes: number
  readonly #plans = new WeakMap<Plan, { readonly models: readonly Model[]; readonly variants: Map<string, Variant> }>()
  /** In the order of use. */
  readonly #kept = new Set<Variant>()
  #bytes = 0

  constructor(versions: TableVersions, models: Models, maxBytes: number) {
    this.#versions = versions
    this.#models = models
    this.#maxBytes = maxBytes
  }

  /** To be asked before anything is read. Undefined: the answer is not kept. */
  ask(plan: Plan, access: Access | undefined): Asked | undefined {
    const variant = this.#variantOf(plan, access)
    if (!variant) return undefined
    const versions = this.#versions.of(variant.tables)
    if (versions === undefined) return undefined
    const answer = variant.versions === versions ? variant.answer : undefined
    if (answer) this.#use(variant)
    return { variant, versions, answer }
  }

  keep({ variant, versions }: Asked, answer: ServiceResponse): void {
    this.#drop(variant)
    const bytes = bytesOf(answer)
    if (bytes > this.#maxBytes / largestPart) return
    Object.assign(variant, { answer, versions, bytes })
    this.#kept.add(variant)
    this.#bytes += bytes
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  /** Of the answers that are kept now. */
  get bytes(): number {
    return this.#bytes
  }

  #use(variant: Variant): void {
    this.#kept.delete(variant)
    this.#kept.add(variant)
  }

  #drop(variant: Variant): void {
    if (!this.#kept.delete(variant)) return
    this.#bytes -= variant.bytes
    variant.answer = undefined
  }

  #variantOf(plan: Plan, access: Access | undefined): Variant | undefined {
    let known = this.#plans.get(plan)
    if (!known) {
      known = { models: [...readBy(plan, this.#models)], variants: new Map() }
      this.#plans.set(plan, known)
    }
    const { models, variants } = known
    const rules = readRulesOf(models, access)
    const key = access ? rules.key : 'everything'
    const found = variants.get(key)
    if (found) return found
    const through = rules.conditions.flatMap((condition) => [...modelsIn(condition)])
    const all = [...new Set([...models, ...named(through, this.#models)])]
    // The function of a computed attribute may depend on anything.
    if (all.some(({ computed }) => computed.size > 0)) return undefined
    const variant = { tables: all.map(({ table }) => table), answer: undefined, versions: undefined, bytes: 0 }
    if (variants.size >= maxVariants) {
      const [oldest, replaced] = variants.entries().next().value as [string, Variant]
      this.#drop(replaced)
      variants.delete(oldest)
    }
    variants.set(key, variant)
    return variant
  }
}

/** Undefined: the database cannot tell what has changed, or nothing may be kept. */
export const answerCacheOf = (
  { versions }: Store,
  models: Models,
  { maxKeptBytes }: Limits,
): AnswerCache | undefined =>
  versions && maxKeptBytes > 0 ? new AnswerCache(versions, models, maxKeptBytes) : undefined

/** At most: parts may be joined to a text, and characters may have two bytes in memory. */
function bytesOf({ body }: ServiceResponse): number {
  if (!(body instanceof EncodedJson)) return Number.POSITIVE_INFINITY
  const { parts } = body
  const bytes = parts ? 3 * parts.reduce((sum, { length }) => sum + length, 0) : 2 * body.encoded.length
  return bytes + overheadBytes
}

const named = (names: Iterable<string>, models: Models): readonly Model[] =>
  [...names].flatMap((name) => models.get(name) ?? [])

/** Every model whose records a list depends on, whatever the rules. */
function readBy({ match, input }: Plan, models: Models): ReadonlySet<Model> {
  const find = input as FindInput
  const found = new Set<Model>()
  for (const model of involvedModels(originalOf(match.model), find)) found.add(model)
  const through = (condition: Condition): void => {
    for (const model of named(modelsIn(condition), models)) found.add(model)
  }
  const throughPopulates = (populates: readonly Populate[]): void => {
    for (const { criteria, populate } of populates) {
      through(criteria.where)
      throughPopulates(populate)
    }
  }
  through(find.criteria.where)
  throughPopulates(find.populate)
  return found
}

/** An answer that was made without regard to `If-None-Match`, for one request. */
export function answerAgain(
  { status, headers, body }: ServiceResponse,
  request: ServiceRequest,
  position: string | undefined,
): ServiceResponse {
  const own = position === undefined ? headers : { 'Keelson-Position': position, ...headers }
  const known = request.headers['if-none-match']
  if (known !== undefined && isKnown(headers.ETag as string, known)) return { status: 304, headers: own }
  return { status, headers: own, body }
}

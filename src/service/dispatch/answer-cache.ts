import { modelsIn } from '../../access/condition-parts.ts'
import type { Access } from '../../access/policy.ts'
import { ReadOutcomes } from '../../access/read-outcomes.ts'
import { readRulesOf } from '../../access/read-rules.ts'
import { type Criteria, isMatchAll } from '../../criteria/criteria.ts'
import { type Model, type Models, originalOf } from '../../model/model.ts'
import type { RecordInput } from '../../operation/fetch-one.ts'
import type { FindInput } from '../../operation/find-input.ts'
import type { OperationResult } from '../../operation/operation.ts'
import type { Position } from '../../protocol/change.ts'
import type { Json } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import type { TableVersions } from '../../storage/table-versions.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { LastCheck } from '../../support/last-check.ts'
import type { Limits } from '../../support/limits.ts'
import { CacheEntry, KeptAnswer, KeptAnswers, type Page } from './kept-answers.ts'
import { modelsEmbedded, modelsNamed, modelsOfList } from './read-models.ts'
import type { Plan } from './resolve.ts'
import { SharedReads } from './shared-reads.ts'

/** The cached answers to one plan, or for the records of one model, that requesters with the same rules share. */
interface Variant {
  /** The tables that the answers depend on. Undefined: they are neither cached nor shared. */
  readonly tables: readonly string[] | undefined
  /**
   * Set if the answer is a page of all records in the order of the key. It is then valid until one of these records changes, or
   * any is inserted or deleted.
   */
  readonly page: Model | undefined
  /** By the key of the record. The answer to a list has the key undefined. */
  readonly entries: Map<Json | undefined, CacheEntry>
  /** The reads of the list that are under way. Undefined for records: reading one takes hardly longer than sharing it. */
  readonly reads: ListReads | undefined
}

/** Those of HTTP need only the answer, those of sockets its log position as well. */
interface ListReads {
  readonly answers: SharedReads<KeptAnswer>
  readonly snapshots: SharedReads<Snapshot<OperationResult>>
}

interface Variants {
  readonly areOfList: boolean
  /** The models whose rules decide what the answer contains. */
  readonly models: readonly Model[]
  /** Models that the answer depends on, whatever the rules. */
  readonly read: readonly Model[]
  /** As in `Variant`, if no rule hides a record or value. */
  readonly page: Model | undefined
  readonly byRules: Map<string, Variant>
  readonly max: number
  /** The same variants, found by the conditions that the rules returned. */
  readonly outcomes: ReadOutcomes<Variant>
}

/** Where an answer is to be kept. */
interface Keeping {
  readonly entry: CacheEntry
  /** From before it was read. */
  readonly versions: string
}

/** A request whose answer may be kept or shared, and what is kept for it. */
export interface CacheLookup {
  readonly variant: Variant
  /** Undefined: the database cannot tell what changes, or not at present. */
  readonly keeping: Keeping | undefined
  /** The position that the read includes at least. */
  readonly position: Position | undefined
  /** The cached answer, if nothing that it depends on has changed. */
  readonly answer: KeptAnswer | undefined
}

/** Variants of one plan. The first one is dropped for another requester's. */
const maxVariants = 16
/** Variants for the records of one model. */
const maxRecordVariants = 1000

/**
 * Answers to lists and of records that are asked for again, while nothing has changed that they were made of: the plan or
 * the key, the outcome of the rules, and the versions of the record and of all tables that the plan reads or that a
 * condition or a rule passes through. Lists that are asked for at one time are read together, also where nothing is kept.
 */
export class AnswerCache {
  readonly #versions: TableVersions | undefined
  readonly #models: Models
  readonly #kept: KeptAnswers
  readonly #lastCheck = new LastCheck()
  /** False if an answer may lack recent changes of other programs. It then names the position at which it was read. */
  readonly isCurrent: boolean
  readonly #lists = new WeakMap<Plan, Variants>()
  /** By the model as the requester sees it. */
  readonly #records = new WeakMap<Model, Variants>()

  constructor(versions: TableVersions | undefined, models: Models, maxBytes: number) {
    this.#versions = versions
    this.isCurrent = versions?.isCurrent ?? true
    this.#models = models
    this.#kept = new KeptAnswers(maxBytes)
  }

  /** Called before the read, with the position that the answer will name. Undefined: the answer is neither kept nor shared. */
  lookup(plan: Plan, access: Access | undefined, poll?: number, position?: Position): CacheLookup | undefined {
    const { isKept: isList, input, match } = plan
    if (!isList && !this.#versions) return undefined
    const variants = isList ? this.#listsOf(plan) : this.#recordsOf(plan)
    const variant = this.#variantOf(variants, access)
    const { tables, entries, reads } = variant
    if (!tables) return undefined
    const id = isList ? undefined : (input as RecordInput).id
    const entry = entries.get(id) ?? new CacheEntry(entries, id, isList ? undefined : match.model)
    const versions = this.#versions?.of(tables, entry.record, this.#lastCheck.serves(poll, position))
    if (versions === undefined) return reads && { variant, keeping: undefined, position, answer: undefined }
    const keeping = { entry, versions }
    if (entry.answer === undefined || (entry.versions !== versions && !this.#isSamePage(entry)))
      return { variant, keeping, position, answer: undefined }
    entry.versions = versions
    this.#kept.use(entry)
    return { variant, keeping, position, answer: entry.answer }
  }

  /** The reads of a list by sockets that are under way. Undefined: each reads for itself. */
  snapshotsOf(plan: Plan, access: Access | undefined): SharedReads<Snapshot<OperationResult>> | undefined {
    const { tables, reads } = this.#variantOf(this.#listsOf(plan), access)
    return tables && reads?.snapshots
  }

  keep({ variant, keeping, position }: CacheLookup, response: ServiceResponse, result: OperationResult): KeptAnswer {
    const answer = new KeptAnswer(response, this.isCurrent ? undefined : { position })
    if (!keeping) return answer
    const { entry, versions } = keeping
    entry.page = this.#pageOf(variant, versions, result)
    this.#kept.keep(entry, versions, answer)
    return answer
  }

  /** Undefined if changes were counted since the lookup: the read may or may not include them. */
  #pageOf({ page, tables }: Variant, versions: string, result: OperationResult): Page | undefined {
    if (!page || result.kind !== 'records' || this.#versions?.of(tables ?? [], undefined, true) !== versions)
      return undefined
    const { table, primaryKey } = page
    const keys = { table, column: primaryKey.column, ids: result.records.values(result.model.primaryKey) }
    return { keys, version: this.#versions.ofPage?.(keys) }
  }

  /** Whether no record of the page has changed, and none was inserted or deleted anywhere. */
  #isSamePage({ page }: CacheEntry): boolean {
    return page?.version !== undefined && this.#versions?.ofPage?.(page.keys) === page.version
  }

  /** The size of all cached answers. */
  get bytes(): number {
    return this.#kept.bytes
  }

  #listsOf(plan: Plan): Variants {
    return getOrInsertComputed(this.#lists, plan, () => {
      const { criteria, populate } = plan.input as FindInput
      const models = modelsOfList(plan.match.model, criteria, populate, this.#models)
      const page = models.length === 1 && isInKeyOrder(criteria) ? models[0] : undefined
      const outcomes = new ReadOutcomes<Variant>(models)
      return { areOfList: true, models, read: models, page, byRules: new Map(), max: maxVariants, outcomes }
    })
  }

  #recordsOf({ match: { model }, input }: Plan): Variants {
    return getOrInsertComputed(this.#records, model, () => {
      const read = modelsEmbedded((input as RecordInput).populate, this.#models)
      const models = [originalOf(model), ...read]
      const outcomes = new ReadOutcomes<Variant>(models)
      return {
        areOfList: false,
        models,
        read,
        page: undefined,
        byRules: new Map(),
        max: maxRecordVariants,
        outcomes,
      }
    })
  }

  #variantOf(variants: Variants, access: Access | undefined): Variant {
    if (!access) return this.#variantByText(variants, access)
    const known = variants.outcomes.get(access)
    if (known) return known
    const variant = this.#variantByText(variants, access)
    variants.outcomes.set(access, variant)
    return variant
  }

  #variantByText({ areOfList, models, read, page, byRules, max }: Variants, access: Access | undefined): Variant {
    const { conditions, key } = readRulesOf(models, access)
    const found = byRules.get(key)
    if (found) return found
    const through = modelsNamed(
      conditions.flatMap((condition) => [...modelsIn(condition)]),
      this.#models,
    )
    // The function of a computed attribute may depend on anything.
    const isComputed = [...models, ...through].some(({ computed }) => computed.size > 0)
    const tables = [...new Set([...read, ...through].map(({ table }) => table))]
    const variant: Variant = {
      tables: isComputed ? undefined : tables,
      page: conditions.length === 0 ? page : undefined,
      entries: new Map(),
      reads: areOfList ? { answers: new SharedReads(), snapshots: new SharedReads() } : undefined,
    }
    if (byRules.size >= max) {
      const [oldest, { entries }] = byRules.entries().next().value as [string, Variant]
      for (const entry of entries.values()) this.#kept.drop(entry)
      byRules.delete(oldest)
    }
    byRules.set(key, variant)
    return variant
  }
}

const isInKeyOrder = ({ where, sort, select }: Criteria): boolean =>
  isMatchAll(where) &&
  select.some(({ isPrimaryKey }) => isPrimaryKey) &&
  sort.every(({ attribute, through }) => attribute.isPrimaryKey && !through)

/** Undefined: nothing may be kept. */
export const answerCacheOf = (
  { versions, keepsTexts }: Store,
  models: Models,
  { maxKeptBytes }: Limits,
): AnswerCache | undefined =>
  maxKeptBytes > 0 ? new AnswerCache(versions, models, keepsTexts ? maxKeptBytes / 2 : maxKeptBytes) : undefined

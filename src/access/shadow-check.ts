import { isDeepStrictEqual } from 'node:util'
import { allAttributes, type Condition, idIn, matchAll, orderByPrimaryKey } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import { type Association, everyAttribute, type Model, originalOf } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { Reads, Store } from '../storage/store.ts'
import type { Observe } from '../support/observation.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { isLocal } from './condition-parts.ts'
import { guardCondition, type ReadAccess } from './guard.ts'
import type { Access } from './policy.ts'
import { restrictReads } from './restricted-reads.ts'

/** Records of a request that are checked, in the order of their keys. */
const checkedRecords = 20

/**
 * Recomputes a share of the answers with the reference meaning of conditions: rows are read without rules, and each rule is
 * evaluated in memory. Both sides read one snapshot. One check runs at a time, so that the cost is bounded.
 */
export class ShadowCheck implements AsyncDisposable {
  readonly #store: Store
  readonly #share: number
  readonly #observe: Observe
  readonly #onError: (error: unknown) => void
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(share: number, store: Store, observe: Observe, onError: (error: unknown) => void) {
    this.#share = share
    this.#store = store
    this.#observe = observe
    this.#onError = onError
  }

  /** To be called with the condition of each request for records. The check begins after the answer. */
  sample(view: Model, where: Condition, access: Access): void {
    if (this.#running || this.#isClosed || Math.random() >= this.#share) return
    // Rows are compared by their keys, which the requester may not see.
    if (!view.attributes.has(view.primaryKey.name) || view.primaryKey.hidden || access.mask(view.primaryKey)) return
    this.#running = this.#check(view, where, access)
      .catch((error: unknown) => {
        // A statement that took too long, or too many related rows: nothing is known.
        if (!(error instanceof Undecided || error instanceof ServiceError)) this.#onError(error)
      })
      .finally(() => {
        this.#running = undefined
      })
  }

  async #check(view: Model, where: Condition, access: Access): Promise<void> {
    await yieldToEventLoop()
    const { value } = await this.#store.snapshot((reads) => differenceOf(view, where, access, reads))
    if (value) this.#observe({ kind: 'accessDifference', model: view.name, ...value })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.#running
  }
}

/** Access to everything. It turns a condition on what the requester may read into one on the models themselves. */
const everything: ReadAccess = {
  readable: () => matchAll,
  mask: () => undefined,
  isMaskable: () => false,
  hasMasks: false,
}

class Undecided extends Error {}

interface Difference {
  readonly difference: 'readable' | 'unreadable' | 'value'
  readonly attribute?: string
}

/** The first difference between the rules in statements and the rules in memory, for the first records of a page. */
async function differenceOf(
  view: Model,
  where: Condition,
  access: Access,
  reads: Reads,
): Promise<Difference | undefined> {
  const model = originalOf(view)
  const restricted = restrictReads(reads, access)
  const page = { where, sort: orderByPrimaryKey(model), limit: checkedRecords, skip: 0 }
  const visible = allAttributes(view)
  const select = everyAttribute(model)
  const answered = await restricted.find(view, { ...page, select: visible })
  const stored = await reads.find(model, {
    ...page,
    where: guardCondition(where, everything),
    select: [model.primaryKey],
  })
  const ids = [...new Set([...answered.values(model.primaryKey), ...stored.values(model.primaryKey)])]
  const byKey = { ...page, where: idIn(model, ids), limit: ids.length }
  const rows = (await reads.find(model, { ...byKey, select })).decode()
  const found = (await restricted.find(view, { ...byKey, select: visible })).decode()
  const key = model.primaryKey.name
  const shown = new Map(found.map((record) => [record[key], record]))
  for (const row of rows) {
    const record = shown.get(row[key])
    const isReadable = await holds(access.readable(model), row, reads)
    if (isReadable !== (record !== undefined)) return { difference: isReadable ? 'readable' : 'unreadable' }
    if (!record) continue
    for (const attribute of visible) {
      const mask = access.mask(attribute)
      const expected = !mask || (await holds(mask, row, reads)) ? row[attribute.name] : null
      if (!isDeepStrictEqual(record[attribute.name], expected))
        return { difference: 'value', attribute: attribute.name }
    }
  }
  const inAnswer = answered.decode().find((record) => isLocal(where) && !matches(where, record))
  return inAnswer && { difference: 'unreadable' }
}

/** As `matches`, reading related rows where the condition goes through an association. */
async function holds(condition: Condition, row: JsonObject, reads: Reads): Promise<boolean> {
  switch (condition.kind) {
    case 'and':
      for (const part of condition.conditions) if (!(await holds(part, row, reads))) return false
      return true
    case 'or':
      for (const part of condition.conditions) if (await holds(part, row, reads)) return true
      return false
    case 'not':
      return !(await holds(condition.condition, row, reads))
    case 'compare':
      return matches(condition, row)
    case 'related': {
      const { association, condition: inner } = condition
      for (const other of await relatedRows(association, row, reads)) if (await holds(inner, other, reads)) return true
      return false
    }
  }
}

async function relatedRows(association: Association, row: JsonObject, reads: Reads): Promise<readonly JsonObject[]> {
  const target = originalOf(association.target)
  const name =
    association.kind === 'belongsTo'
      ? association.foreignKey.name
      : ((association.kind === 'hasMany' ? association.via : association.near).references?.primaryKey.name as string)
  const key = row[name] ?? null
  if (key === null) return []
  const select = everyAttribute(target)
  const all = { where: matchAll, sort: orderByPrimaryKey(target), limit: maxRelated, skip: 0 }
  const { records } = await reads.related(association, [key], { ...all, select })
  if (records.length >= maxRelated) throw new Undecided()
  return records.decode()
}

/** Related rows that are read for one record and one step of a rule; with more, the check is given up. */
const maxRelated = 1_000

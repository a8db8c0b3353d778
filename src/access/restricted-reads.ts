import {
  allAttributes,
  and,
  type Condition,
  type Criteria,
  idIn,
  isMatchAll,
  matchNone,
  not,
  orderByPrimaryKey,
  primaryKeyEquals,
} from '../criteria/criteria.ts'
import { FilledCriteria } from '../criteria/criteria-template.ts'
import { matches } from '../criteria/matches.ts'
import { type Association, type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { Grouped, ReadOptions, Reads, Records } from '../storage/store.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { isInImages, isLocal } from './condition-parts.ts'
import { guardCondition, guardCriteria, guardMembers, originalAssociation } from './guard.ts'
import { guardOnce } from './guard-cache.ts'
import type { Access } from './policy.ts'
import { forbidden, WriteChecks } from './write-checks.ts'

export const restrictReads = (all: Reads, access: Access): ScopedReads =>
  new RestrictedReads(all, access) as unknown as ScopedReads

/** Reads that find what the rules let a requester read. A class, because each request makes one and uses one method. */
export class RestrictedReads<Unscoped extends Reads = Reads> implements Reads {
  readonly unscoped: Unscoped
  protected readonly access: Access

  constructor(unscoped: Unscoped, access: Access) {
    this.unscoped = unscoped
    this.access = access
  }

  protected get checks(): WriteChecks {
    return new WriteChecks(this.unscoped, this.access)
  }

  get overlaps(): boolean | undefined {
    return this.unscoped.overlaps
  }

  find(model: Model, criteria: Criteria, options?: ReadOptions, members?: readonly string[]): MaybePromise<Records> {
    const { access } = this
    const original = originalOf(model)
    if (criteria instanceof FilledCriteria) {
      const { template, operands } = criteria
      const guarded = guardOnce(original, template, access, (access) => guardCriteria(template, original, access))
      return this.unscoped.find(original, new FilledCriteria(guarded, operands), options, members)
    }
    // A lookup by key has criteria of its own for each request.
    const guarded =
      criteria.sort.length === 0
        ? guardCriteria(criteria, original, access)
        : guardOnce(original, criteria, access, (access) => guardCriteria(criteria, original, access))
    return this.unscoped.find(original, guarded, options, members)
  }

  count(model: Model, where: Condition, options?: ReadOptions): MaybePromise<number> {
    const original = originalOf(model)
    const guarded = and(this.access.readable(original), guardCondition(where, this.access))
    return this.unscoped.count(original, guarded, options)
  }

  related(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
    options?: ReadOptions,
  ): MaybePromise<Grouped> {
    const original = originalAssociation(association)
    return this.unscoped.related(original, keys, this.#guardMembers(original, criteria), options)
  }

  relatedTexts(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
  ): MaybePromise<readonly string[] | undefined> {
    if (!this.unscoped.relatedTexts) return undefined
    const original = originalAssociation(association)
    return this.unscoped.relatedTexts(original, keys, this.#guardMembers(original, criteria))
  }

  #guardMembers(association: Association, criteria: Criteria): Criteria {
    return guardOnce(association, criteria, this.access, (access) => guardMembers(criteria, association, access))
  }

  reveal(model: Model, records: Records): MaybePromise<Records> {
    return reveal(originalOf(model), records, this.unscoped, this.access)
  }

  assertMayCreate(model: Model): void {
    const original = originalOf(model)
    if (this.access.verdict('create', original) === false) throw forbidden('create', original)
  }

  assertMayWrite(write: 'update' | 'destroy', model: Model, ids: readonly Json[]): Promise<void> {
    const original = originalOf(model)
    return this.checks.assertNotRefused(write, original, idIn(original, ids))
  }

  async maskedIn(model: Model, id: Json, attributes: readonly string[]): Promise<readonly string[]> {
    const original = originalOf(model)
    const masked: string[] = []
    for (const name of attributes) {
      const attribute = original.attributes.get(name)
      const mask = attribute && this.access.mask(attribute)
      if (mask === undefined || mask === matchNone) continue
      if ((await this.unscoped.count(original, and(primaryKeyEquals(original, id), not(mask)))) > 0) masked.push(name)
    }
    return masked
  }

  assertMayChangeMembers(
    action: 'add' | 'remove',
    association: HasMany | ManyToMany,
    parents: readonly Json[],
  ): Promise<void> {
    return this.checks.assertMayChangeMembers(action, association, parents)
  }
}

/** The answer to a write is a read: records that became unreadable are left out, and values are masked. */
function reveal(model: Model, records: Records, all: Reads, access: Access): MaybePromise<Records> {
  if (records.length === 0) return records
  const view = access.views.of(model)
  const select = allAttributes(view)
  const hidesValues = view !== model || select.some((attribute) => access.mask(attribute) !== undefined)
  const readable = access.readable(model)
  if (!hidesValues && isMatchAll(readable)) return records
  if (!hidesValues && isLocal(readable, isInImages) && records.decode().every((record) => matches(readable, record)))
    return records
  const criteria = {
    where: idIn(model, records.values(model.primaryKey)),
    sort: orderByPrimaryKey(model),
    limit: records.length,
    skip: 0,
    select,
  }
  return all.find(model, guardCriteria(criteria, model, access))
}

import { and, type Condition, eq, idIn, isMatchAll, matchAll, not, primaryKeyEquals } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import { keysIn, maxMatches, withKeys } from '../criteria/named-keys.ts'
import type { Action } from '../model/access-rules.ts'
import type { Assignment } from '../model/assignment.ts'
import { missingReference } from '../model/missing-target.ts'
import { type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads, Records } from '../storage/store.ts'
import { forEachChunkInTurns } from '../support/chunks-in-turns.ts'
import { isInImages, isLocal } from './condition-parts.ts'
import type { Access } from './policy.ts'

/** Records that are decoded or counted at once. */
const fewRecords = 100
/** At most, where another process counts them. */
const countedAtOnce = 2_000

/** The keys of records that may be unreadable for the requester of a transaction. */
export type KnownKeys = ReadonlyMap<Model, ReadonlySet<Json>>

export const noKeys: KnownKeys = new Map()

export const isKnown = (keys: KnownKeys, model: Model, key: Json): boolean =>
  keys.get(originalOf(model))?.has(key) ?? false

/** What a requester may write: checks inside the transaction of a write, before and after its statements. */
export class WriteChecks {
  readonly #all: Reads
  readonly #access: Access
  readonly #inserted: KnownKeys
  readonly #replacing: KnownKeys

  /**
   * `all`: reads without rules, in the same transaction. `inserted`: what the transaction has inserted. `replacing`: the records whose
   * members it replaces, for which the requester had the right at the beginning.
   */
  constructor(all: Reads, access: Access, inserted: KnownKeys = noKeys, replacing: KnownKeys = noKeys) {
    this.#all = all
    this.#access = access
    this.#inserted = inserted
    this.#replacing = replacing
  }

  /** Throws E_FORBIDDEN if the requester may read, but not write, one of the records. */
  assertNotRefused(action: Action, model: Model, where: Condition): Promise<void> {
    return this.assertVerdict(this.#access.verdict(action, model), action, model, where)
  }

  assertVerdict(verdict: boolean | Condition, action: Action, model: Model, where: Condition): Promise<void> {
    return this.#assertForAll(verdict, action, model, and(where, this.#access.readable(model)))
  }

  async #assertForAll(verdict: boolean | Condition, action: Action, model: Model, where: Condition): Promise<void> {
    if (verdict === true) return
    const refused = verdict === false ? where : and(where, not(verdict))
    if ((await this.#count(model, refused)) > 0) throw forbidden(action, model)
  }

  /** Throws E_FORBIDDEN unless the requester may change the association of these records. */
  async assertMayChangeMembers(
    action: 'add' | 'remove',
    association: HasMany | ManyToMany,
    parents: readonly Json[],
  ): Promise<void> {
    const owner = ownerOf(association)
    const checked = parents.filter((key) => !isKnown(this.#replacing, owner, key))
    if (checked.length === 0) return
    const verdict = this.#access.membersVerdict(action, association)
    // If the rule is false for every record, it is false for a new one that the requester cannot read. A rule with a condition
    // may be fulfilled once the members are added.
    if (verdict === false && checked.some((key) => isKnown(this.#inserted, owner, key))) throw forbidden(action, owner)
    await this.assertVerdict(verdict, action, owner, idIn(owner, checked))
  }

  /** The same for a record that the requester could read before the request changed it. */
  async assertMayReplaceMembers(association: HasMany | ManyToMany, parent: Json, adds: boolean): Promise<void> {
    const owner = ownerOf(association)
    for (const action of adds ? (['remove', 'add'] as const) : (['remove'] as const)) {
      const verdict = this.#access.membersVerdict(action, association)
      await this.#assertForAll(verdict, action, owner, primaryKeyEquals(owner, parent))
    }
  }

  /** Throws E_FORBIDDEN unless every record that was written fulfils the rule as it is now. The transaction is rolled back. */
  async assertStillAllowed(action: 'create' | 'update', model: Model, written: Records): Promise<void> {
    const verdict = this.#access.verdict(action, model)
    if (typeof verdict === 'boolean' || written.length === 0) return
    const isOfFew = written.length <= fewRecords && isLocal(verdict, isInImages)
    const holds = isOfFew
      ? written.decode().every((record) => matches(verdict, record))
      : (await this.#count(model, and(idIn(model, written.values(model.primaryKey)), verdict))) === written.length
    if (!holds) throw forbidden(action, model)
  }

  /** Counts the records that match. If the condition names many keys, some are counted in each turn of the event loop. */
  async #count(model: Model, where: Condition): Promise<number> {
    const keys = keysIn(where)
    if (!keys || maxMatches(where) <= fewRecords) return this.#all.count(model, where)
    let count = 0
    await forEachChunkInTurns(keys.operand as readonly Json[], countedAtOnce, async (some) => {
      count += await this.#all.count(model, withKeys(where, some))
    })
    return count
  }

  /**
   * A reference to a record that the requester may not read is refused like a reference to none, unless this transaction has
   * inserted it for the requester; one to a record that it may not add to, with E_FORBIDDEN. `where`: of an update. The
   * result is false where that finds no record, which is not refused for what it would refer to.
   */
  async assertTargetsAllowed(assignments: readonly Assignment[], model: Model, where?: Condition): Promise<boolean> {
    for (const { attribute, value } of assignments) {
      const target = attribute.references
      if (!target || value === null || isKnown(this.#replacing, target, value)) continue
      const readable = this.#access.readable(target)
      const isTarget = primaryKeyEquals(target, value)
      const verdict = this.#access.referenceVerdict('add', target)
      if (isKnown(this.#inserted, target, value)) {
        await this.#assertForAll(verdict ?? true, 'add', target, isTarget)
        continue
      }
      if (verdict !== undefined) await this.assertVerdict(verdict, 'add', target, isTarget)
      if (isMatchAll(readable) || (await this.#all.count(target, and(isTarget, readable))) > 0) continue
      if (where && (await this.#count(model, and(where, this.#access.readable(model)))) === 0) return false
      const violation = missingReference(attribute, value, model)
      throw new ServiceError('E_INVALID_ATTRIBUTES', `"${attribute.name}" of ${model.name} ${violation.message}`, {
        model: model.name,
        invalidAttributes: { [attribute.name]: [violation] },
      })
    }
    return true
  }

  /**
   * Throws E_FORBIDDEN if a reference is changed whose present target the requester may not remove from. A masked one is not
   * compared with the value: the answer would tell which it is. `where`: of records that the requester may read.
   */
  async assertMayLeave(assignments: readonly Assignment[], model: Model, where: Condition): Promise<void> {
    for (const { attribute, value } of assignments) {
      const target = attribute.references
      const verdict = target && this.#access.referenceVerdict('remove', target)
      if (!target || verdict === undefined || verdict === true) continue
      const association = { kind: 'belongsTo', name: attribute.name, target, foreignKey: attribute } as const
      const refused: Condition = {
        kind: 'related',
        association,
        condition: verdict === false ? matchAll : not(verdict),
      }
      const replaced = [...(this.#replacing.get(originalOf(target)) ?? [])].map((key) => not(eq(attribute, key)))
      const mask = this.#access.mask(attribute)
      const isChanged = not(mask ? and(mask, eq(attribute, value)) : eq(attribute, value))
      const leaving = and(where, isChanged, ...replaced, refused)
      if ((await this.#count(model, leaving)) > 0) throw forbidden('remove', target)
    }
  }
}

export const ownerOf = (association: HasMany | ManyToMany): Model =>
  (association.kind === 'hasMany' ? association.via : association.near).references as Model

export const forbidden = (action: string, { name }: Model): ServiceError =>
  new ServiceError('E_FORBIDDEN', `You may not ${verbOf[action] ?? action} this ${name}`, { model: name })

const verbOf: Readonly<Record<string, string>> = { add: 'add to', remove: 'remove from' }

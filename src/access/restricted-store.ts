import { and, type Condition, isMatchAll, matchNone } from '../criteria/criteria.ts'
import { matches } from '../criteria/matches.ts'
import type { Assignment } from '../model/assignment.ts'
import { type Attribute, type HasMany, type ManyToMany, type Model, originalOf } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads, ScopedStore, ScopedTransaction } from '../storage/scoped-store.ts'
import type { ReadOptions, Records, Store, Transaction, TransactionContext, WriteContext } from '../storage/store.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { type Attempt, concealConflict } from './conceal.ts'
import { afterAssignments, isLocal, valuesOf } from './condition-parts.ts'
import { guardCondition } from './guard.ts'
import type { Access } from './policy.ts'
import { RestrictedReads, restrictReads } from './restricted-reads.ts'
import { isKnown, type KnownKeys, noKeys, ownerOf, WriteChecks } from './write-checks.ts'

/**
 * The store as one requester may use it. Reads find what the rules let it read, with masked values as null; writes happen
 * only to records that it may write, checked before and after. Everything a client causes passes through here.
 */
export const restrictStore = (store: Store, access: Access): ScopedStore =>
  new RestrictedStore(store, access) as unknown as ScopedStore

class RestrictedStore extends RestrictedReads<Store> implements Omit<ScopedStore, keyof ScopedReads> {
  get changes() {
    return this.unscoped.changes
  }

  get secret() {
    return this.unscoped.secret
  }

  get isSecretShared() {
    return this.unscoped.isSecretShared
  }

  get description() {
    return this.unscoped.description
  }

  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext) {
    const original = originalOf(model)
    return canInsertDirectly(original, assignments, this.access)
      ? this.#concealing(original, assignments, this.unscoped.insert(original, assignments, context))
      : this.transaction((transaction) => transaction.insert(model, assignments), context)
  }

  async update(
    model: Model,
    where: Condition,
    assignments: readonly Assignment[],
    context?: WriteContext,
  ): Promise<Records> {
    const { unscoped: store, access } = this
    const original = originalOf(model)
    const known = guardCondition(where, access)
    const condition = updateCondition(original, known, assignments, access)
    if (!condition) return this.transaction((transaction) => transaction.update(model, where, assignments), context)
    const updating = store.update(original, condition, assignments, context)
    const updated = await this.#concealing(original, assignments, updating)
    // If the requester may read the record, only the rule prevented the update.
    if (updated.length === 0) await this.checks.assertVerdict(false, 'update', original, known)
    return updated
  }

  async delete(model: Model, where: Condition, context?: WriteContext): Promise<Records> {
    const { unscoped: store, access } = this
    const original = originalOf(model)
    const known = guardCondition(where, access)
    const condition = and(known, access.readable(original), access.condition('destroy', original))
    const deleted = await store.delete(original, condition, context)
    if (deleted.length === 0) await this.checks.assertVerdict(false, 'destroy', original, known)
    return deleted
  }

  async transaction<T>(
    work: (transaction: ScopedTransaction) => MaybePromise<T>,
    context?: TransactionContext,
  ): Promise<T> {
    const { unscoped: store, access } = this
    let restricted: RestrictedTransaction | undefined
    try {
      return await store.transaction((transaction) => {
        // After a conflict the work runs again from its beginning.
        restricted = new RestrictedTransaction(transaction, access)
        return work(restricted as unknown as ScopedTransaction)
      }, context)
    } catch (error) {
      const attempt = restricted?.attempt
      throw attempt ? await concealConflict(error, attempt, store, access) : error
    }
  }

  async #concealing(model: Model, assignments: readonly Assignment[], written: Promise<Records>): Promise<Records> {
    try {
      return await written
    } catch (error) {
      throw await concealConflict(error, { model, assignments }, this.unscoped, this.access)
    }
  }

  snapshot<T>(work: (reads: ScopedReads) => MaybePromise<T>, options?: ReadOptions) {
    return this.unscoped.snapshot((all) => work(restrictReads(all, this.access)), options)
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.unscoped[Symbol.asyncDispose]()
  }
}

/** What a transaction has written. */
class Written {
  latest: Attempt | undefined
  failed: Attempt | undefined
  readonly insertions: Attempt[] = []
  readonly inserted = new Map<Model, Set<Json>>()
}

class RestrictedTransaction extends RestrictedReads<Transaction> implements Omit<ScopedTransaction, symbol> {
  readonly #written: Written
  readonly #replacing: KnownKeys

  constructor(unscoped: Transaction, access: Access, written = new Written(), replacing = noKeys) {
    super(unscoped, access)
    this.#written = written
    this.#replacing = replacing
  }

  /** What an error of the transaction is about. Code of the application may write several records at once. */
  get attempt(): Attempt | undefined {
    return this.#written.failed ?? this.#written.latest
  }

  protected override get checks(): WriteChecks {
    return new WriteChecks(this.unscoped, this.access, this.#written.inserted, this.#replacing)
  }

  async replacingMembers(association: HasMany | ManyToMany, parent: Json, adds: boolean): Promise<ScopedTransaction> {
    await this.checks.assertMayReplaceMembers(association, parent, adds)
    const owner = ownerOf(association)
    const replacing = new Map(this.#replacing).set(owner, new Set([...(this.#replacing.get(owner) ?? []), parent]))
    const { unscoped, access } = this
    return new RestrictedTransaction(unscoped, access, this.#written, replacing) as unknown as ScopedTransaction
  }

  insert(model: Model, assignments: readonly Assignment[]): Promise<Records> {
    return this.#insertChecked(model, assignments, (original) => this.unscoped.insert(original, assignments))
  }

  insertMissing(model: Model, assignments: readonly Assignment[]): Promise<Records> {
    return this.#insertChecked(model, assignments, (original) => this.unscoped.insertMissing(original, assignments))
  }

  async update(model: Model, where: Condition, assignments: readonly Assignment[]): Promise<Records> {
    const { unscoped: all, access, checks } = this
    const original = originalOf(model)
    const known = guardCondition(where, access)
    await checks.assertNotRefused('update', original, known)
    const isFound = await checks.assertTargetsAllowed(assignments, original, known)
    await checks.assertMayLeave(assignments, original, and(known, access.readable(original)))
    const allowed = isFound ? and(known, access.readable(original), access.condition('update', original)) : matchNone
    const updated = await this.#attempt(original, assignments, () => all.update(original, allowed, assignments))
    await checks.assertStillAllowed('update', original, updated)
    return updated
  }

  async delete(model: Model, where: Condition): Promise<Records> {
    const { unscoped: all, access } = this
    const original = originalOf(model)
    const known = guardCondition(where, access)
    await this.checks.assertNotRefused('destroy', original, known)
    return all.delete(original, and(known, access.readable(original), access.condition('destroy', original)))
  }

  async #insertChecked(
    model: Model,
    assignments: readonly Assignment[],
    insert: (original: Model) => MaybePromise<Records>,
  ): Promise<Records> {
    const { checks, access } = this
    const original = originalOf(model)
    this.assertMayCreate(original)
    await checks.assertTargetsAllowed(assignments, original)
    const inserted = await this.#attempt(original, assignments, () => insert(original))
    if (inserted.length > 0) this.#written.insertions.push({ model: original, assignments })
    await checks.assertStillAllowed('create', original, inserted)
    if (!isMatchAll(access.readable(original))) this.#remember(original, inserted)
    return inserted
  }

  async #attempt(
    model: Model,
    assignments: readonly Assignment[],
    write: () => MaybePromise<Records>,
  ): Promise<Records> {
    const written = this.#written
    const attempt = { model, assignments, inserted: written.insertions }
    written.latest = attempt
    try {
      return await write()
    } catch (error) {
      written.failed ??= attempt
      throw error
    }
  }

  knows(model: Model, key: Json): boolean {
    return isKnown(this.#written.inserted, model, key) || isKnown(this.#replacing, model, key)
  }

  /** The records that are written with a new one refer to it, also where the requester cannot read it, or not yet. */
  #remember(model: Model, inserted: Records): void {
    const keys = getOrInsertComputed(this.#written.inserted, model, () => new Set<Json>())
    for (const key of inserted.values(model.primaryKey)) keys.add(key)
  }
}

/** Whether the rule for new records is decided by the values alone, and nothing else has to be read. */
function canInsertDirectly(model: Model, assignments: readonly Assignment[], access: Access): boolean {
  if (needsReads(assignments, access)) return false
  const verdict = access.verdict('create', model)
  if (typeof verdict === 'boolean') return verdict
  const values = valuesOf(assignments)
  return isLocal(verdict, ({ name }) => Object.hasOwn(values, name)) && matches(verdict, values)
}

/** The condition of an update in one statement, whose rule holds before and after; undefined if it takes more than one. */
function updateCondition(
  model: Model,
  where: Condition,
  assignments: readonly Assignment[],
  access: Access,
): Condition | undefined {
  const rule = access.condition('update', model)
  if (!isLocal(rule, isAssignable) || needsReads(assignments, access)) return undefined
  return and(where, access.readable(model), rule, afterAssignments(rule, valuesOf(assignments)))
}

/** Whether an assignment refers to a record that may be unreadable, or may meet a value of one. */
const needsReads = (assignments: readonly Assignment[], access: Access): boolean =>
  assignments.some(
    ({ attribute: { references, unique }, value }) =>
      unique ||
      (references !== undefined &&
        (access.referenceVerdict('remove', references) !== undefined ||
          access.referenceVerdict('add', references) !== undefined ||
          (value !== null && !isMatchAll(access.readable(references))))),
  )

/** What the database computes is another value after the assignments. */
const isAssignable = ({ stored }: Attribute): boolean => !stored.isComputed

import { allAttributes, and, type Condition, idIn } from '../../criteria/criteria.ts'
import type { Assignment } from '../../model/assignment.ts'
import type { HookedWrite } from '../../model/hooks.ts'
import type { Attribute, Model } from '../../model/model.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { type Requester, system } from '../../protocol/requester.ts'
import { withinHookTime } from '../../protocol/within-hook-time.ts'
import type { Records, Store, Transaction, TransactionContext, WriteContext } from '../../storage/store.ts'
import { assertDefined } from '../../support/assert.ts'
import { forEachChunkInTurns } from '../../support/chunks-in-turns.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { callHook, failureOf } from './call-hook.ts'
import { DeletedImages, refersToItself } from './deleted-images.ts'
import type { HookServices } from './hook-services.ts'

/** What the hooks within a transaction need. */
export interface WithinCaller {
  readonly requester: Requester
  readonly hooks: HookServices
  readonly limits: Limits
}

const hasHook = ({ hooks }: Model, write: HookedWrite): boolean =>
  hooks?.within[write] !== undefined || hooks?.lifecycle.after?.[write] !== undefined

/** Whether a model has hooks that run within transactions, so that writes pass through `hookedStore`. */
export const runsInTransactions = (model: Model): boolean =>
  (['create', 'update', 'destroy'] as const).some((write) => hasHook(model, write))

/**
 * The store with the hooks of the models: in a transaction they run after each statement, once for each record that it
 * wrote. Whatever writes a record passes through here: operations, nested records, memberships, cascades.
 */
export function hookedStore(store: Store, caller: WithinCaller): Store {
  const transaction: Store['transaction'] = async (work, context) => {
    let written: Written[] = []
    const timeoutMs = context?.timeoutMs ?? caller.limits.transactionTimeoutMs
    const attempt = (isSerializable: boolean) =>
      store.transaction(
        (transaction) => {
          // After a conflict the work runs again from its beginning.
          written = []
          return work(hookedTransaction(transaction, { ...caller, isSerializable }, written))
        },
        { ...context, timeoutMs, isSerializable },
      )
    const result = await attempt(context?.isSerializable || !store.hasConcurrentWriters).catch((error: unknown) => {
      if (error !== notSerializable) throw error
      return attempt(true)
    })
    if (written.length > 0) await runAfterCommit(written, caller)
    return result
  }
  /** The context of one statement. It is serializable if a hook runs after it, within its transaction. */
  const contextOf = (model: Model, write: HookedWrite, context?: WriteContext): TransactionContext => ({
    ...context,
    isSerializable: model.hooks?.within[write] !== undefined,
  })
  return {
    find: (model, criteria, options) => store.find(model, criteria, options),
    count: (model, where, options) => store.count(model, where, options),
    related: (association, keys, criteria, options) => store.related(association, keys, criteria, options),
    matching: (model, ids, conditions) => store.matching(model, ids, conditions),
    insert: (model, assignments, context) =>
      hasHook(model, 'create')
        ? transaction((within) => within.insert(model, assignments), contextOf(model, 'create', context))
        : store.insert(model, assignments, context),
    update: (model, where, assignments, context) =>
      hasHook(model, 'update')
        ? transaction((within) => within.update(model, where, assignments), contextOf(model, 'update', context))
        : store.update(model, where, assignments, context),
    delete: (model, where, context) =>
      hasHook(model, 'destroy')
        ? transaction((within) => within.delete(model, where), contextOf(model, 'destroy', context))
        : store.delete(model, where, context),
    transaction,
    snapshot: (work, options) => store.snapshot(work, options),
    changes: store.changes,
    answers: store.answers,
    secret: store.secret,
    isSecretShared: store.isSecretShared,
    description: store.description,
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

/** The record as it was and as it is now. */
interface Images {
  readonly previous?: JsonObject | undefined
  readonly record?: JsonObject
}

/** A record that was written, for the functions that run after the commit. */
interface Written {
  readonly model: Model
  readonly write: HookedWrite
  readonly record: JsonObject
}

/**
 * A hook that reads and then writes must not lose what others write in between. Which hooks run within a transaction is known
 * only when it has written: one that is not serializable is rolled back before its first hook, and run again as one that is.
 */
const notSerializable = new Error('A hook runs within serializable transactions only')

/** `isSerializable`: whether the transaction is, so that hooks may run within it. */
type TransactionCaller = WithinCaller & { readonly isSerializable: boolean }

function hookedTransaction(
  all: Transaction,
  caller: TransactionCaller,
  written: Written[],
  deletedImages = new DeletedImages(),
): Transaction {
  const inserted = async (model: Model, records: MaybePromise<Records>): Promise<Records> => {
    const stored = await records
    if (hasHook(model, 'create')) for (const record of stored.decode()) await wrote(model, 'create', { record })
    return stored
  }
  const wrote = async (model: Model, write: HookedWrite, images: Images): Promise<void> => {
    if (model.hooks?.within[write]) {
      if (!caller.isSerializable) throw notSerializable
      if (eventLoopTurn.isUsed) await eventLoopTurn.end()
      const own = hookedTransaction(all, { ...caller, requester: system }, written, deletedImages)
      await runWithin({ model, write, images }, own, caller)
    }
    const record = assertDefined(images.record ?? images.previous, 'a write has a record')
    if (model.hooks?.lifecycle.after?.[write]) written.push({ model, write, record })
  }
  const remember = async (model: Model, where: Condition): Promise<void> =>
    deletedImages.add(model, await findLocked(model, where, all, caller.limits))
  const clearBeforeDelete = async (model: Model, where: Condition, reference: Attribute): Promise<Records> => {
    if (hasHook(model, 'destroy')) await remember(model, where)
    return assertDefined(all.clearBeforeDelete, 'a transaction that clears by update').call(
      all,
      model,
      where,
      reference,
    )
  }
  return {
    find: (model, criteria, options) => all.find(model, criteria, options),
    count: (model, where, options) => all.count(model, where, options),
    related: (association, keys, criteria, options) => all.related(association, keys, criteria, options),
    insert: (model, assignments) => inserted(model, all.insert(model, assignments)),
    requireAffectable: (model, where) => all.requireAffectable?.(model, where),
    clearBeforeDelete: all.clearBeforeDelete && clearBeforeDelete,
    beforeDelete: async (model, ids) => {
      if (!hasHook(model, 'destroy') || !refersToItself(model)) return
      await forEachChunkInTurns(ids, rememberedAtOnce, (some) => remember(model, idIn(model, some)))
    },
    keepAnswer: (answer) => assertDefined(all.keepAnswer, 'a database that keeps no answers').call(all, answer),
    insertMissing: (model, assignments) => inserted(model, all.insertMissing(model, assignments)),
    async update(model, where, assignments) {
      if (!hasHook(model, 'update')) return all.update(model, where, assignments)
      const { previous, records } = await updateLocked({ model, where, assignments }, all, caller.limits)
      for (const record of records.decode())
        await wrote(model, 'update', { previous: previous.get(record[model.primaryKey.name]), record })
      return records
    },
    async delete(model, where) {
      const deleted = await all.delete(model, where)
      if (hasHook(model, 'destroy'))
        for (const previous of await deletedImages.take(model, where, deleted, all))
          await wrote(model, 'destroy', { previous })
      return deleted
    },
  }
}

const rememberedAtOnce = 100

/** Updates the rows that match now, which are locked, so that `previous` is what the update replaced. */
async function updateLocked(
  { model, where, assignments }: { model: Model; where: Condition; assignments: readonly Assignment[] },
  all: Transaction,
  limits: Limits,
): Promise<{ readonly previous: ReadonlyMap<unknown, JsonObject>; readonly records: Records }> {
  const found = await findLocked(model, where, all, limits)
  const keys = found.values(model.primaryKey)
  const previous = new Map(found.decode().map((record) => [record[model.primaryKey.name], record]))
  return { previous, records: await all.update(model, and(idIn(model, keys), where), assignments) }
}

const findLocked = (model: Model, where: Condition, all: Transaction, limits: Limits): MaybePromise<Records> =>
  all.find(model, {
    where,
    sort: [],
    // One more than may be changed, so that the update refuses the rest.
    limit: limits.maxAffected + 1,
    skip: 0,
    select: allAttributes(model),
    lock: true,
  })

async function runWithin(
  { model, write, images }: { readonly model: Model; readonly write: HookedWrite; readonly images: Images },
  transaction: Transaction,
  { requester, hooks, limits }: WithinCaller,
): Promise<void> {
  const hook = assertDefined(model.hooks?.within[write], `${model.name} has no hook within ${write}`)
  const user = requester.kind === 'user' ? requester.user : null
  const isSystem = requester.kind === 'system'
  const name = `within.${write} of ${model.name}`
  try {
    await hooks.inTransaction(transaction, (tx) =>
      callHook(name, limits.maxHookDepth, () => hook({ ...images, user, isSystem, tx } as never)),
    )
  } catch (error) {
    // Also the failure of a write that the hook caught: it fails the transaction.
    throw failureOf(error, name)
  }
}

/** What fails here cannot undo the write, so it is reported and the request succeeds. */
async function runAfterCommit(written: readonly Written[], { hooks, limits }: WithinCaller): Promise<void> {
  for (const { model, write, record } of written) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    const name = `after ${write} of ${model.name}`
    try {
      await withinHookTime(
        callHook(name, limits.maxHookDepth, () => model.hooks?.lifecycle.after?.[write]?.(record)),
        `The hook ${name}`,
        limits,
      )
    } catch (error) {
      hooks.onError(error)
    }
  }
}

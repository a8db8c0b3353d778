import { concealNames } from '../../access/conceal.ts'
import { findKey } from '../../criteria/criteria.ts'
import type { Invocation, OperationResult, OperationServices, WriteOperation } from '../../operation/operation.ts'
import { noSuchRecord, ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import type { Json } from '../../protocol/json.ts'
import type { SubscriptionRequest } from '../../realtime/socket/subscription-request.ts'
import type { ScopedStore } from '../../storage/scoped-store.ts'
import type { ReadOptions, Snapshot } from '../../storage/store.ts'
import { reasonOf } from '../../storage/to-service-error.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { type Authorization, assertAllowed } from './authorize.ts'
import type { DispatchContext } from './context.ts'
import type { SharedReads } from './shared-reads.ts'

/** The only place where an operation runs, whichever transport asked. */
export function execute(
  invocation: Invocation,
  authorization: Authorization,
  context: DispatchContext,
): MaybePromise<OperationResult> {
  return orMissing(run(invocation, authorization, context), invocation, authorization)
}

/**
 * The column of a text key may have a narrower type, such as an enumeration. It refuses other texts, also in a comparison: no
 * record has such a key.
 */
function orMissing<T>(result: MaybePromise<T>, invocation: Invocation, { store }: Authorization): MaybePromise<T> {
  const { input, target } = invocation
  const { model } = target
  if (model.primaryKey.type.name !== 'text' || !(result instanceof Promise)) return result
  const { id, parent = id } = input as { readonly id?: Json; readonly parent?: Json }
  if (parent === undefined) return result
  return result.catch(async (error: unknown) => {
    if (!isRefused(error)) throw error
    try {
      await store.find(model, findKey(model, parent))
    } catch (failure) {
      if (isRefused(failure)) throw noSuchRecord(model.name)
    }
    throw error
  })
}

const isRefused = (error: unknown): boolean => reasonOf(error)?.kind === 'value'

function run(
  invocation: Invocation,
  { access, store }: Authorization,
  { services, shadow }: DispatchContext,
): MaybePromise<OperationResult> {
  const { operation, target } = invocation
  if (!access)
    return operation.effect === 'reads'
      ? operation.run(invocation, store, services)
      : write(operation, invocation, store, services)
  assertAllowed(operation, target, access)
  if (operation.effect === 'reads') {
    const result = operation.run(invocation, store, services)
    const where = shadow && operation.conditionOf?.(invocation)
    if (where) shadow.sample(target.model, where, access)
    return result
  }
  return write(operation, invocation, store, services).catch((error: unknown) => {
    throw concealNames(error, access, services.models)
  })
}

/** Prepares, then writes. */
function write(
  operation: WriteOperation,
  invocation: Invocation,
  store: ScopedStore,
  services: OperationServices,
): Promise<OperationResult> {
  try {
    const prepared = operation.prepare(invocation, store, services)
    if (!(prepared instanceof Promise)) return operation.run(invocation, prepared, store, services)
    return prepared.then((prepared) => operation.run(invocation, prepared, store, services))
  } catch (error) {
    return Promise.reject(error)
  }
}

/**
 * As `execute`, for a socket, which is subscribed to what it is answered: a read in a snapshot whose log position is
 * known, so that its subscriptions begin exactly there. `shared`: the reads of the same list by others.
 */
export async function executeForSocket(
  peer: Peer,
  invocation: Invocation,
  authorization: Authorization,
  context: DispatchContext,
  shared?: SharedReads<Snapshot<OperationResult>>,
): Promise<OperationResult> {
  const { broker } = context
  const { operation, client = {} } = invocation
  // A read that subscribes to nothing needs no snapshot.
  if (operation.effect === 'reads' && !operation.subscriptions) return execute(invocation, authorization, context)
  const request = await broker.beginRequest(peer, operation.effect)
  try {
    if (operation.effect === 'writes') {
      const result = await execute(invocation, authorization, context)
      broker.commitSubscriptions(request, subscriptionsOf(result, invocation), undefined)
      return result
    }
    const read = (client: ReadOptions) =>
      authorization.store.snapshot(
        (reads) => run({ ...invocation, client }, { ...authorization, store: reads as ScopedStore }, context),
        client,
      )
    const found = shared ? shared.read(client, read) : read(client)
    const { value, position } = await orMissing(found, invocation, authorization)
    broker.commitSubscriptions(request, subscriptionsOf(value, invocation), position)
    return value
  } catch (error) {
    broker.abortRequest(request, error instanceof ServiceError && error.status < 500)
    throw error
  }
}

const noSubscriptions: SubscriptionRequest = { records: [], models: [] }

const subscriptionsOf = (result: OperationResult, invocation: Invocation): SubscriptionRequest =>
  invocation.operation.subscriptions?.(result, invocation) ?? noSubscriptions

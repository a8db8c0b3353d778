import { concealNames } from '../../access/conceal.ts'
import type { OperationResult, OperationServices } from '../../operation/operation.ts'
import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { ServiceResponse } from '../../protocol/request.ts'
import type { SubscriptionRequest } from '../../realtime/socket/subscription-request.ts'
import type { ScopedReads, ScopedStore, ScopedTransaction } from '../../storage/scoped-store.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { withOperation } from '../dispatch/answer-write.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { respond } from '../dispatch/respond.ts'
import { shownError } from '../dispatch/shown-error.ts'
import type { StoreAnswer } from '../idempotency/idempotent-writes.ts'
import { asRefusal } from '../in-process/as-refusal.ts'
import { inTransaction } from '../in-process/transaction.ts'
import { BatchAnswers, failedBatch } from './batch-answer.ts'
import { type Batch, type BatchStep, BatchSteps, isIndependent, resolved } from './batch-step.ts'

interface Done {
  readonly answers: BatchAnswers
  readonly subscriptions: SubscriptionRequest
}

/**
 * Executes the requests of a batch in one transaction. When one fails, nothing of them has happened, and the answer says
 * which it was.
 */
export async function runAtomic(batch: Batch, context: DispatchContext, keep?: StoreAnswer): Promise<ServiceResponse> {
  const { items, request, receipt } = batch
  const { access, store } = batch.authorization
  const { broker, services, encoding, onError } = context
  const steps = new BatchSteps(batch, context)
  /** The request that is being prepared or executed. */
  let current: number | undefined
  let answers = new BatchAnswers(services.limits)
  const pending = request.peer && (await broker.beginRequest(request.peer, 'writes'))
  try {
    const early: (BatchStep | undefined)[] = []
    for (const item of items) {
      current = item.index
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      early.push(await steps.prepareEarly(item, store, (index) => answers.bodyOf(index)))
    }
    const execute = async (within: ScopedStore): Promise<Done> => {
      answers = new BatchAnswers(services.limits)
      const requests: SubscriptionRequest[] = []
      const sent = new Map<BatchStep, Promise<OperationResult>>()
      for (const item of items) {
        current = item.index
        if (eventLoopTurn.isUsed) await eventLoopTurn.next()
        const step =
          early[item.index] ?? (await steps.prepare(await resolved(item, answers.bodyOf, services.limits), within))
        if (!sent.has(step)) sendAhead(early.slice(item.index), within, sent, context)
        const result = await (sent.get(step) ?? runStep(step, within, services))
        const { invocation, request, match } = step
        const response = respond(result, request, match, { ...encoding, maxBytes: answers.left })
        answers.add(response instanceof Promise ? await response : response)
        const subscriptions = pending && invocation.operation.subscriptions?.(result, invocation)
        if (subscriptions) requests.push(subscriptions)
      }
      current = undefined
      return { answers, subscriptions: joined(requests) }
    }
    const isRead = early.every((step) => step?.match.operation.effect === 'reads')
    const done = await (isRead ? readAll(execute, batch) : writeAll(execute, batch, context, keep))
    if (pending) broker.commitSubscriptions(pending, done.subscriptions, undefined)
    return withOperation(done.answers.respond(), receipt, context)
  } catch (error) {
    if (pending) broker.abortRequest(pending, error instanceof ServiceError && error.status < 500)
    const refusal = asRefusal(error)
    const shown = shownError(access ? concealNames(refusal, access, services.models) : refusal)
    return current === undefined ? errorResponse(shown, onError) : failedBatch(items, current, shown, onError)
  }
}

function runStep(
  { invocation, prepared }: BatchStep,
  within: ScopedStore,
  services: OperationServices,
): MaybePromise<OperationResult> {
  const { operation } = invocation
  return operation.effect === 'reads'
    ? operation.run(invocation, within, services)
    : operation.run(invocation, prepared, within, services)
}

/** Sends the statements of requests that do not depend on each other together: a round trip for each would take longer. */
function sendAhead(
  steps: readonly (BatchStep | undefined)[],
  within: ScopedStore,
  sent: Map<BatchStep, Promise<OperationResult>>,
  context: DispatchContext,
): void {
  for (const step of steps) {
    if (!step || !isIndependent(step, context)) return
    const result = Promise.resolve(runStep(step, within, context.services))
    // Reported when its turn comes.
    result.catch(() => {})
    sent.set(step, result)
  }
}

const readAll = async (
  execute: (store: ScopedStore) => Promise<Done>,
  { request, authorization: { store } }: Batch,
): Promise<Done> =>
  (await store.snapshot((reads: ScopedReads) => execute(reads as ScopedStore), request.peer ?? request)).value

const writeAll = (
  execute: (store: ScopedStore) => Promise<Done>,
  { receipt, authorization: { store } }: Batch,
  context: DispatchContext,
  keep: StoreAnswer | undefined,
): Promise<Done> => {
  const work = async (within: ScopedStore, transaction: ScopedTransaction): Promise<Done> => {
    const done = await execute(within)
    await keep?.(transaction, withOperation(done.answers.respond(), receipt, context))
    return done
  }
  return inTransaction(store, context, work, { origin: receipt, maxReadMs: context.services.limits.maxBlockMs })
}

/** Everything that the requests subscribe to. */
const joined = (requests: readonly SubscriptionRequest[]): SubscriptionRequest => ({
  records: requests.flatMap(({ records }) => records),
  models: [...new Set(requests.flatMap(({ models }) => models))],
})

import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import { parseQueryString } from '../../protocol/query-string.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { assertMayWrite, receiptFor } from '../dispatch/answer-write.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import type { DispatchContext } from '../dispatch/context.ts'
import { endpointAt } from '../dispatch/route.ts'
import { shownError } from '../dispatch/shown-error.ts'
import type { StoreAnswer } from '../idempotency/idempotent-writes.ts'
import { BatchAnswers } from './batch-answer.ts'
import { type Batch, requestOf, resolved } from './batch-step.ts'
import { type BatchItem, readBatch } from './read-batch.ts'
import { runAtomic } from './run-batch.ts'

type Answer = (request: ServiceRequest) => MaybePromise<ServiceResponse>

/** The answer to a batch: of one transaction, or with `?atomic=false` of requests one after another. */
export async function answerBatch(
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
  answer: Answer,
): Promise<ServiceResponse> {
  assertMayWrite(request, { style: 'rest' })
  const { limits } = context.services
  const isAtomic = readAtomic(request, context)
  const items = readBatch(request, limits)
  for (const item of items) assertIsOperation(item, context)
  const batch = { items, request, authorization, receipt: receiptFor(authorization.requester, context, request) }
  const run = (keep?: StoreAnswer) =>
    context.largeWrites.run(request.body, request.peer ?? request, () => runAtomic(batch, context, keep))
  if (request.headers['idempotency-key'] === undefined) return isAtomic ? run() : runEach(batch, context, answer)
  if (isAtomic) return context.idempotency.answer(request, authorization.requester, run)
  throw new ServiceError(
    'E_BAD_REQUEST',
    'Idempotency-Key needs a batch that is atomic: its answer is stored with its writes',
  )
}

/** Throws E_BAD_BODY for a batch in the batch, and for what may be answered with a stream: no list can contain one. */
function assertIsOperation({ url, index }: BatchItem, { routes }: DispatchContext): void {
  const endpoint = endpointAt(routes, url.split(/[?#]/, 1)[0] as string)
  if (endpoint)
    throw new ServiceError(
      'E_BAD_BODY',
      `Request ${index} of the batch is ${nounOf[endpoint.operation]}, which needs a request of its own`,
    )
}

const nounOf = { batch: 'a batch', live: 'a live query', shapes: 'a shape' } as const

function readAtomic({ query }: ServiceRequest, { services: { limits } }: DispatchContext): boolean {
  const { atomic = 'true', callback: _c, _: _n, ...others } = query === '' ? {} : parseQueryString(query, limits)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new ServiceError('E_BAD_REQUEST', `A batch has no parameter "${unknown.slice(0, 60)}"`)
  if (atomic === 'true' || atomic === 'false') return atomic === 'true'
  throw new ServiceError('E_BAD_REQUEST', '"atomic" is true or false')
}

/** The headers that concern the batch alone: the form of its body and of its answer, and what must hold for it as a whole. */
const ownHeaders = new Set(['accept', 'content-length', 'content-type', 'idempotency-key', 'if-match', 'if-none-match'])

/** The headers of a batch that are those of each of its requests as well. */
const sharedHeaders = (headers: ServiceRequest['headers']): ServiceRequest['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)))

/**
 * Each request by itself, in order, until the client disconnects. One that refers to the answer of a failed one is not
 * executed.
 */
async function runEach(
  { items, request: batch }: Batch,
  context: DispatchContext,
  answer: Answer,
): Promise<ServiceResponse> {
  const { services, onError } = context
  const { limits } = services
  const client = batch.peer ?? batch
  const shared = sharedHeaders(batch.headers)
  const answers = new BatchAnswers(limits)
  for (const item of items) {
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (client.signal?.aborted) throw new ServiceError('E_UNAVAILABLE', 'The client has disconnected')
    try {
      if (answers.left === 0)
        throw new ServiceError(
          'E_NOT_EXECUTED',
          `The answers before it have more than ${limits.maxAnswerBytes} bytes`,
          {
            limit: 'maxAnswerBytes',
          },
        )
      const whole = await resolved(item, answers.bodyOf, limits)
      assertIsOperation(whole, context)
      const request = requestOf(whole, batch)
      const own = {
        ...request,
        headers: { ...shared, ...request.headers },
        peer: batch.peer,
        get signal() {
          return batch.signal
        },
      }
      answers.add(await answer(own))
    } catch (error) {
      answers.add(errorResponse(shownError(error), onError))
    }
  }
  return answers.respond()
}

import type { OperationResult, Style, WriteOperation } from '../../operation/operation.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import { operationOf, type WriteReceipt } from '../../storage/write-origin.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { withStoredAnswer } from '../idempotency/with-stored-answer.ts'
import type { Authorization } from './authorize.ts'
import type { DispatchContext } from './context.ts'
import { execute, executeForSocket } from './execute.ts'
import { invocationOf, type Plan } from './resolve.ts'
import { respond } from './respond.ts'

/** The record of a longer body takes milliseconds to encode. */
const shortBodyBytes = 65_536

/** The answer to a write, which names its operation. */
export async function answerWrite(
  plan: Plan,
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): Promise<ServiceResponse> {
  const { match } = plan
  assertMayWrite(request, match)
  if (request.headers['idempotency-key'] !== undefined) return writeOnce(plan, authorization, context, request)
  const { requester } = authorization
  const receipt: WriteReceipt = { origin: context.tokens.originOf(requester, request.peer?.id), operation: undefined }
  const invocation = invocationOf(plan, requester, request, receipt)
  const result = await (request.peer
    ? executeForSocket(request.peer, invocation, authorization, context)
    : execute(invocation, authorization, context))
  const isShort =
    result.kind === 'record' &&
    result.populate.length === 0 &&
    Number(request.headers['content-length']) < shortBodyBytes
  if (!isShort && eventLoopTurn.isUsed) await eventLoopTurn.next()
  const { operation } = receipt
  const headers: Record<string, string> = {}
  if (operation !== undefined) headers['Keelson-Operation'] = context.tokens.tokenOf(operation)
  return respond(result, request, match, context.encoding, headers)
}

/** A write whose answer is stored with it, and given again when the client repeats the request. */
function writeOnce(
  plan: Plan,
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): Promise<ServiceResponse> {
  const { match } = plan
  const operation = match.operation as WriteOperation
  const { requester } = authorization
  return context.idempotency.answer(request, requester, async (keep) => {
    const receipt = receiptFor(requester, context, request)
    const answer = async (result: OperationResult): Promise<ServiceResponse> =>
      withOperation(await respond(result, request, match, context.encoding), receipt, context)
    const kept = withStoredAnswer(
      operation,
      async (transaction, result) => keep(transaction, await answer(result)),
      context,
    )
    const invocation = { ...invocationOf(plan, requester, request, receipt), operation: kept }
    const result = await (request.peer
      ? executeForSocket(request.peer, invocation, authorization, context)
      : execute(invocation, authorization, context))
    return answer(result)
  })
}

export const receiptFor = (
  requester: Requester,
  { tokens }: DispatchContext,
  { peer }: ServiceRequest,
): WriteReceipt => ({ origin: tokens.originOf(requester, peer?.id), operation: undefined })

/** The answer with the token of the operation, if anything was changed. */
export function withOperation(
  response: ServiceResponse,
  receipt: WriteReceipt,
  { tokens }: DispatchContext,
): ServiceResponse {
  const operation = operationOf(receipt)
  if (operation === undefined) return response
  return { ...response, headers: { ...response.headers, 'Keelson-Operation': tokens.tokenOf(operation) } }
}

/**
 * Throws E_FORBIDDEN for a write of a page of another origin: by a shortcut always, because a link or an image can send
 * it; by other routes, which a form can send, unless `cors` lists the origin. Refuses prefetches of shortcuts, too.
 */
export function assertMayWrite(request: ServiceRequest, { style }: { readonly style: Style }): void {
  if (style === 'shortcut' && isPrefetch(request.headers))
    throw new ServiceError('E_FORBIDDEN', 'A browser must not write by prefetching a URL')
  const { site } = request
  if (site === 'same-origin' || site === 'none') return
  if (style === 'shortcut')
    throw new ServiceError(
      'E_FORBIDDEN',
      'Only pages of the service itself and programs may write by GET: use POST, PATCH or DELETE',
    )
  if (!request.originAllowed) throw new ServiceError('E_FORBIDDEN', foreignPage(request.headers))
}

/** Names both sides: behind a proxy that replaces the `Host`, they show why a page of the service itself is refused. */
function foreignPage({ origin, host }: ServiceRequest['headers']): string {
  const page = typeof origin === 'string' ? URL.parse(origin)?.origin : undefined
  const pages = page === undefined || page === 'null' ? 'Pages of other origins' : `Pages of ${page}`
  return `${pages} may not write to ${host === undefined ? 'this service' : String(host)} unless cors lists their origin; a proxy in front must forward the Host header`
}

/** The last three are what browsers sent before `Sec-Purpose`; Safari loads previews of pages that are visited often. */
const purposes = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const

const isPrefetch = (headers: ServiceRequest['headers']): boolean =>
  purposes.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')))

import type { Access } from '../../access/policy.ts'
import type { Position } from '../../protocol/change.ts'
import { errorResponse } from '../../protocol/error-response.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { anonymous, type Requester } from '../../protocol/requester.ts'
import type { ReadOptions } from '../../storage/store.ts'
import { assertDefined } from '../../support/assert.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import { answerBatch } from '../batch/batch.ts'
import { liveResponse } from '../live/live-responses.ts'
import { clientScript, clientScriptPath } from '../pages/client-script.ts'
import type { LandingPage } from '../pages/landing-page.ts'
import { wantsPage } from '../pages/landing-page.ts'
import { acceptsEventStream } from './accept.ts'
import type { AnswerCache, CacheLookup } from './answer-cache.ts'
import { answerWrite } from './answer-write.ts'
import { type Authorization, assertAllowed, authorizationFor } from './authorize.ts'
import { forOneRequester } from './caching.ts'
import type { DispatchContext } from './context.ts'
import { execute, executeForSocket } from './execute.ts'
import { asScript, assertJsonpAllowed, callbackOf } from './jsonp.ts'
import type { KeptAnswer } from './kept-answers.ts'
import { mayBeLarge } from './large-writes.ts'
import { invocationOf, type Plan, planOf, routeFor } from './resolve.ts'
import { respond } from './respond.ts'
import { allowed, endpointAt, isAddress, methodNotAllowed } from './route.ts'
import type { Endpoint } from './routes.ts'
import { shownError } from './shown-error.ts'

/** What turns a request of a transport into its response. Never throws, and returns a promise only where something waits. */
export const requestHandler =
  (context: DispatchContext) =>
  (request: ServiceRequest): MaybePromise<ServiceResponse> => {
    try {
      const isFile = context.files && isForFile(context, request)
      const response = isFile ? withFile(context, request) : answerOrScript(context, request)
      return response instanceof Promise ? response.catch((error) => failed(error, context)) : response
    } catch (error) {
      return failed(error, context)
    }
  }

function failed(error: unknown, context: DispatchContext): ServiceResponse {
  const response = errorResponse(shownError(error), context.onError)
  return context.identify ? forOneRequester(response) : response
}

function answerOrScript(context: DispatchContext, request: ServiceRequest): MaybePromise<ServiceResponse> {
  const { query, body, peer } = request
  const mayHaveCallback =
    query.includes('callback=') || (typeof body === 'object' && body !== null && Object.hasOwn(body, 'callback'))
  const callback = context.jsonp && mayHaveCallback && !peer ? callbackOf(request, context.routes) : undefined
  const response =
    callback === undefined
      ? answer(context, request)
      : handleJsonp(context, request).then((response) => asScript(response, callback))
  return context.identify ? andThen(response, forOneRequester) : response
}

/** Everything between the transport and the operation; each line is one stage, which may refuse the request. */
function answer(context: DispatchContext, request: ServiceRequest): MaybePromise<ServiceResponse> {
  if (request.method === 'OPTIONS')
    return andThen(requesterFor(context, request), (known) => options(context, request, context.policy?.for(known)))
  if (request.path === '/' && context.landingPage) return withLandingPage(context.landingPage, context, request)
  if (request.path === clientScriptPath && isRead(request)) return clientScript(request)
  const requester = context.identify || request.peer ? requesterFor(context, request) : anonymous
  const after = request.headers['keelson-after']
  const waiting = after && context.position.waitFor(after, context.services.limits.maxAfterWaitMs)
  if (requester === anonymous && context.unrestricted && !waiting)
    return answerFor(context.unrestricted, context, request)
  if (!waiting) return andThen(requester, (known) => answerFor(authorizationFor(context, known), context, request))
  return Promise.all([requester, waiting]).then(([known]) =>
    answerFor(authorizationFor(context, known), context, request),
  )
}

function withLandingPage(
  page: LandingPage,
  context: DispatchContext,
  request: ServiceRequest,
): MaybePromise<ServiceResponse> {
  // It is made anew for each request.
  if (eventLoopTurn.isUsed && wantsPage(request))
    return eventLoopTurn.next().then(() => withLandingPage(page, context, request))
  return context.policy
    ? andThen(requesterFor(context, request), (known) => page(request, context.policy?.for(known)))
    : page(request)
}

function requesterFor({ identify }: DispatchContext, request: ServiceRequest): MaybePromise<Requester> {
  return request.peer?.requester ?? (identify && !request.peer ? identify(request) : anonymous)
}

function answerFor(
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): MaybePromise<ServiceResponse> {
  const endpoint = endpointAt(context.routes, request.path)
  if (endpoint) return answerEndpoint(endpoint, authorization, context, request)
  const { accept } = request.headers
  if (accept !== undefined && accept !== 'application/json') {
    const stream = openStream(authorization, context, request)
    if (stream) return stream
  }
  if (request.body !== undefined && mayWait(authorization, context, request))
    return context.largeWrites.run(request.body, request.peer ?? request, async () =>
      answerOperation(authorization, context, request),
    )
  return answerOperation(authorization, context, request)
}

/** Whether the request is a large write of records. What an action does with its body is not known. */
function mayWait({ access }: Authorization, { routes }: DispatchContext, request: ServiceRequest): boolean {
  const { method, path, body } = request
  if (!mayBeLarge(body)) return false
  const { operation } = routeFor(access, routes, method, path)
  return operation.effect === 'writes' && !operation.takesWholeBody
}

function answerOperation(
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): MaybePromise<ServiceResponse> {
  const plan = planOf(authorization.access, context, request)
  if (plan.match.operation.effect === 'writes') return answerWrite(plan, authorization, context, request)
  const position = context.position.latest ?? context.position.renew()
  const cached =
    plan.isKept || plan.isOfRecord ? lookupAnswer(plan, authorization, context, request, position) : undefined
  if (cached?.answer) return cached.answer.for(request, position)
  if (cached)
    return andThen(readToKeep(cached, plan, authorization, context, request), (kept) => kept.for(request, position))
  const invocation = invocationOf(plan, authorization.requester, request, undefined)
  const result = request.peer
    ? executeForSocket(request.peer, invocation, authorization, context, snapshotsOf(plan, authorization, context))
    : execute(invocation, authorization, context)
  const { encoding } = context
  const headers: Record<string, string> = position === undefined ? {} : { 'Keelson-Position': position }
  if (!(result instanceof Promise)) return respond(result, request, plan.match, encoding, headers)
  return result.then((result) => respond(result, request, plan.match, encoding, headers))
}

/** The answer without the conditions of the request, so that it serves others as well. */
function readToKeep(
  cached: CacheLookup,
  plan: Plan,
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): MaybePromise<KeptAnswer> {
  const { path, query } = request
  const unconditional = { path, query, headers: {} }
  const invocation = invocationOf(plan, authorization.requester, request, undefined)
  const read = (client: ReadOptions) =>
    andThen(execute(client === request ? invocation : { ...invocation, client }, authorization, context), (result) =>
      andThen(respond(result, unconditional, plan.match, context.encoding), (response) => {
        const kept = context.identify ? forOneRequester(response) : response
        return (context.answers as AnswerCache).keep(cached, kept, result)
      }),
    )
  const { reads } = cached.variant
  return reads ? reads.answers.read(request, read) : read(request)
}

/** Links in an answer begin with `base`, and a socket is subscribed to what it is answered: these are not kept. */
function lookupAnswer(
  plan: Plan,
  { access }: Authorization,
  { answers }: DispatchContext,
  { peer, base, poll, headers }: ServiceRequest,
  position: Position | undefined,
): CacheLookup | undefined {
  if (!answers || peer || base !== undefined) return undefined
  if (headers['keelson-after'] !== undefined && !answers.isCurrent) return undefined
  if (access) assertAllowed(plan.match.operation, plan.match, access)
  return answers.lookup(plan, access, poll, position)
}

/** Of a list that is asked for again, as in `lookupAnswer`. */
function snapshotsOf(plan: Plan, { access }: Authorization, { answers }: DispatchContext) {
  if (!plan.isKept || !answers) return undefined
  if (access) assertAllowed(plan.match.operation, plan.match, access)
  return answers.snapshotsOf(plan, access)
}

function answerEndpoint(
  { method, operation }: Endpoint,
  authorization: Authorization,
  context: DispatchContext,
  request: ServiceRequest,
): Promise<ServiceResponse> {
  if (request.method !== method) throw methodNotAllowed([method, 'OPTIONS'])
  switch (operation) {
    case 'batch':
      return answerBatch(authorization, context, request, (item) => answerFor(authorization, context, item))
    case 'live':
      return liveResponse(context.liveStreams, request, authorization, context.onError)
    case 'shapes':
      return assertDefined(context.shapes, 'shapes').respond(request, authorization)
  }
}

function openStream(
  authorization: Authorization,
  { routes, streams }: DispatchContext,
  request: ServiceRequest,
): Promise<ServiceResponse> | undefined {
  if (request.peer || !acceptsEventStream(request)) return undefined
  const { access } = authorization
  const match = routeFor(access, routes, request.method, request.path)
  if (match.operation.streams === undefined) return undefined
  if (access) assertAllowed(match.operation, match, access)
  return streams.open(request, match, authorization)
}

function options({ routes }: DispatchContext, { path }: ServiceRequest, access: Access | undefined): ServiceResponse {
  const endpoint = endpointAt(routes, path)
  const allow = endpoint
    ? [endpoint.method, 'OPTIONS']
    : path === '*' || path === '/'
      ? ['GET', 'HEAD', 'OPTIONS']
      : allowed(routes, path, access?.views.of)
  return { status: 204, headers: { Allow: allow.join(', ') } }
}

/** A script cannot see a status: errors are passed to its function like any answer. */
async function handleJsonp(context: DispatchContext, request: ServiceRequest): Promise<ServiceResponse> {
  try {
    assertJsonpAllowed(request, context.jsonp)
    // A page of another site reads anonymously, whatever the browser sends along.
    const identify = request.site === 'cross-site' ? undefined : context.identify
    return await answer({ ...context, identify }, request)
  } catch (error) {
    return errorResponse(shownError(error), context.onError)
  }
}

const isRead = ({ method }: ServiceRequest): boolean => method === 'GET' || method === 'HEAD'

/** Files are looked for where no route is; at `/` only when the landing page is not meant. */
function isForFile({ routes, landingPage }: DispatchContext, request: ServiceRequest): boolean {
  const { path, peer } = request
  if (peer || !isRead(request)) return false
  return path === '/' ? !landingPage || wantsPage(request) : !isAddress(routes, path)
}

async function withFile(context: DispatchContext, request: ServiceRequest): Promise<ServiceResponse> {
  return (await context.files?.(request)) ?? answerOrScript(context, request)
}

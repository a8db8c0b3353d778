import { type ErrorListener, errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import { isPromise, type MaybePromise } from '../../support/maybe-promise.ts'
import type { Observe } from '../../support/observation.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import { observePage, observeRequest } from '../observe-request.ts'
import { type OriginOptions, OriginPolicy } from '../origin-policy.ts'
import { type Cors, createCors } from './cors.ts'
import type { HttpRequest } from './http-request.ts'

export interface HttpOptions extends OriginOptions {
  /** Receives an observation of each request, when it is given. */
  readonly observe?: Observe | undefined
  /** Shared by all transports of a service. */
  readonly waiting?: WaitingBytes | undefined
  /** Receives unexpected errors. By default they are written to the console. */
  readonly onError?: ErrorListener | undefined
  /** A script that is served in front of the service. */
  readonly script?: Script | undefined
}

export interface Script {
  readonly path: string
  readonly response: ServiceResponse
}

/** What all requests of one HTTP handler share. */
export interface ServerContext {
  readonly service: Service
  readonly limits: Limits
  readonly onError: ErrorListener
  readonly policy: OriginPolicy
  readonly waiting: WaitingBytes
  readonly observe: Observe | undefined
  readonly cors: Cors | undefined
  readonly script: Script | undefined
}

export const logErrorToConsole: ErrorListener = (error) => console.error(error)

export function createServerContext(service: Service, limits: Limits, options: HttpOptions): ServerContext {
  const policy = new OriginPolicy(options)
  const cors = options.cors && createCors(options.cors, policy)
  const { onError = logErrorToConsole, waiting = new WaitingBytes(limits.maxWaitingBytes), observe, script } = options
  return { service, limits, onError, policy, cors, waiting, observe, script }
}

/**
 * Answers one request. Never throws and never rejects: any error, also one of reading the body, becomes a response. A long body
 * may take a turn of the event loop to be read and another one to be checked.
 */
export function handleHttpRequest(
  context: ServerContext,
  request: HttpRequest<object>,
  readBody?: () => Json | undefined,
  isLong = false,
): MaybePromise<ServiceResponse> {
  const { cors, policy, onError, script, observe } = context
  const { method, path, headers } = request
  if (observe) {
    const unobserved = { ...context, observe: undefined }
    observePage(observe, policy, headers)
    const answer = () => handleHttpRequest(unobserved, request, readBody, isLong)
    return observeRequest(observe, { transport: 'http', method, path }, answer)
  }
  if (headers.host !== policy.acceptedHost && !policy.acceptsHost(headers.host))
    return errorResponse(hostRefused(headers.host), onError)
  const preflight = cors?.preflight(method, headers)
  if (preflight) return preflight
  let response: MaybePromise<ServiceResponse>
  try {
    if (path.length + request.query.length >= context.limits.maxUrlBytes) assertShort(request, context.limits)
    if (headers.upgrade !== undefined) refuseWebSocket(headers.upgrade)
    if (readBody) request.body = readBody()
    const isScript = script !== undefined && path === script.path && (method === 'GET' || method === 'HEAD')
    if (isScript) response = script.response
    else if (isLong && eventLoopTurn.isUsed) response = eventLoopTurn.next().then(() => context.service.handle(request))
    else response = context.service.handle(request)
    if (response instanceof Promise) response = response.catch((error: unknown) => errorResponse(error, onError))
  } catch (error) {
    response = errorResponse(error, onError)
  }
  if (!cors) return response
  return isPromise(response) ? response.then((settled) => cors.allow(settled, headers)) : cors.allow(response, headers)
}

function assertShort({ path, query }: HttpRequest<object>, limits: Limits): void {
  if (path.length + (query === '' ? 0 : query.length + 1) > limits.maxUrlBytes) throw tooLong(limits)
}

const tooLong = ({ maxUrlBytes }: Limits): ServiceError =>
  new ServiceError('E_URL_TOO_LONG', `The URL is longer than ${maxUrlBytes} bytes`, { limit: 'maxUrlBytes' })

const hostRefused = (host: ServiceRequest['headers'][string]): ServiceError =>
  new ServiceError('E_FORBIDDEN', `The host ${JSON.stringify(host)} is not allowed: add its name to allowedHosts`)

/** HTTP allows a server to ignore an upgrade, but a WebSocket client would take a plain response for a broken server. */
function refuseWebSocket(upgrade: ServiceRequest['headers'][string]): void {
  if (typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket') {
    throw new ServiceError('E_BAD_REQUEST', 'No WebSocket endpoint at this URL')
  }
}

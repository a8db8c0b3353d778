import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { isPromise, type Maybe } from '../../support/maybe.ts'
import { type Cors, type CorsOptions, createCors } from './cors.ts'
import { failure, type Report, reportToConsole } from './fail.ts'

export interface HttpOptions {
  /** Told of errors that nobody expected. By default they go to the console. */
  readonly report?: Report | undefined
  /** Which other sites’ pages may use the service. By default none may. */
  readonly cors?: CorsOptions | undefined
}

/** What every request of one HTTP front shares, made once. */
export interface Front {
  readonly service: Service
  readonly limits: Limits
  readonly report: Report
  readonly cors: Cors | undefined
}

export const createFront = (service: Service, limits: Limits, options: HttpOptions): Front => ({
  service,
  limits,
  report: options.report ?? reportToConsole,
  cors: options.cors && createCors(options.cors),
})

/**
 * One request and its answer. There always is an answer: whatever goes wrong on the way, in reading the body too,
 * becomes one. `target` is the address as it was sent: a path, or a whole URL as proxies send it.
 */
export function exchange(
  front: Front,
  method: string,
  target: string,
  headers: ServiceRequest['headers'],
  readBody?: () => Json | undefined,
  base?: string,
): Maybe<ServiceResponse> {
  const { cors } = front
  const preflight = cors?.preflight(method, headers)
  if (preflight) return preflight
  const answer = ask(front, method, target, headers, readBody, base)
  if (!cors) return answer
  return isPromise(answer) ? answer.then((response) => cors.allow(response, headers)) : cors.allow(answer, headers)
}

function ask(
  { service, limits, report }: Front,
  method: string,
  target: string,
  headers: ServiceRequest['headers'],
  readBody: (() => Json | undefined) | undefined,
  base: string | undefined,
): Maybe<ServiceResponse> {
  try {
    const url = target.startsWith('/') ? target : withoutOrigin(target)
    if (url.length > limits.maxUrlBytes) throw tooLong(limits)
    if (headers.upgrade !== undefined) refuseWebSocket(headers.upgrade)
    const mark = url.indexOf('?')
    const answer = service.handle({
      method,
      path: mark === -1 ? url : url.slice(0, mark),
      base,
      query: mark === -1 ? '' : url.slice(mark + 1),
      body: readBody?.(),
      headers,
    })
    return isPromise(answer) ? answer.catch((error: unknown) => failure(error, report)) : answer
  } catch (error) {
    return failure(error, report)
  }
}

/** Of `http://host/path?query` only what comes after the host. Anything else stays as it is. */
function withoutOrigin(target: string): string {
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0]
  if (origin === undefined) return target
  const rest = target.slice(origin.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

const tooLong = ({ maxUrlBytes }: Limits): ServiceError =>
  new ServiceError('E_URL_TOO_LONG', `The address is longer than ${maxUrlBytes} bytes`, { limit: 'maxUrlBytes' })

/** Other upgrades may be ignored, and are; a WebSocket client would take a plain answer for a broken server. */
function refuseWebSocket(upgrade: ServiceRequest['headers'][string]): void {
  if (typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket') {
    throw new ServiceError('E_BAD_REQUEST', 'There is no WebSocket at this address')
  }
}

import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import { isPromise, type MaybePromise } from '../support/maybe-promise.ts'
import type { Observe, RequestObservation } from '../support/observation.ts'
import type { OriginPolicy } from './origin-policy.ts'

type Request = Pick<RequestObservation, 'transport' | 'method' | 'path'>

/** Reports a page of another origin that may not use the service: its browser does not tell it the reason. */
export function observePage(
  observe: Observe,
  policy: OriginPolicy,
  headers: ServiceRequest['headers'],
  only?: readonly string[],
): void {
  const { host, origin } = headers
  if (origin === undefined || !policy.acceptsHost(host) || policy.socketAccess(headers, only) !== 'none') return
  const page = origin === 'null' ? origin : URL.parse(String(origin))?.origin
  if (page !== undefined)
    observe({ kind: 'pageRefused', origin: page, option: only ? 'sockets.onlyAllowOrigins' : 'cors' })
}

/** Reports the request when its response is known. `answer` neither throws nor rejects. */
export function observeRequest(
  observe: Observe,
  { transport, method, path }: Request,
  answer: () => MaybePromise<ServiceResponse>,
): MaybePromise<ServiceResponse> {
  const startedAt = performance.now()
  const report = (response: ServiceResponse): ServiceResponse => {
    observe({ kind: 'request', transport, method, path, status: response.status, ms: performance.now() - startedAt })
    return response
  }
  const response = answer()
  return isPromise(response) ? response.then(report) : report(response)
}

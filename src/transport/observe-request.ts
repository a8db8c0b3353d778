import type { ServiceResponse } from '../protocol/request.ts'
import { isPromise, type MaybePromise } from '../support/maybe-promise.ts'
import type { Observe, RequestObservation } from '../support/observation.ts'

type Request = Pick<RequestObservation, 'transport' | 'method' | 'path'>

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

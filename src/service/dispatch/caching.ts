import type { ServiceResponse } from '../../protocol/request.ts'

/**
 * The response where requests have identities: no shared cache keeps it, and a browser asks again before it uses it for
 * what may be another user by then. `identify` may read any header; `Vary` names those that identities usually come from.
 */
export function forOneRequester(response: ServiceResponse): ServiceResponse {
  const { headers } = response
  if (headers['Cache-Control'] !== undefined) return response
  const vary = headers.Vary === undefined ? identityHeaders : `${headers.Vary}, ${identityHeaders}`
  return { ...response, headers: { ...headers, 'Cache-Control': 'private, no-cache', Vary: vary } }
}

const identityHeaders = 'Authorization, Cookie'

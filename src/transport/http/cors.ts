import { methods, type ServiceRequest, type ServiceResponse } from '../../protocol/request.ts'
import type { CorsOptions } from '../../service/config/config.ts'
import type { OriginPolicy } from '../origin-policy.ts'

export interface Cors {
  /** The response to a preflight request; undefined for every other request. */
  preflight(method: string, headers: ServiceRequest['headers']): ServiceResponse | undefined
  /** The response with the headers that let a page of a listed origin read it. */
  allow(response: ServiceResponse, headers: ServiceRequest['headers']): ServiceResponse
}

/** The CORS headers of responses, for the origins that the policy lists. */
export function createCors({ origins, credentials = false, maxAge }: CorsOptions, policy: OriginPolicy): Cors {
  /** The CORS headers for an origin; for one that is not listed only `Vary`. */
  function grant(origin: ServiceRequest['headers'][string], vary: string | undefined): Record<string, string> {
    if (origins === '*') return { 'Access-Control-Allow-Origin': '*' }
    const granted: Record<string, string> = { Vary: vary === undefined ? 'Origin' : `${vary}, Origin` }
    if (!policy.lists(origin)) return granted
    granted['Access-Control-Allow-Origin'] = origin as string
    if (credentials) granted['Access-Control-Allow-Credentials'] = 'true'
    return granted
  }

  return {
    preflight(method, headers) {
      if (method !== 'OPTIONS' || headers.origin === undefined) return undefined
      if (headers['access-control-request-method'] === undefined) return undefined
      const granted = grant(headers.origin, 'Access-Control-Request-Headers')
      if (granted['Access-Control-Allow-Origin'] === undefined) return { status: 204, headers: granted }
      granted['Access-Control-Allow-Methods'] = methods.join(', ')
      const wanted = headers['access-control-request-headers']
      if (typeof wanted === 'string' && headerNames.test(wanted)) granted['Access-Control-Allow-Headers'] = wanted
      if (maxAge !== undefined) granted['Access-Control-Max-Age'] = String(maxAge)
      return { status: 204, headers: granted }
    },

    allow(response, headers) {
      const granted = grant(headers.origin, response.headers.Vary)
      const exposed = Object.keys(response.headers).join(', ')
      if (exposed !== '' && granted['Access-Control-Allow-Origin'] !== undefined) {
        granted['Access-Control-Expose-Headers'] = exposed
      }
      return { ...response, headers: { ...response.headers, ...granted } }
    },
  }
}

const headerNames = /^[\w-]+(?:, ?[\w-]+)*$/

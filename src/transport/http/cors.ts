import { methods, type ServiceRequest, type ServiceResponse } from '../../protocol/request.ts'

export interface CorsOptions {
  /** Origins such as `https://app.example`, compared to the last character; or '*' for every site. */
  readonly origins: readonly string[] | '*'
  /** Whether pages may send cookies and keys along. Not together with '*'. */
  readonly credentials?: boolean | undefined
  /** Seconds for which a browser may remember what it was told. */
  readonly maxAge?: number | undefined
}

export interface Cors {
  /** The answer to a browser that asks whether it may; undefined for every other request. */
  preflight(method: string, headers: ServiceRequest['headers']): ServiceResponse | undefined
  /** The same response, readable by the page that asked if its origin is listed. */
  allow(response: ServiceResponse, headers: ServiceRequest['headers']): ServiceResponse
}

/** Throws when the options cannot be meant: better no start than an open door. */
export function createCors({ origins, credentials = false, maxAge }: CorsOptions): Cors {
  const listed = origins === '*' ? undefined : new Set(origins.map(checkOrigin))
  if (!listed && credentials) throw new Error("cors: credentials need a list of origins, not '*'")

  /** What the origin may be told; without an entry for it, only that the answer depends on it. */
  function grant(origin: ServiceRequest['headers'][string], vary: string | undefined): Record<string, string> {
    if (!listed) return { 'Access-Control-Allow-Origin': '*' }
    const granted: Record<string, string> = { Vary: vary === undefined ? 'Origin' : `${vary}, Origin` }
    if (typeof origin !== 'string' || !listed.has(origin)) return granted
    granted['Access-Control-Allow-Origin'] = origin
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

function checkOrigin(origin: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s*A-Z]+$/.test(origin)) return origin
  throw new Error(`cors: ${origin} is not an origin; write it as https://app.example, without a path, in lower case`)
}

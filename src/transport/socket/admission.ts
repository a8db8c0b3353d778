import type { Headers } from './sails-request.ts'

/** Who may open sockets from a browser. */
export interface AdmissionOptions {
  /** Pages of these origins and of no others, each written as `https://app.example`. */
  readonly onlyAllowOrigins?: readonly string[] | undefined
  /** Unless `onlyAllowOrigins` says it: these besides our own. */
  readonly cors?: { readonly origins: readonly string[] | '*'; readonly credentials?: boolean | undefined } | undefined
}

/**
 * What the requests of a connection begin with, by the headers it was opened with; undefined: it is refused. A browser
 * sends cookies along with any page's WebSocket and asks nobody, so this is the only place where a foreign page is stopped.
 */
export type Admission = (headers: Headers) => Headers | undefined

export function createAdmission({ onlyAllowOrigins, cors }: AdmissionOptions): Admission {
  const only = onlyAllowOrigins && new Set(onlyAllowOrigins)
  const listed = cors && cors.origins !== '*' ? new Set(cors.origins) : undefined

  function cookieCounts(origin: string, host: unknown): boolean | undefined {
    if (only) return only.has(origin) ? true : undefined
    if (URL.canParse(origin) && new URL(origin).host === host) return true
    if (cors?.origins === '*' || listed?.has(origin)) return cors?.credentials === true
    return undefined
  }

  return (headers) => {
    const { origin, host } = headers
    if (origin === undefined) return carried(headers, true) // no browser, so no page
    const counts = typeof origin === 'string' ? cookieCounts(origin, host) : undefined
    return counts === undefined ? undefined : carried(headers, counts)
  }
}

/** Of the opening itself, or of what a browser loads for a page: they say nothing of the requests that follow. */
const ofTheOpening = /^(?:connection|upgrade|sec-.*|accept.*|cache-control|pragma|if-.*|referer|purpose)$/

function carried(opened: Headers, withCookie: boolean): Headers {
  const headers: Record<string, Headers[string]> = {}
  for (const [name, value] of Object.entries(opened)) {
    if (ofTheOpening.test(name) || (name === 'cookie' && !withCookie)) continue
    headers[name] = value
  }
  // The page was judged when it connected: what it asks from now on is as good as from our own.
  headers['sec-fetch-site'] = 'same-origin'
  return headers
}

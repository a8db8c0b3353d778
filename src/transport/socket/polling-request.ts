import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EngineQuery } from './engine-query.ts'
import { refusals } from './refusal.ts'

/** Frameworks remove the path of a mount point from `req.url`. */
type Mounted = IncomingMessage & { readonly originalUrl?: unknown }

/** The whole path and query string of a request. */
export function addressOf({ originalUrl, url = '' }: Mounted): { readonly path: string; readonly query: string } {
  const address = typeof originalUrl === 'string' ? originalUrl : url
  const mark = address.includes('?') ? address.indexOf('?') : address.length
  return { path: address.slice(0, mark).replace(/\/$/, ''), query: address.slice(mark) }
}

/** Throws a Refusal for a request that is not one of long polling. */
export function assertPolling(req: IncomingMessage, { transport, sid }: EngineQuery): void {
  if (isEmbedded(req)) throw refusals.origin
  if (transport !== 'polling') throw refusals.handshake
  if (req.method === 'GET') return
  if (req.method !== 'POST' || sid === undefined) throw refusals.method
  if (req.headers['content-type'] === 'application/octet-stream') throw refusals.binary
  if (req.readableEnded) throw refusals.bodyRead
}

/** Whether a page of another origin loads the address as a script or an image, for which browsers send no `Origin`. */
const isEmbedded = ({ headers }: IncomingMessage): boolean =>
  headers.origin === undefined && /^(?:cross|same)-site$/.test(String(headers['sec-fetch-site']))

/** Lets a page of another origin, which has been accepted, read the responses of long polling. */
export function allowOrigin({ headers }: IncomingMessage, res: ServerResponse, withCookies: boolean): void {
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('Vary', 'Origin')
  if (headers.origin === undefined) return
  res.setHeader('Access-Control-Allow-Origin', headers.origin)
  if (withCookies) res.setHeader('Access-Control-Allow-Credentials', 'true')
}

/** Browsers send a preflight request before a request with additional headers. */
export function answerPreflight({ headers }: IncomingMessage, res: ServerResponse): void {
  const wanted = headers['access-control-request-headers']
  if (wanted !== undefined && /^[\w-]+(?:, ?[\w-]+)*$/.test(wanted)) {
    res.setHeader('Access-Control-Allow-Headers', wanted)
  }
  res.writeHead(204, { 'Access-Control-Allow-Methods': 'GET, POST' }).end()
}

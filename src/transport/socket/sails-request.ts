import { requireShallow } from '../../protocol/body-depth.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { checkedLength, requireBounded } from '../../protocol/json-size.ts'
import { maxHeaderBytes, methods, type ServiceRequest, type Site } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'

export type Headers = ServiceRequest['headers']

/** The name of the event is the method; a `method` in the message is ignored. */
const methodOf: ReadonlyMap<Json | undefined, string> = new Map(methods.map((method) => [method.toLowerCase(), method]))

/** A message that is not a request. The error message says why. */
export class MalformedMessage extends Error {}

/** The connection a message came from. */
export interface Sender {
  readonly peer: Peer
  /** The headers that all requests of the connection share. */
  readonly headers: Headers
}

/**
 * The request in an event; undefined when the event is not named for a method. Throws a MalformedMessage where Sails
 * reports a parse error, and a ServiceError for what HTTP refuses before the service is called.
 */
export function readRequest(list: string, sender: Sender, limits: Limits): ServiceRequest | undefined {
  const [event, message] = parseList(list, limits)
  const method = methodOf.get(event)
  if (method === undefined) return undefined
  if (!isJsonObject(message)) throw new MalformedMessage('The request is not an object')
  const { path, query } = readUrl(message.url, limits)
  const headers = readHeaders(message.headers, sender.headers)
  return {
    method,
    path,
    query,
    headers,
    body: readData(message, limits),
    site: siteOf(sender.headers),
    peer: sender.peer,
  }
}

/** The origin was checked at the handshake: requests of the connection count as requests of the service's own pages. */
const siteOf = ({ origin }: Headers): Site => (origin === undefined ? 'none' : 'same-origin')

/** Of a message around its body: the list and the object of the request. */
const outerLevels = 2

function parseList(text: string, limits: Limits): readonly Json[] {
  if (text.length > checkedLength) requireBounded(text, limits, limits.maxJsonDepth + outerLevels)
  try {
    const list: Json = JSON.parse(text)
    if (Array.isArray(list)) return list
  } catch {
    // Reported below.
  }
  throw new MalformedMessage('The message is not a JSON list')
}

function readUrl(url: Json | undefined, { maxUrlBytes }: Limits): { readonly path: string; readonly query: string } {
  if (url === undefined || url === null || url === '') throw new MalformedMessage('No url provided in request')
  if (typeof url !== 'string') throw new MalformedMessage('Invalid url provided: it is not a string')
  if (Buffer.byteLength(url) > maxUrlBytes) {
    throw new ServiceError('E_URL_TOO_LONG', `The URL is longer than ${maxUrlBytes} bytes`, {
      limit: 'maxUrlBytes',
    })
  }
  const address = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [target] = address.split('#', 1) as [string]
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  return { path: path.startsWith('/') ? path : `/${path}`, query: mark === -1 ? '' : target.slice(mark + 1) }
}

/** `data` is the body of every method; `params` is its older name. An empty object counts as no body. */
function readData({ data, params }: JsonObject, limits: Limits): Json | undefined {
  const body = isJsonObject(data) && isJsonObject(params) ? { ...params, ...data } : (data ?? params)
  if (body === undefined || body === null || (isJsonObject(body) && Object.keys(body).length === 0)) return undefined
  requireShallow(body, limits)
  return body
}

/** Headers that identify the client and its origin. Those of the handshake apply; a message cannot change them. */
const connectionOnly = /^(?:cookie|host|origin|referer|connection|upgrade|forwarded|(?:sec|proxy|x-forwarded)-.*)$/

function readHeaders(given: Json | undefined, shared: Headers): Headers {
  if (!isJsonObject(given)) return shared
  let headers: Record<string, Headers[string]> | undefined
  let length = 0
  for (const name of Object.keys(given)) {
    const key = name.toLowerCase()
    const value = given[name]
    if (connectionOnly.test(key) || (typeof value !== 'string' && typeof value !== 'number')) continue
    headers ??= Object.assign(Object.create(null), shared) as Record<string, Headers[string]>
    headers[key] = String(value)
    length += key.length + headers[key].length
    if (length > maxHeaderBytes)
      throw new ServiceError('E_BAD_REQUEST', `The headers are longer than ${maxHeaderBytes} characters`)
  }
  return headers ?? shared
}

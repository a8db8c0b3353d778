import { requireShallow } from '../../protocol/body-depth.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Peer } from '../../protocol/event.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import { methods, type ServiceRequest } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'

export type Headers = ServiceRequest['headers']

/** The name of the event is the method: it decides, whatever the message says of itself. */
const methodOf: ReadonlyMap<Json | undefined, string> = new Map(methods.map((method) => [method.toLowerCase(), method]))

/** A message that is no request; its text says why. */
export class Malformed extends Error {}

/** Who sends requests, and what is known of them already. */
export interface Sender {
  readonly peer: Peer
  /** What the connection began with. */
  readonly headers: Headers
}

/**
 * The request that an event carries; undefined for events that are none. Throws Malformed where the ancestor did, and a
 * ServiceError for what would be refused over HTTP before the service is asked.
 */
export function readRequest(list: string, sender: Sender, limits: Limits): ServiceRequest | undefined {
  const [event, message] = parseList(list)
  const method = methodOf.get(event)
  if (method === undefined) return undefined
  if (!isJsonObject(message)) throw new Malformed('The request is not an object')
  const { path, query } = readUrl(message.url, limits)
  const headers = readHeaders(message.headers, sender.headers)
  return { method, path, query, headers, body: readData(message, limits), peer: sender.peer }
}

function parseList(text: string): readonly Json[] {
  try {
    const list: Json = JSON.parse(text)
    if (Array.isArray(list)) return list
  } catch {
    // Told below.
  }
  throw new Malformed('The message is not a list in JSON')
}

function readUrl(url: Json | undefined, { maxUrlBytes }: Limits): { readonly path: string; readonly query: string } {
  if (url === undefined || url === null || url === '') throw new Malformed('No url provided in request')
  if (typeof url !== 'string') throw new Malformed(`Invalid url provided: it is not a text`)
  if (Buffer.byteLength(url) > maxUrlBytes) {
    throw new ServiceError('E_URL_TOO_LONG', `The address is longer than ${maxUrlBytes} bytes`, {
      limit: 'maxUrlBytes',
    })
  }
  const address = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const [place] = address.split('#', 1) as [string]
  const mark = place.indexOf('?')
  const path = mark === -1 ? place : place.slice(0, mark)
  return { path: path.startsWith('/') ? path : `/${path}`, query: mark === -1 ? '' : place.slice(mark + 1) }
}

/** `data` is the body, whatever the method; `params` is its name of old. One that holds nothing is none. */
function readData({ data, params }: JsonObject, limits: Limits): Json | undefined {
  const body = isJsonObject(data) && isJsonObject(params) ? { ...params, ...data } : (data ?? params)
  if (body === undefined || body === null || (isJsonObject(body) && Object.keys(body).length === 0)) return undefined
  requireShallow(body, limits)
  return body
}

/** What a page could otherwise pretend: who it is, and where it comes from. These are as the connection began. */
const ofTheConnection = /^(?:cookie|host|origin|referer|connection|upgrade|forwarded|(?:sec|proxy|x-forwarded)-.*)$/

function readHeaders(given: Json | undefined, begun: Headers): Headers {
  if (!isJsonObject(given)) return begun
  let headers: Record<string, Headers[string]> | undefined
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase()
    if (ofTheConnection.test(key) || (typeof value !== 'string' && typeof value !== 'number')) continue
    headers ??= Object.assign(Object.create(null), begun) as Record<string, Headers[string]>
    headers[key] = String(value)
  }
  return headers ?? begun
}

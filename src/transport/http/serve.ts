import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Service, ServiceResponse } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { isPromise, type Maybe } from '../../support/maybe.ts'
import { acceptJson } from './accept-json.ts'
import { createFront, exchange, type Front, type HttpOptions } from './exchange.ts'
import { failure } from './fail.ts'
import { bodyCounts, bodyTooLarge, parseBody } from './parse-body.ts'
import { readBody } from './read-body.ts'
import { write, writeEarly } from './write.ts'
import { OpenStreams, writeStream } from './write-stream.ts'

export type HttpHandler = (req: IncomingMessage, res: ServerResponse) => void

/**
 * The service as a listener for `node:http`, or as the last middleware of a framework: `req.url` may have been
 * rewritten to leave out a mount point, and a `req.body` that was already parsed is used. Nothing that a client sends
 * makes it throw.
 */
export function handler(
  service: Service,
  limits: Limits,
  options: HttpOptions & { readonly streams?: OpenStreams } = {},
): HttpHandler {
  const { streams = new OpenStreams() } = options
  const front: NodeFront = { ...createFront(service, limits, options), closing: new WeakSet(), streams }
  return (req, res) => {
    if (front.closing.has(req.socket)) return
    if (mayHaveBody(req)) receive(front, req, res)
    else send(front, res, request(front, req))
  }
}

interface NodeFront extends Front {
  /** Connections that end with an answer already given: what still comes on them is no request any more. */
  readonly closing: WeakSet<Socket>
  readonly streams: OpenStreams
}

/** What frameworks leave on a request: the body, if they read it themselves, and what they took off its address. */
type Received = IncomingMessage & {
  readonly body?: unknown
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
}

function baseOf({ baseUrl, originalUrl, url = '' }: Received): string | undefined {
  if (typeof baseUrl === 'string') return baseUrl
  if (typeof originalUrl !== 'string' || !originalUrl.endsWith(url)) return undefined
  return originalUrl.slice(0, originalUrl.length - url.length)
}

const mayHaveBody = (req: Received): boolean =>
  (req.headers['content-length'] ?? '0') !== '0' ||
  req.headers['transfer-encoding'] !== undefined ||
  req.body !== undefined

const request = (front: Front, req: Received, parse?: () => Json | undefined): Maybe<ServiceResponse> =>
  exchange(front, req.method as string, req.url as string, req.headers, parse, baseOf(req))

function receive(front: NodeFront, req: Received, res: ServerResponse): void {
  const { limits } = front
  const answer = (body: unknown): void => {
    const parse = bodyCounts(req.method as string) ? () => accept(req, body, limits) : undefined
    send(front, res, request(front, req, parse))
  }
  if (req.body !== undefined || req.readableEnded) answer(req.body)
  else readBody(req, limits.maxBodyBytes, (bytes) => (bytes ? answer(bytes) : refuseBody(front, req, res)))
}

function refuseBody(front: NodeFront, req: IncomingMessage, res: ServerResponse): void {
  const refusal = failure(bodyTooLarge(front.limits), front.report)
  front.closing.add(req.socket)
  writeEarly(req, res, front.cors?.allow(refusal, req.headers) ?? refusal)
}

/** The meaning of a body that came as bytes, or that somebody else has made text or a value of. */
function accept(req: IncomingMessage, body: unknown, limits: Limits): Json | undefined {
  if (body === undefined || body === null) return undefined
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (!(bytes instanceof Uint8Array)) return acceptJson(body as Json, limits)
  refuseSeveralTypes(req.rawHeaders)
  return parseBody(bytes, req.headers, limits)
}

/** Node keeps the first of several Content-Type headers; what stands before us may have judged the last. */
function refuseSeveralTypes(rawHeaders: readonly string[]): void {
  let found = false
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length !== 12 || name.toLowerCase() !== 'content-type') continue
    if (found) throw new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', 'There is more than one Content-Type header')
    found = true
  }
}

function send(front: NodeFront, res: ServerResponse, answer: Maybe<ServiceResponse>): void {
  if (isPromise(answer)) void answer.then((response) => sendNow(front, res, response))
  else sendNow(front, res, answer)
}

function sendNow(front: NodeFront, res: ServerResponse, response: ServiceResponse): void {
  try {
    const { stream } = response
    if (stream) writeStream(res, { ...response, stream }, streamOptionsOf(front))
    else write(res, response)
  } catch (error) {
    // An answer that cannot be written is a mistake of the service, which the client learns only the status of.
    write(res, failure(error, front.report))
  }
}

const streamOptionsOf = ({ streams, limits, report }: NodeFront) => ({
  streams,
  patienceMs: limits.slowReaderMs,
  report,
})

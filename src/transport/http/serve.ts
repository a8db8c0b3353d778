import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import type { Socket } from 'node:net'
import { requireBody } from '../../protocol/body-depth.ts'
import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import type { Service, ServiceResponse } from '../../protocol/request.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { isBytes } from '../../support/is-bytes.ts'
import { currentPoll } from '../../support/last-check.ts'
import type { Limits } from '../../support/limits.ts'
import { BodyWeight, isWeighed } from '../body-weight.ts'
import { isRepeated } from '../origin-policy.ts'
import { longLength, readBody } from '../read-body.ts'
import type { WorkerChannel } from '../worker-channel.ts'
import { WorkerSessions } from '../worker-sessions.ts'
import { type Connections, isLast } from './connections.ts'
import { createServerContext, type HttpOptions, handleHttpRequest, type ServerContext } from './handle-http-request.ts'
import { joinSmallChunks } from './join-small-chunks.ts'
import { NodeRequest, type Received } from './node-request.ts'
import { bodyTooLarge, methodsWithBody, parseBody, tooManyChunks } from './parse-body.ts'
import { Pipelines } from './pipelines.ts'
import { ReadingTurns } from './reading-turns.ts'
import { write, writeEarly } from './write.ts'
import { OpenStreams, type StreamOptions, writeStream } from './write-stream.ts'

export type HttpHandler = (req: IncomingMessage, res: ServerResponse) => void

/** Answers requests of another protocol that HTTP carries. */
export interface Intercept {
  /** The beginning of their paths. */
  readonly path: string
  /** False: the request is one to the service. */
  request(req: IncomingMessage, res: ServerResponse): boolean
}

export interface HandlerOptions extends HttpOptions {
  readonly intercept?: Intercept | undefined
  readonly streams?: OpenStreams
  /** Of the server whose requests these are. */
  readonly connections?: Connections
  /** Of these connections. */
  readonly turns?: ReadingTurns
  /** The other processes that share the port. */
  readonly workers?: WorkerChannel | undefined
}

/**
 * The service as a request listener for `node:http`, or as the last middleware of a framework: `req.url` may have been
 * rewritten to omit a mount point, and a `req.body` that was already parsed is used. No request makes it throw.
 */
export function handler(service: Service, limits: Limits, options: HandlerOptions = {}): HttpHandler {
  const { streams = new OpenStreams(), intercept, connections, turns = new ReadingTurns(connections) } = options
  const shared = createServerContext(service, limits, options)
  const { onError, waiting, observe } = shared
  const drain: StreamOptions = { streams, waiting, observe, idleTimeoutMs: limits.streamIdleTimeoutMs, onError }
  const workers = options.workers && new WorkerSessions(options.workers)
  const context: NodeServerContext = { ...shared, closing: new WeakSet(), drain, workers }
  let requests = 0
  const answer = (req: Received, res: ServerResponse): void => {
    if (context.closing.has(req.socket)) return
    pipelines.begin(req, res)
    const { headers } = req
    const isHttp2 = req.httpVersionMajor === 2
    if (isHttp2) headers.host = (headers[':authority'] as string | undefined) ?? headers.host
    const coding = headers['transfer-encoding']
    const length = headers['content-length']
    const isBodyless =
      (length === undefined || length === '0') &&
      coding === undefined &&
      req.body === undefined &&
      !(isHttp2 && hasBody(req))
    /** Before which the client had begun to send the request. */
    let poll: number | undefined
    if (connections) {
      if (req.socket.writableEnded) return // the server has ended the connection before the request arrived
      const connection = connections.open.get(req.socket)
      if (connection) {
        const { latest, poll: before } = connection
        connection.poll = isBodyless ? currentPoll() : undefined
        // What arrived in this poll is this request, and not the end of the one before it.
        if (before !== undefined && before !== connection.poll && latest?.closed !== false) poll = connection.poll
        connection.latest = res
        connection.request = requests
      }
      if (connections.isDraining && (!connection || isLast(connection, res))) res.setHeader('Connection', 'close')
    }
    const framing = coding === undefined ? undefined : framingError(coding, req)
    if (framing) {
      refuseEarly(context, req, res, framing)
      return
    }
    if (headers.expect !== undefined && !isExpected(headers.expect, req)) {
      write(res, expectationFailed, drain)
      return
    }
    if (intercept && String(req.originalUrl ?? req.url).startsWith(intercept.path) && intercept.request(req, res))
      return
    const isPath = req.url?.startsWith('/')
    if (isRepeated(req.rawHeaders, 'host') || (!isPath && namesOtherHost(req.url as string, headers.host)))
      write(res, errorResponse(severalHosts, onError), drain)
    else if (isBodyless) handleRequest(context, req, res, poll, undefined)
    else receive(context, req, res)
  }
  const pipelines = new Pipelines(answer, { turns, waiting, observe })
  return (req, res) => {
    // Only a response behind one that is pending on its connection has no socket yet.
    if (req.headers['transfer-encoding'] !== undefined)
      joinSmallChunks(req, {
        turns,
        maxChunks: limits.maxBodyChunks,
        refuse() {
          if (res.headersSent) req.socket.destroy()
          else refuseEarly(context, req, res, tooManyChunks(limits))
        },
      })
    if (++requests % requestsAtOnce === 0 && eventLoopTurn.isUsed)
      turns.holdActive(req.socket, requests - activeRequests)
    if (!res.socket) connections?.setLast(req.socket, res)
    if (res.socket || !pipelines.defer(req, res)) answer(req, res)
  }
}

/** A body of HTTP/2 has a length only if the client states it. */
const hasBody = (req: IncomingMessage): boolean => !(req as unknown as Http2ServerRequest).stream.endAfterHeaders

const severalHosts = new ServiceError('E_BAD_REQUEST', 'The request names more than one host')

/** Whether an absolute URL, as proxies send it, has another host than the header: HTTP says that the URL counts. */
function namesOtherHost(target: string, host: string | undefined): boolean {
  const named = /^https?:\/\/([^/?#]*)/i.exec(target)?.[1]
  return named !== undefined && named.toLowerCase() !== host?.toLowerCase()
}

/** Where another reader of the request, such as a proxy, may take another byte for the end of its body. */
function framingError(coding: string, { httpVersion }: IncomingMessage): ServiceError | undefined {
  if (httpVersion === '1.0') return new ServiceError('E_BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding')
  // Node refuses what does not end with chunks.
  if (!/, *chunked$/i.test(coding)) return undefined
  return new ServiceError('E_NOT_IMPLEMENTED', 'The only Transfer-Encoding that is supported is chunked')
}

const expectationFailed: ServiceResponse = { status: 417, headers: {} }

const isExpected = (expectation: string, { httpVersion }: IncomingMessage): boolean =>
  httpVersion !== '1.1' || /(?:^|\W)100-continue(?:$|\W)/i.test(expectation)

interface NodeServerContext extends ServerContext {
  /** Connections that close after a response already sent: data that still arrives on them is not a request. */
  readonly closing: WeakSet<Socket>
  readonly drain: StreamOptions
  readonly workers: WorkerSessions | undefined
}

/** So many take a millisecond or more. */
const requestsAtOnce = 64

/** A connection that has sent none of so many latest requests is idle. */
const activeRequests = 1024

/**
 * In characters: more than cookies and tokens of most clients take. Longer ones are answered one turn after another when many
 * connections send them at once.
 */
const shortHead = 4096

/** Whether the URL and the headers may hold what takes longer than most requests, such as a long condition. */
function hasLongHead({ url = '', rawHeaders }: IncomingMessage): boolean {
  let length = url.length
  for (const text of rawHeaders) length += text.length
  return length > shortHead
}

function handleRequest(
  context: NodeServerContext,
  req: Received,
  res: ServerResponse,
  poll: number | undefined,
  parse: (() => Json | undefined) | undefined,
  received?: unknown,
  weight?: BodyWeight,
  isLong?: boolean,
): void {
  if (hasLongHead(req) && eventLoopTurn.isUsed) {
    void eventLoopTurn.next().then(() => handleRequest(context, req, res, undefined, parse, received, weight, isLong))
    return
  }
  const request = new NodeRequest(context.policy, req.method as string, req.url as string, req.headers, res, poll)
  const response = handleHttpRequest(context, request, parse, isLong)
  const answer = (settled: ServiceResponse): void => {
    weight?.giveBack()
    send(context, req, received, res, settled)
  }
  if (response instanceof Promise) void response.then(answer)
  else answer(response)
}

function receive(context: NodeServerContext, req: Received, res: ServerResponse): void {
  const { limits } = context
  const respond = (body: unknown): void => {
    const weight = isBytes(body) && isWeighed(body) ? new BodyWeight(body, context.waiting) : undefined
    const parse = (): Json | undefined => {
      weight?.take()
      return parseReceived(req, body, limits)
    }
    handleRequest(
      context,
      req,
      res,
      undefined,
      methodsWithBody.has(req.method as string) ? parse : undefined,
      body,
      weight,
      isBytes(body) && body.length > longLength,
    )
  }
  if (req.body !== undefined || req.readableEnded) respond(req.body)
  else
    readBody(req, { ...context, maxBodyBytes: limits.maxBodyBytes }, respond, () =>
      refuseEarly(context, req, res, bodyTooLarge(limits)),
    )
}

/** Gives the connection to the worker that can serve the request, as it was received. The response is sent where that cannot be. */
function give(
  context: NodeServerContext,
  req: IncomingMessage,
  received: unknown,
  res: ServerResponse,
  response: ServiceResponse,
): boolean {
  const owner = isBytes(received) ? context.workers?.ownerOf(`${response.worker}.`) : undefined
  owner?.takeRequest(req, res, received as Uint8Array, () => send(context, req, undefined, res, response))
  return owner !== undefined
}

/** The rest of the body is not read, and the connection is closed. */
function refuseEarly(context: NodeServerContext, req: IncomingMessage, res: ServerResponse, error: ServiceError): void {
  const refusal = errorResponse(error, context.onError)
  context.closing.add(req.socket)
  writeEarly(req, res, context.cors?.allow(refusal, req.headers) ?? refusal)
}

/** Parses a body given as bytes, or as the text or value that a framework made of it. */
function parseReceived(req: IncomingMessage, body: unknown, limits: Limits): Json | undefined {
  if (body === undefined || body === null) return undefined
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (!isBytes(bytes)) return requireBody(body as Json, limits)
  if (isRepeated(req.rawHeaders, 'content-type')) {
    throw new ServiceError('E_UNSUPPORTED_MEDIA_TYPE', 'The request has more than one Content-Type header')
  }
  return parseBody(bytes, req.headers, limits)
}

function send(
  context: NodeServerContext,
  req: Received,
  received: unknown,
  res: ServerResponse,
  response: ServiceResponse,
): void {
  if (response.worker !== undefined && give(context, req, received, res, response)) return
  try {
    const { stream } = response
    if (stream) writeStream(res, { ...response, stream }, context.drain)
    else write(res, response, context.drain)
  } catch (error) {
    // A response that cannot be written is a defect of the service. Its status text stays where it is not reset; HTTP/2 has none.
    if (res.req.httpVersionMajor === 1) res.statusMessage = ''
    write(res, errorResponse(error, context.onError), context.drain)
  }
}

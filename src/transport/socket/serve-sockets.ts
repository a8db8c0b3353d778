import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { type Mirror, payloadOf, type SubscriptionEvent } from '../../protocol/event.ts'
import type { Handshake, LiveService } from '../../protocol/request.ts'
import type { Clock } from '../../support/clock.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import type { Limits } from '../../support/limits.ts'
import { ObjectCache } from '../../support/object-cache.ts'
import type { Observe } from '../../support/observation.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import { observePage } from '../observe-request.ts'
import { isRepeated, type OriginOptions, OriginPolicy } from '../origin-policy.ts'
import type { WorkerChannel } from '../worker-channel.ts'
import { type SessionOwner, WorkerSessions } from '../worker-sessions.ts'
import { connectionHeaders } from './connection-headers.ts'
import { cookieScript } from './cookie-script.ts'
import { type EngineQuery, readQuery } from './engine-query.ts'
import type { SessionOptions } from './engine-session.ts'
import { LibraryServer } from './library-server.ts'
import { eventPacket } from './packet.ts'
import { addressOf, allowOrigin, answerPreflight, assertPolling } from './polling-request.ts'
import { Refusal, refusals, refuse, refuseUpgrade } from './refusal.ts'
import type { Headers } from './sails-request.ts'
import { SharedPacket } from './shared-packet.ts'
import { SocketClients } from './socket-clients.ts'
import { WebSocketSession } from './web-socket-session.ts'

export interface SocketOptions extends OriginOptions {
  /** Only pages of these origins may connect; by default those of the service itself and those in `cors`. */
  readonly onlyAllowOrigins?: readonly string[] | undefined
  readonly limits: Limits
  /** The path clients connect to; `/socket.io` by default. */
  readonly path?: string | undefined
  /** Which events of its own changes a client receives; 'interface' by default. */
  readonly mirror?: Mirror | undefined
  /** The budget that all connections of a service share. */
  readonly waiting?: WaitingBytes | undefined
  /** The other processes that share the port. */
  readonly workers?: WorkerChannel | undefined
  readonly onError: (error: unknown) => void
  /** Receives an observation of each request, when it is given. */
  readonly observe?: Observe | undefined
  /** For tests. The default is monotonic: changes of the system time have no effect. */
  readonly clock?: Clock | undefined
}

export interface SocketServer {
  /** Number of open sessions. */
  readonly size: number
  /** The script that clients load over HTTP, on the same port. */
  readonly script: typeof cookieScript
  /** The path that requests begin with. */
  readonly path: string
  /** Answers a request of HTTP long polling; false: the request has another path. */
  request(req: IncomingMessage, res: ServerResponse): boolean
  /** Takes over the connection of a WebSocket handshake; false: the request has another path. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /** Sends the heartbeats that are due and terminates silent connections. Called every second. */
  heartbeat(): void
  /** Accepts no more sessions, lets running requests finish within `stopTimeoutMs`, and closes every session. */
  stop(): Promise<void>
}

const monotonic: Clock = { now: () => performance.now() }

const require = createRequire(import.meta.url)

const ignoreError = (): void => {}

/** `ws` is loaded for the first client: it takes six megabytes, and many services have no sockets. */
function openWebSockets({ maxMessageBytes }: Limits): WebSocketServer {
  const { WebSocketServer } = require('ws') as typeof import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  })
}

/** Serves Sails clients: the part of Socket.IO that they use, over WebSocket and HTTP long polling. */
export function serveSockets(service: LiveService, options: SocketOptions): SocketServer {
  const { limits, onError, clock = monotonic, mirror = 'interface' } = options
  const { waiting = new WaitingBytes(limits.maxWaitingBytes) } = options
  const path = `/${(options.path ?? 'socket.io').replace(/^\/|\/$/g, '')}`
  const policy = new OriginPolicy(options)
  const { observe } = options
  const clients = new SocketClients({
    service,
    limits,
    clock,
    mirror,
    waiting,
    onError,
    observe,
    packetOf: createPacketCache(),
  })
  const shared = { limits, waiting, observe, onError, now: () => clock.now() }
  const sessionOptions = { 3: { ...shared, version: 3 }, 4: { ...shared, version: 4 } } as const
  const workers = options.workers && new WorkerSessions(options.workers)
  const library = new LibraryServer(limits, sessionOptions, workers && (() => workers.createId()))
  let webSockets: WebSocketServer | undefined

  /** Whether the requests of a client have its cookies. Throws a Refusal for a page that may not connect. */
  function hasCookies(req: IncomingMessage): boolean {
    if (isRepeated(req.rawHeaders, 'host')) throw refusals.hosts
    const access = policy.socketAccess(req.headers, options.onlyAllowOrigins)
    if (observe) observePage(observe, policy, req.headers, options.onlyAllowOrigins)
    if (access === 'none') throw refusals.origin
    return access === 'with cookies'
  }

  /** The request that opens a session. Throws a Refusal when there are too many sessions. */
  function openHandshake(req: IncomingMessage, withCookies: boolean): Handshake {
    if (clients.isFull) throw refusals.full
    return handshakeOf(req, connectionHeaders(req.headers, withCookies))
  }

  /** The process that has a session which this process does not have. Throws a Refusal when there is none. */
  function ownerOf(sid: string): SessionOwner {
    const owner = workers?.ownerOf(sid)
    if (!owner) throw refusals.session
    return owner
  }

  function poll(req: IncomingMessage, res: ServerResponse, text: string): void {
    const withCookies = hasCookies(req)
    allowOrigin(req, res, withCookies)
    if (req.method === 'OPTIONS') {
      answerPreflight(req, res)
      return
    }
    const query = readQuery(text)
    assertPolling(req, query)
    if (query.sid === undefined) {
      openPolling(req, res, query, openHandshake(req, withCookies)).catch(onError)
    } else if (library.has(query.sid)) {
      library.request(req, res, query, query.sid).catch(onError)
    } else {
      const options = { maxBodyBytes: limits.maxMessageBytes, waiting, observe }
      ownerOf(query.sid).readRequest(req, res, options, () => refuse(res, refusals.pipelined))
    }
  }

  async function openPolling(
    req: IncomingMessage,
    res: ServerResponse,
    query: EngineQuery,
    handshake: Handshake,
  ): Promise<void> {
    if (!library.isLoaded) await library.load()
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    if (clients.isFull) refuse(res, refusals.full)
    else if (!res.closed) library.open(req, res, query, (session) => clients.open(session, handshake))
  }

  function openWebSocket(req: IncomingMessage, socket: Duplex, head: Buffer, text: string): void {
    const withCookies = hasCookies(req)
    const query = readQuery(text)
    if (query.transport !== 'websocket') throw refusals.transport
    if (query.sid === undefined) {
      const handshake = openHandshake(req, withCookies)
      const { [query.version]: options } = sessionOptions
      webSockets ??= openWebSockets(limits)
      webSockets.handleUpgrade(req, socket, head, (ws) => openSession(ws, socket, options, handshake))
    } else if (library.has(query.sid)) {
      library.upgrade(req, socket, head, query, query.sid)
    } else {
      // Its bytes would be those of the WebSocket: some versions of Node do not read it.
      if (hasBody(req)) throw refusals.handshake
      ownerOf(query.sid).takeUpgrade(req, head)
    }
  }

  /** A separate function, so that its closure does not keep the handshake request in memory. */
  function openSession(ws: WebSocket, socket: Duplex, options: SessionOptions, handshake: Handshake): void {
    clients.open(new WebSocketSession(ws, socket, options), handshake)
  }

  return {
    get size() {
      return clients.size
    },
    script: cookieScript,
    path,
    request(req, res) {
      const address = addressOf(req)
      if (address.path !== path) return false
      try {
        poll(req, res, address.query)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        refuse(res, error)
      }
      return true
    },
    upgrade(req, socket, head) {
      const address = addressOf(req)
      if (address.path !== path) return false
      const open = (): void => {
        try {
          openWebSocket(req, socket, head, address.query)
        } catch (error) {
          if (!(error instanceof Refusal)) throw error
          refuseUpgrade(socket, error)
        }
      }
      if (!eventLoopTurn.isUsed) {
        open()
        return true
      }
      // Many may connect at once, such as all clients of a service that was restarted. A reset of one that waits would otherwise
      // end the process: Node no longer handles errors of this socket.
      socket.on('error', ignoreError)
      eventLoopTurn
        .next()
        .then(open)
        .catch((error) => {
          onError(error)
          socket.destroy()
        })
      return true
    },
    heartbeat: () => clients.heartbeat(),
    stop: () => clients.stop(),
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined

/** A few values of the request, which itself is not kept in memory. */
const handshakeOf = (req: IncomingMessage, headers: Headers): Handshake => ({
  method: 'GET',
  path: addressOf(req).path,
  query: addressOf(req).query.replace(/^\?/, ''),
  headers,
  frameworkUser: (req as { readonly user?: unknown }).user,
})

/** Encodes an event for its first receiver and reuses the packet for all others. */
function createPacketCache(): (event: SubscriptionEvent) => SharedPacket {
  const packets = new ObjectCache<SubscriptionEvent, SharedPacket>()
  return (event) =>
    getOrInsertComputed(
      packets,
      event,
      () => new SharedPacket(eventPacket(event.model, JSON.stringify(payloadOf(event)))),
    )
}

import type { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { type Message, payloadOf } from '../../protocol/event.ts'
import type { LiveService, Service } from '../../protocol/request.ts'
import type { Clock } from '../../support/clock.ts'
import type { Limits } from '../../support/limits.ts'
import { type AdmissionOptions, createAdmission } from './admission.ts'
import { SocketClient, type SocketFront } from './client.ts'
import { Engine } from './engine.ts'
import { textFrame } from './frame.ts'
import { beside } from './over-http.ts'
import { type EngineVersion, eventPacket } from './packet.ts'
import { type Refusal, refusals, refuse } from './refuse.ts'
import type { Headers } from './sails-request.ts'

export interface SocketOptions extends AdmissionOptions {
  readonly limits: Limits
  /** Where clients connect; `/socket.io`. */
  readonly path?: string | undefined
  /** Who causes a change hears of it too; false. */
  readonly mirror?: boolean | undefined
  readonly report: (error: unknown) => void
  /** For tests. Without it time only goes forward, whatever happens to the clock of the machine. */
  readonly clock?: Clock | undefined
}

export interface SocketServer {
  /** How many are connected. */
  readonly size: number
  /** The service for HTTP on the same port, which answers there for the addresses that belong to sockets. */
  readonly overHttp: Service
  /** Takes over a connection that asks for a socket; false: it asks for something else. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean
  /** Asks those who are silent whether they are there, and gives up those who stay silent. Called every second. */
  beat(): void
  /** Takes no more, lets requests under way finish within `stopTimeoutMs`, and closes every socket. */
  stop(): Promise<void>
}

const monotonic: Clock = { now: () => performance.now() }
const beatEveryMs = 1_000

const require = createRequire(import.meta.url)

/** Loaded when the first client comes: with all that it needs it takes six megabytes, and many services have none. */
function openWebSockets({ maxMessageBytes }: Limits): WebSocketServer {
  const { WebSocketServer } = require('ws') as typeof import('ws')
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
  })
}

/** The protocol of the ancestor's clients: Socket.IO over WebSocket, as far as they use it. */
export function serveSockets(service: LiveService, options: SocketOptions): SocketServer {
  const { limits, report, clock = monotonic, mirror = false } = options
  const path = `/${(options.path ?? 'socket.io').replace(/^\/|\/$/g, '')}`
  const admit = createAdmission(options)
  const front: SocketFront = { service, limits, clock, mirror, report, frameOf: rememberFrames() }
  const clients = new Set<SocketClient>()
  let webSockets: WebSocketServer | undefined
  let beating: NodeJS.Timeout | undefined
  let stopping: PromiseWithResolvers<void> | undefined

  function beat(): void {
    const nowMs = clock.now()
    for (const client of [...clients]) client.beat(nowMs)
  }

  function refusalOf(query: URLSearchParams): Refusal | undefined {
    if (query.get('transport') !== 'websocket') return refusals.transport
    if (!['3', '4'].includes(query.get('EIO') ?? '')) return refusals.version
    if (query.has('sid')) return refusals.session
    if (stopping || clients.size >= limits.maxSockets) return refusals.full
    return undefined
  }

  function upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const url = req.url as string
    const mark = url.includes('?') ? url.indexOf('?') : url.length
    if (url.slice(0, mark).replace(/\/$/, '') !== path) return false
    const parameters = new URLSearchParams(url.slice(mark))
    const refusal = refusalOf(parameters)
    const headers = admit(req.headers)
    if (refusal || !headers) {
      refuse(socket, refusal ?? refusals.origin)
      return true
    }
    const version = parameters.get('EIO') === '3' ? 3 : 4
    webSockets ??= openWebSockets(limits)
    webSockets.handleUpgrade(req, socket, head, (ws: WebSocket) => enter(ws, socket, version, headers))
    return true
  }

  /** A function of its own, so that a client does not hold in memory what it connected with. */
  function enter(ws: WebSocket, socket: Duplex, version: EngineVersion, headers: Headers): void {
    const engine = new Engine(ws, socket, { version, limits, report, nowMs: clock.now() })
    const client = new SocketClient(front, { engine, version, headers, left: () => leave(client) })
    clients.add(client)
    beating ??= setInterval(beat, beatEveryMs).unref()
    client.open()
  }

  function leave(client: SocketClient): void {
    clients.delete(client)
    if (clients.size > 0) return
    clearInterval(beating)
    beating = undefined
    stopping?.resolve()
  }

  function stop(): Promise<void> {
    if (stopping) return stopping.promise
    stopping = Promise.withResolvers()
    if (clients.size === 0) stopping.resolve()
    const timer = setTimeout(() => {
      for (const client of [...clients]) client.cut()
    }, limits.stopTimeoutMs)
    for (const client of [...clients]) client.retire()
    return stopping.promise.finally(() => clearTimeout(timer))
  }

  return {
    get size() {
      return clients.size
    },
    overHttp: beside(service, path),
    upgrade,
    beat,
    stop,
  }
}

/** An event is encoded when the first one hears it. */
function rememberFrames(): (message: Message) => Buffer {
  const frames = new WeakMap<Message, Buffer>()
  return (message) => {
    const known = frames.get(message)
    if (known) return known
    const frame = textFrame(eventPacket(message.event.model, JSON.stringify(payloadOf(message.event))))
    frames.set(message, frame)
    return frame
  }
}

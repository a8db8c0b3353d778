import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Server, Socket } from 'engine.io'
import { assertDefined } from '../../support/assert.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import { readBody } from '../read-body.ts'
import type { EngineQuery } from './engine-query.ts'
import type { SessionOptions } from './engine-session.ts'
import { LibrarySession } from './library-session.ts'
import { loadEngineIo } from './load-engine-io.ts'
import type { EngineVersion } from './packet.ts'
import { splitPayload } from './payload.ts'
import { readAtOnce } from './read-in-turns.ts'
import { Refusal, refusals, refuse } from './refusal.ts'

/** The sessions that begin with HTTP long polling, served by the `engine.io` library. */
export class LibraryServer {
  readonly #limits: Limits
  readonly #sessionOptions: Readonly<Record<EngineVersion, SessionOptions>>
  readonly #createId: (() => string) | undefined
  readonly #sessions = new Map<string, LibrarySession>()
  readonly #opening = new WeakMap<IncomingMessage, (session: LibrarySession) => void>()
  #server: Server | undefined
  #loading: Promise<void> | undefined

  constructor(
    limits: Limits,
    sessionOptions: Readonly<Record<EngineVersion, SessionOptions>>,
    createId?: () => string,
  ) {
    this.#createId = createId
    this.#limits = limits
    this.#sessionOptions = sessionOptions
  }

  has(sid: string): boolean {
    return this.#sessions.has(sid)
  }

  get isLoaded(): boolean {
    return this.#server !== undefined
  }

  /** For the first client that needs the library; before `open`. */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  /** The first request of a session. */
  open(req: IncomingMessage, res: ServerResponse, query: EngineQuery, opened: (session: LibrarySession) => void): void {
    this.#opening.set(req, opened)
    this.#serve(req, res, query)
  }

  /** A later request of the session. */
  async request(req: IncomingMessage, res: ServerResponse, query: EngineQuery, sid: string): Promise<void> {
    const session = this.#sessions.get(sid)
    await session?.onRequest(req, res)
    if (res.closed) return
    if (req.method !== 'POST') return this.#serve(req, res, query)
    req.once('close', () => {
      // Its messages are lost.
      if (!req.complete) session?.terminate()
    })
    const options = this.#sessionOptions[query.version]
    readBody(
      req,
      { ...options, maxBodyBytes: this.#limits.maxMessageBytes },
      (body) => this.#receive(req, res, query, body).catch(options.onError),
      () => res.writeHead(413, { Connection: 'close' }).end(),
    )
  }

  async #receive(req: IncomingMessage, res: ServerResponse, query: EngineQuery, body: Uint8Array): Promise<void> {
    if (body.length > readAtOnce && eventLoopTurn.isUsed) await eventLoopTurn.next()
    const session = this.#sessions.get(query.sid as string)
    // At twice the rate a session is ended.
    const maxPackets = 2 * this.#limits.maxMessagesPerSecond
    const payload = Buffer.from(body.buffer, body.byteOffset, body.length).toString()
    const parts = splitPayload(payload, session?.version ?? query.version, maxPackets)
    if (parts instanceof Refusal) {
      session?.terminate()
      return refuse(res, parts)
    }
    // In a function of its own: the body is not kept while messages wait.
    return this.#pass(req, res, query, parts)
  }

  async #pass(req: IncomingMessage, res: ServerResponse, query: EngineQuery, parts: readonly string[]): Promise<void> {
    req.removeAllListeners('data').removeAllListeners('end')
    await this.#sessions.get(query.sid as string)?.receive(parts)
    this.#serve(req, res, query)
    req.emit('data', Buffer.from(parts.at(-1) as string))
    req.emit('end')
  }

  /** Throws a Refusal when the session cannot be upgraded. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, query: EngineQuery, sid: string): void {
    if (!this.#sessions.get(sid)?.onUpgrade(req, socket)) throw refusals.handshake
    prepare(req, query)
    const listeners = new Set(socket.rawListeners('close'))
    this.#library.handleUpgrade(req, socket, head)
    releaseRequest(socket, listeners)
  }

  #serve(req: IncomingMessage, res: ServerResponse, query: EngineQuery): void {
    prepare(req, query)
    // `node:http` gives a request without a body as one that is closed, and the library listens for the end of its connection.
    if (req.destroyed) res.once('close', () => req.emit('close'))
    this.#library.handleRequest(req, res)
  }

  get #library(): Server {
    return assertDefined(this.#server, 'the library is not loaded')
  }

  async #load(): Promise<void> {
    const { Server, WebSocketServer } = await loadEngineIo()
    const limits = this.#limits
    const server = new Server({
      allowEIO3: true,
      pingInterval: limits.pingIntervalMs,
      pingTimeout: limits.pingTimeoutMs,
      maxHttpBufferSize: limits.maxMessageBytes,
      httpCompression: false,
      perMessageDeflate: false,
      wsEngine: WebSocketServer,
    })
    if (this.#createId) server.generateId = this.#createId
    server.on('connection', (socket: Socket) => this.#onConnection(socket))
    this.#server = server
  }

  #onConnection(socket: Socket): void {
    const sid = (socket as unknown as { readonly id: string }).id
    const session = new LibrarySession(socket, this.#sessionOptions[socket.protocol === 3 ? 3 : 4])
    this.#sessions.set(sid, session)
    socket.once('close', () => this.#sessions.delete(sid))
    this.#opening.get(socket.request)?.(session)
    // The library keeps the first request of a session, and never reads it.
    socket.request = undefined as never
  }
}

/** The library parses the URL of a request only where this is missing. Other parameters select transports unused here. */
function prepare(req: IncomingMessage, { transport, version, sid }: EngineQuery): void {
  Object.assign(req, { _query: { transport, EIO: String(version), ...(sid !== undefined && { sid }) } })
}

/**
 * As long as an upgraded connection is open, the library would keep its request, 3 kB, for middlewares, of which there are
 * none: in the first listener that it adds.
 */
function releaseRequest(socket: Duplex, before: ReadonlySet<unknown>): void {
  const added = socket.rawListeners('close').find((listener) => !before.has(listener))
  if (added && 'listener' in added) socket.off('close', added as () => void)
}

import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorListener } from '../../protocol/error-response.ts'
import { maxHeaderBytes, type Service } from '../../protocol/request.ts'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import type { Limits } from '../../support/limits.ts'
import type { WorkerChannel } from '../worker-channel.ts'
import { refuse, refuseConnection } from './client-error.ts'
import { Connections, lingeringClose } from './connections.ts'
import { type HttpOptions, logErrorToConsole } from './handle-http-request.ts'
import { ReadingTurns } from './reading-turns.ts'
import { handler, type Intercept } from './serve.ts'
import { OpenStreams } from './write-stream.ts'

/** An import would also load `fetch` and HTTP/2, which the module re-exports: sixteen megabytes. */
const { createServer } = process.getBuiltinModule('node:http')

/** Handles a WebSocket upgrade and returns true; on false the connection is refused. */
export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export interface ListenOptions extends HttpOptions {
  readonly limits: Limits
  /** 0 chooses any free port. */
  readonly port: number
  /** The address to listen on; 127.0.0.1 by default, which accepts local connections only. */
  readonly host?: string | undefined
  readonly intercept?: Intercept | undefined
  readonly upgrade?: Upgrade | undefined
  /** The other processes that share the port. */
  readonly workers?: WorkerChannel | undefined
}

/** A server that accepts connections. Disposing it is `stop`. */
export interface HttpServer extends AsyncDisposable {
  /** The address that it listens on, as configured. */
  readonly host: string
  /** The port that it listens on; never 0. */
  readonly port: number
  /** A URL for clients on this machine, without a slash at the end: `http://localhost:1337` if it listens on all addresses. */
  readonly url: string
  /**
   * Accepts no more requests, completes those in progress within `stopTimeoutMs`, ends event streams so that their clients
   * reconnect, and closes all connections.
   */
  stop(): Promise<void>
}

/** Serves over HTTP. Rejects with the system's error code when the port cannot be opened. */
export async function listen(service: Service, options: ListenOptions): Promise<HttpServer> {
  const { limits, upgrade, host = '127.0.0.1', onError = logErrorToConsole } = options
  const streams = new OpenStreams()
  const connections = new Connections()
  const turns = new ReadingTurns(connections)
  const handle = handler(service, limits, { ...options, streams, connections, turns })
  const server = createServer(serverOptions(limits, upgrade))
  let stopping: Promise<void> | undefined

  server.maxConnections = limits.maxConnections
  // Otherwise the parent of several processes offers a connection to them again and again while all have that number.
  Object.assign(server, { dropMaxConnection: true }) // its types lack it
  server.on('connection', (socket) => connections.add(socket))
  server.on('clientError', (error, socket) => {
    // Thousands of headers may precede the error.
    if (eventLoopTurn.isLong) turns.holdOthers(socket as Socket)
    refuseConnection(error, socket, connections.get(socket))
  })
  server.on('request', handle)
  server.on('checkContinue', (req, res) => {
    // A body that will be refused for its declared size need not be sent.
    if (!(Number(req.headers['content-length']) > limits.maxBodyBytes)) res.writeContinue()
    handle(req, res)
  })
  // Node would answer all that arrive together in one turn of the event loop.
  server.on('checkExpectation', handle)
  if (upgrade) {
    server.on('upgrade', (req, socket, head) => {
      // While the body of the request has not arrived, `socket` is a stream around its connection.
      const pending = connections.pendingOn(req.socket)
      // Node no longer handles errors of this socket: without a listener a reset would end the process.
      socket.on('error', destroy)
      // What is sent before it would be read as that response.
      if (pending) return void pending.once('close', () => lingeringClose(socket))
      connections.markUpgraded(req.socket)
      offerUpgrade(upgrade, req, socket, head, onError)
    })
  }

  options.workers?.receive((connection, received) => {
    // Node counts those that it has accepted for this server.
    if (connections.open.size >= limits.maxConnections) return void connection.destroy()
    server.emit('connection', connection)
    connection.unshift(received)
    connection.resume()
  })

  const port = await open(server, options.port, host)
  server.on('error', onError)
  // server.close() would also close connections whose response is still being sent: Node counts them as idle.
  server.closeIdleConnections = () => {}

  async function drain(): Promise<void> {
    const timer = setTimeout(() => connections.terminate(), limits.stopTimeoutMs)
    streams.stop()
    connections.drain()
    await connections.backlogAccepted()
    await new Promise((resolve) => server.close(resolve))
    await connections.closed()
    clearTimeout(timer)
  }

  function stop(): Promise<void> {
    stopping ??= drain()
    return stopping
  }

  return { host, port, url: urlOf(host, port), stop, [Symbol.asyncDispose]: stop }
}

function serverOptions(limits: Limits, upgrade: Upgrade | undefined): ServerOptions {
  const headersTimeout = Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs)
  return {
    headersTimeout,
    requestTimeout: limits.requestTimeoutMs,
    // A timeout is detected at most a tenth too late.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 10),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxUrlBytes + maxHeaderBytes,
    // A request without the headers of a body is given as one whose body has ended, without the events of a stream.
    optimizeEmptyRequests: true,
    // Node versions with this setting ignore other upgrades, as HTTP allows.
    ...(upgrade && { shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket' }),
  }
}

function offerUpgrade(
  upgrade: Upgrade,
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  onError: ErrorListener,
): void {
  try {
    if (upgrade(req, socket, head)) return
    socket.resume()
    refuse(socket, '400 Bad Request', 'No WebSocket endpoint at this URL')
  } catch (error) {
    onError(error)
    socket.destroy()
  }
}

function destroy(this: Duplex): void {
  this.destroy()
}

function open(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(listenError(error, port, host))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

const listenErrors: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port, host) => `Port ${port} on ${host} is already in use by another program`,
  EACCES: (port, host) => `Port ${port} on ${host} cannot be opened by this user`,
  EADDRNOTAVAIL: (_, host) => `${host} is not an address of this machine`,
  ENOTFOUND: (_, host) => `${host} is not a known host name`,
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const reason = listenErrors[error.code ?? '']?.(port, host) ?? `Cannot listen on port ${port} of ${host}`
  return Object.assign(new Error(reason, { cause: error }), { code: error.code })
}

/** The URL for a browser on this machine. */
function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Service } from '../../protocol/request.ts'
import type { Limits } from '../../support/limits.ts'
import { refuse, refuseConnection } from './client-error.ts'
import { Connections } from './connections.ts'
import type { HttpOptions } from './exchange.ts'
import { type Report, reportToConsole } from './fail.ts'
import { handler } from './serve.ts'
import { OpenStreams } from './write-stream.ts'

/** An import would load whatever the module has a name for, a browser's `fetch` and HTTP/2 among it: sixteen megabytes. */
const { createServer } = process.getBuiltinModule('node:http')

/** Takes over a connection that asks to speak WebSocket, and says so; false: it is refused. */
export type Upgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export interface ListenOptions extends HttpOptions {
  readonly limits: Limits
  /** 0 takes any port that is free. */
  readonly port: number
  /** The address to listen on; by default only this machine can connect. */
  readonly host?: string | undefined
  readonly upgrade?: Upgrade | undefined
}

export interface HttpServer extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly url: string
  /**
   * Takes no more requests, finishes those under way within `stopTimeoutMs`, tells those who listen to streams to come
   * back, and closes every connection.
   */
  stop(): Promise<void>
}

/** Serves over HTTP. Rejects, with the code of the system's error, when the port cannot be had. */
export async function listen(service: Service, options: ListenOptions): Promise<HttpServer> {
  const { limits, upgrade, host = '127.0.0.1', report = reportToConsole } = options
  const streams = new OpenStreams()
  const handle = handler(service, limits, { ...options, streams })
  const server = createServer(settings(limits, upgrade))
  const connections = new Connections()
  let stopping: Promise<void> | undefined

  function serve(req: IncomingMessage, res: ServerResponse): void {
    connections.began(res)
    if (stopping) res.setHeader('Connection', 'close')
    handle(req, res)
  }

  server.maxConnections = limits.maxConnections
  server.on('connection', (socket) => connections.add(socket))
  server.on('clientError', (error, socket) => refuseConnection(error, socket, connections.of(socket)))
  server.on('request', serve)
  server.on('checkContinue', (req, res) => {
    // Who is going to be refused for the size of the body need not send it first.
    if (!(Number(req.headers['content-length']) > limits.maxBodyBytes)) res.writeContinue()
    serve(req, res)
  })
  if (upgrade) {
    server.on('upgrade', (req, socket, head) => {
      connections.handOver(socket)
      offer(upgrade, req, socket, head, report)
    })
  }

  const port = await open(server, options.port, host)
  server.on('error', report)
  // Closing a server closes what is idle, and Node counts a connection whose answer is still being sent among it.
  server.closeIdleConnections = () => connections.retire()

  function stop(): Promise<void> {
    stopping ??= new Promise((resolve) => {
      const timer = setTimeout(() => connections.cut(), limits.stopTimeoutMs)
      streams.stop()
      server.close(() => {
        clearTimeout(timer)
        resolve()
      })
    })
    return stopping
  }

  return { host, port, url: urlOf(host, port), stop, [Symbol.asyncDispose]: stop }
}

/** What the headers may take besides the address, which has its own limit and its own refusal. */
const headerBytes = 16_384

function settings(limits: Limits, upgrade: Upgrade | undefined): ServerOptions {
  const headersTimeout = Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs)
  return {
    headersTimeout,
    requestTimeout: limits.requestTimeoutMs,
    // A timeout is noticed at most a tenth late.
    connectionsCheckingInterval: Math.ceil(headersTimeout / 10),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxUrlBytes + headerBytes,
    // Where Node knows this setting, other upgrades are ignored, as HTTP says they may be.
    ...(upgrade && { shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket' }),
  }
}

function offer(upgrade: Upgrade, req: IncomingMessage, socket: Duplex, head: Buffer, report: Report): void {
  // Node has let go of the socket: without a listener its reset would end the process.
  socket.on('error', destroy)
  try {
    if (upgrade(req, socket, head)) return
    socket.resume()
    refuse(socket, '400 Bad Request', 'There is no WebSocket at this address')
  } catch (error) {
    report(error)
    socket.destroy()
  }
}

function destroy(this: Duplex): void {
  this.destroy()
}

function open(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error, port, host))
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

const reasons: Readonly<Record<string, (port: number, host: string) => string>> = {
  EADDRINUSE: (port, host) => `Port ${port} on ${host} is already in use by another program`,
  EACCES: (port, host) => `Port ${port} on ${host} may not be opened by this user`,
  EADDRNOTAVAIL: (_, host) => `${host} is not an address of this machine`,
  ENOTFOUND: (_, host) => `${host} is not the name of a machine`,
}

function explained(error: NodeJS.ErrnoException, port: number, host: string): Error {
  const reason = reasons[error.code ?? '']?.(port, host) ?? `Cannot listen on port ${port} of ${host}`
  return Object.assign(new Error(reason, { cause: error }), { code: error.code })
}

/** Where a browser on this machine finds it. */
function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

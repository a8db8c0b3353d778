import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { Service, ServiceRequest, ServiceResponse } from '../../src/protocol/request.ts'
import { defaultLimits, type Limits } from '../../src/support/limits.ts'
import { type HttpServer, type ListenOptions, listen } from '../../src/transport/http/listen.ts'

const answerTo = ({ method, path, body }: ServiceRequest): ServiceResponse => ({
  status: 200,
  headers: {},
  body: { method, path, body: body ?? 'none' },
})
export const echo: Service = { handle: answerTo }

/** A service that responds when the test says so. */
export function waiting() {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const service: Service = {
    handle(request) {
      asked.push(request.path)
      return new Promise((resolve) => answers.push(() => resolve(answerTo(request))))
    },
  }
  return { service, asked, answer: (index: number) => answers[index]?.() }
}

/** Records its requests. */
export const recording = (asked: string[]): Service => ({
  handle(request) {
    asked.push(request.path)
    return answerTo(request)
  },
})

export const limits: Limits = { ...defaultLimits, maxBodyBytes: 1000, stopTimeoutMs: 5_000 }
export const start = (service: Service = echo, options: Partial<ListenOptions> = {}): Promise<HttpServer> =>
  listen(service, { port: 0, limits, ...options })

/** A connection that sends text as given and records what it receives. */
export class HttpConnection {
  readonly socket: Socket
  readonly closed: Promise<void>
  received = ''

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.on('data', (chunk) => {
      this.received += chunk.toString()
    })
    // A reset is one way of closing a connection.
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()))
  }

  write(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  /** The text received until `pattern` matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.readableEnded || this.socket.destroyed) assert.fail(`closed after: ${this.received}`)
      await Promise.race([this.#next('data'), this.#next('end'), this.closed])
    }
    return this.received
  }

  /** The text received until the server closes. */
  async all(): Promise<string> {
    if (!this.socket.readableEnded && !this.socket.destroyed) {
      await Promise.race([this.#next('end'), this.closed])
    }
    this.socket.destroy()
    return this.received
  }

  #next(event: string): Promise<void> {
    return new Promise((resolve) => this.socket.once(event, () => resolve()))
  }
}

/** Sends bytes, ends, and returns the response. */
export async function sent(server: HttpServer, ...lines: readonly string[]): Promise<string> {
  const client = new HttpConnection(server.port)
  client.write(...lines)
  return client.all()
}

export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
export const statusesOf = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

/** The body of an error response, whose headers are checked. */
export function problemOf(answer: string): { readonly status: number; readonly code: string; readonly detail: string } {
  assert.match(answer, /\r\nContent-Type: application\/problem\+json; charset=utf-8\r\n/)
  assert.match(answer, /\r\nConnection: close\r\n/)
  assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/)
  const [, body] = answer.split('\r\n\r\n') as [string, string]
  assert.equal(Number(/Content-Length: (\d+)/.exec(answer)?.[1]), Buffer.byteLength(body))
  return JSON.parse(body)
}

export const close = 'Connection: close'

/** A WebSocket handshake. */
export const webSocket = [
  'GET /socket.io/?EIO=3 HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
]

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Why a request to Engine.IO is refused, in its codes and messages. */
export class Refusal extends Error {
  readonly status: 400 | 403 | 503
  readonly code: number

  constructor(status: 400 | 403 | 503, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const refusals = {
  transport: new Refusal(400, 0, 'Transport unknown'),
  session: new Refusal(400, 1, 'Session ID unknown'),
  /** The first request of a session is a GET. */
  method: new Refusal(400, 2, 'Bad handshake method'),
  /** A request for `transport=websocket` that is not a WebSocket handshake, or the other way round. */
  handshake: new Refusal(400, 3, 'Bad request'),
  /** Script elements send requests without an `Origin` header, and any page can read what they load. */
  jsonp: new Refusal(400, 3, 'JSONP polling is not supported'),
  binary: new Refusal(400, 3, 'Binary payloads are not supported'),
  packets: new Refusal(400, 3, 'Too many packets in one payload'),
  payload: new Refusal(400, 3, 'Invalid payload'),
  bodyRead: new Refusal(400, 3, 'No body, or it was already read: put the handler in front of body parsers'),
  origin: new Refusal(403, 4, 'Forbidden'),
  hosts: new Refusal(400, 3, 'More than one Host header'),
  version: new Refusal(400, 5, 'Unsupported protocol version'),
  /** A request for a session of another process, on a connection with other requests that are not answered. */
  pipelined: new Refusal(503, 3, 'Requests of this session must not be pipelined'),
  full: new Refusal(503, 3, 'The maximum number of sockets is open'),
} as const

const contentType = 'application/json; charset=utf-8'
const statusTexts = { 400: 'Bad Request', 403: 'Forbidden', 503: 'Service Unavailable' } as const

const bodyOf = ({ code, message }: Refusal): string => JSON.stringify({ code, message })

export function refuse(res: ServerResponse, refusal: Refusal): void {
  res.writeHead(refusal.status, { 'Content-Type': contentType, 'X-Content-Type-Options': 'nosniff' })
  res.end(bodyOf(refusal))
}

/** Answers an upgrade request with an HTTP response and closes the connection. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const body = bodyOf(refusal)
  // Node no longer handles errors of this socket: without a listener, a reset would end the process.
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${refusal.status} ${statusTexts[refusal.status]}\r\nContent-Type: ${contentType}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  )
}

import type { Duplex } from 'node:stream'
import type { ServiceResponse } from '../../protocol/request.ts'

/** Why somebody may not connect, in the words of the protocol. */
export interface Refusal extends ServiceResponse {
  readonly body: { readonly code: number; readonly message: string }
}

const refusal = (status: number, code: number, message: string): Refusal => ({
  status,
  headers: {},
  body: { code, message },
})

export const refusals = {
  /** Only WebSocket is spoken here. */
  transport: refusal(400, 0, 'Transport unknown'),
  /** Nobody can have begun elsewhere and go on here. */
  session: refusal(400, 1, 'Session ID unknown'),
  /** A WebSocket that was not asked for as one. */
  handshake: refusal(400, 3, 'Bad request'),
  origin: refusal(403, 4, 'Forbidden'),
  version: refusal(400, 5, 'Unsupported protocol version'),
  full: refusal(503, 3, 'No more sockets can be opened just now'),
}

const reasons: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 503: 'Service Unavailable' }

/** Answers an upgrade over HTTP, and closes. */
export function refuse(socket: Duplex, { status, body }: Refusal): void {
  const text = JSON.stringify(body)
  // Node has let go of the socket: without a listener its reset would end the process.
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${text}`,
  )
}

import type { Duplex } from 'node:stream'
import { problemType } from '../../protocol/error-response.ts'
import { inTurns } from '../../support/event-loop-turn.ts'
import { type Connection, lastOf, lingeringClose } from './connections.ts'

/** Errors of Node's HTTP parser and timeouts, raised before a request exists, by error code. */
const refusals: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The URL and the headers together are too long: maxUrlBytes bounds the URL',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The extensions of a chunk are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
}
/** The client has ended its side in the middle of a request: it is gone, and does not read a refusal. */
const cutOff = 'HPE_INVALID_EOF_STATE'
const notHttp = ['400 Bad Request', 'The data is not a valid HTTP request'] as const

const refusalOf = ({ code = '' }: NodeJS.ErrnoException) => refusals[code] ?? notHttp

/**
 * Ends a connection that received invalid HTTP. A pending response to an earlier request is sent first: the client
 * would read anything sent before it as that response.
 */
export function refuseConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  connection: Connection | undefined,
): void {
  // The parser reports every further chunk, too; the client is answered once.
  if (connection?.refused) return
  if (error.code === 'ECONNRESET' || !socket.writable || !connection) {
    socket.destroy()
    return
  }
  connection.refused = true
  const last = lastOf(connection)
  if (last && !last.closed && (last.req.complete || last.headersSent)) {
    last.once('close', () => lingeringClose(socket))
  } else if (last && !last.closed && !last.socket && error.code !== cutOff) {
    // The data is the body of a request that waits: it is refused when those before it are answered.
    last.once('socket', () => refuse(socket, ...refusalOf(error)))
  } else {
    // Thousands may leave or send this at once, and the system takes a while to close each connection and to send each refusal.
    inTurns(() => (error.code === cutOff ? socket.destroy() : refuse(socket, ...refusalOf(error))))
  }
}

/** Writes a complete response to a bare socket, where no response object exists, and closes the connection. */
export function refuse(socket: Duplex, status: string, detail: string): void {
  const number = Number.parseInt(status, 10)
  const title = status.slice(4)
  const body = JSON.stringify({ type: 'about:blank', title, status: number, code: 'E_BAD_REQUEST', detail })
  socket.write(
    `HTTP/1.1 ${status}\r\nContent-Type: ${problemType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  )
  lingeringClose(socket)
}

import type { Duplex } from 'node:stream'
import type { Connection } from './connections.ts'
import { problemType } from './fail.ts'
import { lingerMs } from './write.ts'

/** What Node's parser and its clock refuse before there is a request, by the code of the error. */
const refusals: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Content Too Large', 'The extensions of a chunk are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
}
const notHttp = ['400 Bad Request', 'This is not an HTTP request that can be understood'] as const

/**
 * Ends a connection on which something came that is no request. An answer that is owed on it, or on its way, goes
 * first: anything sent before it would be taken for it.
 */
export function refuseConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  connection: Connection | undefined,
): void {
  // It is told once, though the parser complains of all that comes after, too.
  if (connection?.refused) return
  if (error.code === 'ECONNRESET' || !socket.writable || !connection) {
    socket.destroy()
    return
  }
  connection.refused = true
  const { latest } = connection
  if (latest && !latest.closed && (latest.req.complete || latest.headersSent)) {
    latest.once('close', () => endGently(socket))
  } else {
    refuse(socket, ...(refusals[error.code ?? ''] ?? notHttp))
  }
}

/** Writes a whole answer where there is no response object to write it with, and closes the connection. */
export function refuse(socket: Duplex, status: string, detail: string): void {
  const number = Number.parseInt(status, 10)
  const title = status.slice(4)
  const body = JSON.stringify({ type: 'about:blank', title, status: number, code: 'E_BAD_REQUEST', detail })
  socket.write(
    `HTTP/1.1 ${status}\r\nContent-Type: ${problemType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  )
  endGently(socket)
}

/** Leaves a client that is still sending some time to hear what it was told; see `writeEarly`. */
function endGently(socket: Duplex): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}

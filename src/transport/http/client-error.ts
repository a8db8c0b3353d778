import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
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
 * Ends a connection on which something came that is no request. `latest` is the last request that did come on it:
 * when its answer is still owed, that is sent first, for anything sent before it would be taken for it.
 */
export function refuseConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  latest: ServerResponse | undefined,
): void {
  // It is told only once, though the parser complains of whatever comes after, too.
  if (socket.writableEnded) return
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  if (latest && !latest.closed) {
    if (latest.req.complete) return void latest.once('close', () => socket.destroy())
    if (latest.headersSent) return void socket.destroy()
  }
  refuse(socket, ...(refusals[error.code ?? ''] ?? notHttp))
}

/** Writes a whole answer where there is no response object to write it with, and closes the connection. */
export function refuse(socket: Duplex, status: string, detail: string): void {
  const number = Number.parseInt(status, 10)
  const title = status.slice(4)
  const body = JSON.stringify({ type: 'about:blank', title, status: number, code: 'E_BAD_REQUEST', detail })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${problemType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  )
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref()
  socket.once('close', () => clearTimeout(timer))
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type EncodedJson, isEncoded, type Json } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'

const jsonType = 'application/json; charset=utf-8'

export const textOf = (body: Json | EncodedJson): string => (isEncoded(body) ? body.encoded : JSON.stringify(body))

/** These answers never have a body, and say nothing of its length. */
export const isBodyless = ({ status }: ServiceResponse): boolean => status === 204 || status === 304

export function headersOf(response: ServiceResponse, length: number): Record<string, string | number> {
  if (isBodyless(response)) return { ...response.headers, ...always }
  if (response.body === undefined) return { ...response.headers, 'Content-Length': 0, ...always }
  return { 'Content-Type': jsonType, ...response.headers, 'Content-Length': length, ...always }
}

/** An answer in pieces says how long it is only where it knows. */
export const streamHeadersOf = ({ headers }: ServiceResponse): Record<string, string> => ({ ...headers, ...always })

/** Browsers must not guess: a record that looks like a page would be run as one. */
const always = { 'X-Content-Type-Options': 'nosniff' }

/** Sends an answer whole. Throws, before anything is sent, for headers that HTTP does not allow. */
export function write(res: ServerResponse, response: ServiceResponse): void {
  // The client is gone, or whoever called us has answered in our place.
  if (res.destroyed || res.headersSent) return
  const text = response.body === undefined || isBodyless(response) ? '' : textOf(response.body)
  res.writeHead(response.status, headersOf(response, Buffer.byteLength(text)))
  // For HEAD, Node leaves out the text and keeps what the headers say of it.
  res.end(text)
}

/** How long a client that we told to stop may go on sending before the connection is cut. */
export const lingerMs = 2_000

/**
 * Sends an answer while the body is still coming, and closes. Not at once: the kernel would reset the connection, and
 * a client that is still busy sending would never see the answer. What it sends meanwhile is thrown away.
 */
export function writeEarly(req: IncomingMessage, res: ServerResponse, response: ServiceResponse): void {
  if (res.destroyed || res.headersSent) return
  const text = response.body === undefined ? '' : textOf(response.body)
  res.writeHead(response.status, { ...headersOf(response, Buffer.byteLength(text)), Connection: 'close' })
  res.flushHeaders()
  res.write(text)
  const end = (): unknown => res.end()
  const timer = setTimeout(end, lingerMs).unref()
  res.once('close', () => clearTimeout(timer))
  req.once('end', end)
  req.socket.once('end', end)
  req.resume()
}

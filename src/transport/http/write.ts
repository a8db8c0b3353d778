import type { IncomingMessage, ServerResponse } from 'node:http'
import { EncodedJson, isEncoded, type Json } from '../../protocol/json.ts'
import { RepeatedResponse, type ServiceResponse } from '../../protocol/request.ts'
import { sliceLength, textSlices } from '../text-slices.ts'
import { DrainGuard, type DrainOptions } from './drain-guard.ts'

const jsonType = 'application/json; charset=utf-8'

export const textOf = (body: Json | EncodedJson): string => (isEncoded(body) ? body.encoded : JSON.stringify(body))

/** Responses of these statuses have no body and no Content-Length. */
export const isBodyless = ({ status }: ServiceResponse): boolean => status === 204 || status === 304

/** Browsers must not guess the type: a record that looks like HTML would be rendered as a page. */
const contentTypeOptions = ['X-Content-Type-Options', 'nosniff'] as const

/** The headers as a list of names and values, which Node takes without looking up each. */
export function headersOf({ status, headers, body }: ServiceResponse, length: number): (string | number)[] {
  const list: (string | number)[] = [...contentTypeOptions]
  for (const name in headers) list.push(name, headers[name] as string)
  if (status === 204 || status === 304) return list
  if (body !== undefined && headers['Content-Type'] === undefined) list.push('Content-Type', jsonType)
  list.push('Content-Length', length)
  return list
}

/** A streamed response has a Content-Length only when the service knows it. */
export const streamHeadersOf = ({ headers }: ServiceResponse): Record<string, string> => ({
  ...headers,
  [contentTypeOptions[0]]: contentTypeOptions[1],
})

/** Sends a complete response. Throws before anything is sent for headers that HTTP does not allow. */
export function write(res: ServerResponse, response: ServiceResponse, options: DrainOptions): void {
  // The client has disconnected, or a framework has already responded.
  if (res.destroyed || res.headersSent) return
  const { status, body } = response
  if (body instanceof EncodedJson && body.parts && !isBodyless(response)) {
    writeParts(res, response, body.parts, options)
    return
  }
  const text =
    body instanceof EncodedJson
      ? (body.text ?? body.encoded)
      : body === undefined || isBodyless(response)
        ? ''
        : textOf(body)
  const before = response instanceof RepeatedResponse ? response.sent : undefined
  const list = before ?? headersOf(response, Buffer.byteLength(text))
  if (response instanceof RepeatedResponse) response.sent = list
  res.writeHead(status, list)
  if (text.length > sliceLength && res.req.method !== 'HEAD') {
    void writeSlices(res, textSlices(text), text.length, options)
    return
  }
  // For HEAD, Node omits the text and keeps the headers.
  res.end(text)
  if (res.socket?.writableLength !== 0) new DrainGuard(res, options).ended()
}

function writeParts(
  res: ServerResponse,
  response: ServiceResponse,
  parts: readonly Uint8Array[],
  options: DrainOptions,
): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  res.writeHead(response.status, headersOf(response, length))
  if (res.req.method === 'HEAD') res.end()
  else void writeSlices(res, parts, length, options)
}

async function writeSlices(
  res: ServerResponse,
  slices: Iterable<string | Uint8Array>,
  length: number,
  options: DrainOptions,
): Promise<void> {
  const guard = new DrainGuard(res, options)
  let sent = 0
  for (const slice of slices) {
    sent += slice.length
    if (!res.write(slice)) await guard.drained(length - sent + res.writableLength)
    if (res.destroyed) return
  }
  res.end()
  guard.ended()
}

/** How long a refused client may continue to send before its connection is closed. */
export const lingerMs = 2_000

/**
 * Responds while the body is still arriving, then closes the connection after a delay: an immediate close would reset
 * it, and a client that is still sending would never receive the response. Data that arrives meanwhile is discarded.
 */
export function writeEarly(req: IncomingMessage, res: ServerResponse, response: ServiceResponse): void {
  if (res.destroyed || res.headersSent) return
  const text = response.body === undefined ? '' : textOf(response.body)
  res.writeHead(response.status, [...headersOf(response, Buffer.byteLength(text)), 'Connection', 'close'])
  res.flushHeaders()
  res.write(text)
  const end = (): unknown => res.end()
  const timer = setTimeout(end, lingerMs).unref()
  res.once('close', () => clearTimeout(timer))
  req.once('end', end)
  req.socket.once('end', end)
  req.resume()
}

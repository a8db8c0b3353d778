import type { Headers } from './sails-request.ts'

/** Headers of the handshake itself, or of a document that a browser loads: they do not apply to later requests. */
const handshakeOnly = /^(?:connection|upgrade|sec-.*|accept.*|cache-control|pragma|if-.*|referer|purpose)$/

/** The headers of a handshake that apply to all requests of the connection. */
export function connectionHeaders(handshake: Headers, withCookie: boolean): Headers {
  const headers: Record<string, Headers[string]> = {}
  for (const [name, value] of Object.entries(handshake)) {
    if (handshakeOnly.test(name) || (name === 'cookie' && !withCookie)) continue
    headers[name] = value
  }
  return headers
}

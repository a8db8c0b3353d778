import type { JsonObject } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'

/** Version of the Engine.IO protocol. In version 3 the client sends the heartbeats, in version 4 the server. */
export type EngineVersion = 3 | 4

/** An Engine.IO packet of a client, parsed. */
export type EnginePacket =
  | { readonly kind: 'close' }
  | { readonly kind: 'ping'; readonly data: string }
  | { readonly kind: 'message'; readonly packet: Packet }
  /** A valid packet that has no meaning for this server. */
  | { readonly kind: 'ignored' }

/** A Socket.IO packet of a client, parsed. */
export type Packet =
  | { readonly kind: 'connect'; readonly namespace: string }
  | { readonly kind: 'disconnect'; readonly namespace: string }
  | Event
  /** A valid packet that has no meaning for this server. */
  | { readonly kind: 'ignored' }

/** An event of a client; the list of its name and arguments is not parsed yet. */
export interface Event {
  readonly kind: 'event'
  readonly namespace: string
  /** The acknowledgement id as the client wrote it; undefined when it expects no response. */
  readonly ack: string | undefined
  readonly list: string
}

/** Undefined: the text violates the protocol. */
export function parseEnginePacket(text: string): EnginePacket | undefined {
  switch (text[0]) {
    case '1':
      return { kind: 'close' }
    case '2':
      return { kind: 'ping', data: text.slice(1) }
    case '3':
    case '6':
      return { kind: 'ignored' }
    case '4': {
      const packet = parsePacket(text.slice(1))
      return packet && { kind: 'message', packet }
    }
    default:
      return undefined
  }
}

const head = /^([0-3])(?:(\/[^,]*)(?:,|$))?(\d{1,15})?/

/** Undefined: the text violates the protocol. Binary packets count as violations: Sails clients never send them. */
export function parsePacket(text: string): Packet | undefined {
  const found = head.exec(text)
  if (!found) return undefined
  const [{ length }, type, address = '/', ack] = found
  // Clients of version 3 append the query string of their URL to the namespace.
  const namespace = (address.split('?', 1) as [string])[0]
  switch (type) {
    case '0':
      return { kind: 'connect', namespace }
    case '1':
      return { kind: 'disconnect', namespace }
    case '2':
      return text[length] === '[' ? { kind: 'event', namespace, ack, list: text.slice(length) } : undefined
    default:
      return { kind: 'ignored' } // an acknowledgement: the server never requests one
  }
}

/** The first Engine.IO packet of a session. */
export const openPacket = (sid: string, limits: Limits): string => {
  const { pingIntervalMs: pingInterval, pingTimeoutMs: pingTimeout, maxMessageBytes: maxPayload } = limits
  return `0${JSON.stringify({ sid, upgrades: [], pingInterval, pingTimeout, maxPayload })}`
}

export const pingPacket = '2'
export const pongPacket = (data: string): string => `3${data}`

/** The Engine.IO packet that contains a Socket.IO packet. All packets below are of Socket.IO. */
export const messagePacket = (packet: string): string => `4${packet}`

export const connectPacket = (version: EngineVersion, sid: string): string =>
  version === 3 ? '0' : `0${JSON.stringify({ sid })}`

export const disconnectPacket = '1'

/** A refused connection. `data` is for programs; clients of version 3 receive the message alone. */
export const connectErrorPacket = (
  version: EngineVersion,
  namespace: string,
  message: string,
  data?: JsonObject,
): string => {
  const address = namespace === '/' ? '' : `${namespace},`
  return `4${address}${JSON.stringify(version === 3 ? message : { message, ...(data && { data }) })}`
}

/** `argument` is JSON text. */
export const ackPacket = (ack: string, argument: string): string => `3${ack}[${argument}]`
export const eventPacket = (name: string, argument: string): string => `2[${JSON.stringify(name)},${argument}]`

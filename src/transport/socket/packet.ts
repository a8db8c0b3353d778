/** The two generations of the protocol: in the third of Engine.IO the client asks whether the other is there, in the fourth the server. */
export type EngineVersion = 3 | 4

/** What a text frame of a client says. */
export type Packet =
  | { readonly kind: 'close' }
  | { readonly kind: 'ping'; readonly data: string }
  | { readonly kind: 'pong' }
  | { readonly kind: 'connect'; readonly namespace: string }
  | { readonly kind: 'disconnect'; readonly namespace: string }
  | Message
  /** Means nothing here, and does no harm. */
  | { readonly kind: 'ignored' }

/** An event of a client, with the list of its arguments not parsed yet. */
export interface Message {
  readonly kind: 'message'
  readonly namespace: string
  /** The number under which the client waits for an answer, as it wrote it. */
  readonly ack: string | undefined
  readonly list: string
}

/** Undefined: it is not of this protocol. Binary packets are not understood either; no client of the ancestor sends one. */
export function parsePacket(frame: string): Packet | undefined {
  switch (frame[0]) {
    case '1':
      return { kind: 'close' }
    case '2':
      return { kind: 'ping', data: frame.slice(1) }
    case '3':
      return { kind: 'pong' }
    case '4':
      return parseMessage(frame)
    case '6':
      return { kind: 'ignored' }
    default:
      return undefined
  }
}

const head = /^4([0-3])(?:(\/[^,]*)(?:,|$))?(\d{1,15})?/

function parseMessage(frame: string): Packet | undefined {
  const found = head.exec(frame)
  if (!found) return undefined
  const [{ length }, type, address = '/', ack] = found
  // The old clients write the query string of their address here.
  const namespace = (address.split('?', 1) as [string])[0]
  switch (type) {
    case '0':
      return { kind: 'connect', namespace }
    case '1':
      return { kind: 'disconnect', namespace }
    case '2':
      return frame[length] === '[' ? { kind: 'message', namespace, ack, list: frame.slice(length) } : undefined
    default:
      return { kind: 'ignored' } // an answer: the server never asks for one
  }
}

interface Opening {
  readonly sid: string
  readonly pingInterval: number
  readonly pingTimeout: number
  readonly maxPayload: number
}

/** The first frame of a connection. */
export const openPacket = (opening: Opening): string => `0${JSON.stringify({ ...opening, upgrades: [] })}`

export const pingPacket = '2'
export const pongPacket = (data: string): string => `3${data}`

export const connectPacket = (version: EngineVersion, sid: string): string =>
  version === 3 ? '40' : `40${JSON.stringify({ sid })}`

export const disconnectPacket = '41'

/** That there is no such namespace. */
export const refusalPacket = (version: EngineVersion, namespace: string): string => {
  const message = 'Invalid namespace'
  return `44${namespace},${JSON.stringify(version === 3 ? message : { message })}`
}

/** The argument is JSON text already. */
export const answerPacket = (ack: string, argument: string): string => `43${ack}[${argument}]`
export const eventPacket = (name: string, argument: string): string => `42[${JSON.stringify(name)},${argument}]`

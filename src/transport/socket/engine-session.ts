import type { EncodedJson } from '../../protocol/json.ts'
import type { Limits } from '../../support/limits.ts'
import type { Observe } from '../../support/observation.ts'
import type { WaitingBytes } from '../../support/waiting-bytes.ts'
import type { EngineVersion, Packet } from './packet.ts'
import type { SharedPacket } from './shared-packet.ts'

/** An Engine.IO session: it carries Socket.IO packets, and sends the heartbeats and the closing of its transport. */
export interface EngineSession {
  readonly version: EngineVersion
  /** False as soon as either side closes the session: nothing may be sent after that. */
  readonly isOpen: boolean
  /** The client reads more slowly than the server writes. When it has read, `onDrain` is called. */
  readonly needsDrain: boolean
  /** Must be called before anything else. */
  listen(listener: SessionListener): void
  /** For responses: their number is limited by that of the requests. */
  reply(packet: string): void
  /** As `reply`, for a long packet, as UTF-8. */
  replyInParts(parts: readonly Uint8Array[]): void
  /** For everything that is not a response. False: `maxQueuedBytes` is exceeded, and the session is terminated. */
  push(packet: SharedPacket): boolean
  /** Stops reading; flow control then stops the client. */
  pause(): void
  resume(): void
  /** Sends the heartbeat that is due, or terminates a session that stays silent. Called about once per second. */
  heartbeat(nowMs: number): void
  /** Closes after all that was sent before. */
  close(code: number): void
  /** Closes at once. A client that does not read would not receive a closing packet either. */
  terminate(): void
}

export interface SessionListener {
  /** Public, unlike the id of a long polling session: any request with that one belongs to the session. */
  readonly id: string
  /** The client uses the session: with long polling, it has sent its second request. */
  onOpen(): void
  /** Undefined: a packet of Engine.IO that carries none of Socket.IO, such as a heartbeat. */
  onPacket(packet: Packet | undefined): void
  /** The write buffer is empty again. */
  onDrain(): void
  /** Called once. */
  onClose(): void
}

export interface SessionOptions {
  readonly version: EngineVersion
  readonly limits: Limits
  /** The budget of all connections; above it a session may be terminated. */
  readonly waiting: WaitingBytes
  readonly observe?: Observe | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Close codes of WebSocket. Clients reconnect after each of them. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupportedData: 1003,
  policyViolation: 1008,
  internalError: 1011,
  tryAgainLater: 1013,
  /** The client may fetch the error that says why. */
  unauthorized: 3000,
} as const

/** Memory used by a small packet in addition to its bytes. */
export const packetOverhead = 100

/** Sends a text in a packet; where it is in parts, without joining them. */
export function replyWith(session: EngineSession, argument: EncodedJson, packetOf: (text: string) => string): void {
  if (argument.parts) {
    const [before = '', after = ''] = packetOf('\n').split('\n')
    session.replyInParts([Buffer.from(before), ...argument.parts, Buffer.from(after)])
  } else session.reply(packetOf(argument.encoded))
}

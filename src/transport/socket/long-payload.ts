import { isAscii } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Transport } from 'engine.io'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { sliceLength, textSlices } from '../text-slices.ts'
import { textFrameHeader } from './frame.ts'
import { type EngineVersion, messagePacket } from './packet.ts'
import { separator } from './payload.ts'

/** The library writes the frame as it is; Socket.IO uses this option for its broadcasts. It is missing in the types. */
export interface FrameOptions {
  readonly compress: boolean
  readonly wsPreEncodedFrame?: readonly Buffer[]
}

interface MessageOptions extends FrameOptions {
  /** In UTF-8, in place of the data of the packet. */
  readonly parts: readonly Uint8Array[]
}

/** The options of a message that is sent without data, and its length in bytes. */
export function messageOf(parts: readonly Uint8Array[]): { readonly length: number; readonly options: MessageOptions } {
  const packet = [Buffer.from(messagePacket('')), ...parts]
  const length = packet.reduce((sum, part) => sum + part.length, 0)
  const options = {
    compress: false,
    parts,
    // Read when a WebSocket sends it, to which the session may be upgraded before a poll arrives.
    get wsPreEncodedFrame() {
      return [Buffer.concat([textFrameHeader(length), ...packet])]
    },
  }
  return { length, options }
}

/** What the library queues for a transport. */
interface QueuedPacket {
  readonly type: string
  readonly data?: string
  readonly options?: Partial<MessageOptions>
}

/** What the library uses of a transport of long polling, which is missing in its types. */
interface Polling {
  readonly req: IncomingMessage & { cleanup(): void }
  readonly res: ServerResponse
  writable: boolean
  send(packets: QueuedPacket[]): void
  headers(req: IncomingMessage, headers: Record<string, string>): Record<string, string>
  emit(event: 'drain'): void
}

const digits: Readonly<Record<string, number>> = {
  open: 0,
  close: 1,
  ping: 2,
  pong: 3,
  message: 4,
  upgrade: 5,
  noop: 6,
}
/**
 * Sends the long payloads of a transport in several turns of the event loop, as fast as the client reads: the library makes one
 * text of all packets, measures and encodes it at once.
 */
export function sendLongPayloads(transport: Transport, version: EngineVersion): void {
  const polling = transport as unknown as Polling
  const send = polling.send.bind(polling)
  polling.send = (packets) => {
    const length = packets.reduce((sum, packet) => sum + lengthOf(packet), 0)
    if (length <= sliceLength && !packets.some(hasParts)) return send(packets)
    polling.writable = false
    void write(polling, piecesOf(packets, version))
  }
}

async function write(polling: Polling, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  const { req, res } = polling
  res.writeHead(200, polling.headers(req, { 'Content-Type': 'text/plain; charset=UTF-8' }))
  for await (const piece of pieces) {
    if (!res.write(piece) && !res.destroyed) await drainedOrClosed(res)
    // The library has closed the session.
    if (res.destroyed) return
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  }
  res.end()
  req.cleanup()
  polling.emit('drain')
}

function drainedOrClosed(res: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = (): void => {
    res.off('drain', end).off('close', end)
    resolve()
  }
  res.on('drain', end).on('close', end)
  return promise
}

async function* piecesOf(
  packets: readonly QueuedPacket[],
  version: EngineVersion,
): AsyncGenerator<string | Uint8Array, undefined, undefined> {
  for (const [index, packet] of packets.entries()) {
    if (version === 3) yield `${1 + (await unitsOf(packet))}:`
    else if (index > 0) yield separator
    yield String(digits[packet.type])
    yield* packet.options?.parts ?? textSlices(packet.data ?? '')
  }
}

const hasParts = ({ options }: QueuedPacket): boolean => options?.parts !== undefined

const lengthOf = ({ data = '' }: QueuedPacket): number => data.length

/** UTF-16 code units. */
async function unitsOf({ data = '', options }: QueuedPacket): Promise<number> {
  let units = data.length
  for (const part of options?.parts ?? []) {
    units += isAscii(part) ? part.length : unitsIn(part)
    if (eventLoopTurn.isUsed) await eventLoopTurn.next()
  }
  return units
}

/** A character of UTF-8 is one unit, or two if it has four bytes; a part may begin and end within one. */
function unitsIn(part: Uint8Array): number {
  let units = 0
  for (const byte of part) if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1
  return units
}

import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import { inTurns } from '../../support/event-loop-turn.ts'
import { terminateIfSending } from './after-close.ts'
import {
  closeCodes,
  type EngineSession,
  packetOverhead,
  type SessionListener,
  type SessionOptions,
} from './engine-session.ts'
import { textFrame, textFrameHeader } from './frame.ts'
import { messagePacket, openPacket, parseEnginePacket, pingPacket, pongPacket } from './packet.ts'
import { readInTurns } from './read-in-turns.ts'
import { ReceivedBytes } from './received-bytes.ts'
import type { SharedPacket } from './shared-packet.ts'
import { UnreadBytes } from './unread-bytes.ts'

/**
 * An Engine.IO session that is a WebSocket from its first byte. Frames are written to the TCP socket itself, so that a
 * frame encoded once is not copied for each receiver; without compression `ws` would write the same bytes.
 */
export class WebSocketSession implements EngineSession {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #options: SessionOptions
  #receivedAtMs: number
  #pingedAtMs: number
  /** Upper bound of the buffered bytes that are not responses. */
  #pushedBytes = 0
  #unread: UnreadBytes | undefined
  #isOpen = true
  #isPaused = false
  #isHeld = false

  constructor(ws: WebSocket, socket: Duplex, options: SessionOptions) {
    this.#ws = ws
    this.#socket = socket
    this.#options = options
    this.#receivedAtMs = options.now()
    this.#pingedAtMs = this.#receivedAtMs
  }

  get version() {
    return this.#options.version
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#ws.readyState === this.#ws.OPEN
  }

  get needsDrain(): boolean {
    return this.#socket.writableNeedDrain
  }

  listen(listener: SessionListener): void {
    readInTurns(this.#socket, (isHeld) => {
      this.#isHeld = isHeld
      if (isHeld) this.#ws.pause()
      else this.#readOn()
    })
    const received = new ReceivedBytes(this.#socket, this.#options, () => this.terminate())
    this.#ws.on('message', (data: Buffer, isBinary) => {
      received.reset()
      if (!this.#isOpen) return
      this.#receivedAtMs = this.#options.now()
      if (isBinary) this.close(closeCodes.unsupportedData)
      else this.#receive(data.toString(), listener)
    })
    this.#ws.on('error', ignore)
    this.#ws.on('close', () => {
      this.#isOpen = false
      this.#unread?.[Symbol.dispose]()
      inTurns(() => listener.onClose())
    })
    this.#socket.on('drain', () => {
      this.#countUnread()
      listener.onDrain()
    })
    this.#write(openPacket(listener.id, this.#options.limits))
    listener.onOpen()
  }

  reply(packet: string): void {
    if (this.isOpen) this.#write(messagePacket(packet))
  }

  replyInParts(parts: readonly Uint8Array[]): void {
    if (!this.isOpen) return
    const packet = [Buffer.from(messagePacket('')), ...parts]
    this.#recount()
    this.#socket.cork()
    this.#socket.write(textFrameHeader(packet.reduce((sum, part) => sum + part.length, 0)))
    for (const part of packet) this.#socket.write(part)
    this.#socket.uncork()
    this.#countUnread()
  }

  push(packet: SharedPacket): boolean {
    return this.#push(packet.frame)
  }

  heartbeat(nowMs: number): void {
    const { version, limits } = this.#options
    if (!this.isOpen || this.#unread) return
    if (nowMs - this.#receivedAtMs > limits.pingIntervalMs + limits.pingTimeoutMs) {
      this.terminate()
    } else if (version === 4 && nowMs - this.#pingedAtMs >= limits.pingIntervalMs) {
      this.#pingedAtMs = nowMs
      this.#push(textFrame(pingPacket))
    }
  }

  pause(): void {
    this.#isPaused = true
    this.#ws.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#readOn()
  }

  close(code: number): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#ws.resume() // to receive the closing frame of the client
    this.#ws.close(code)
    terminateIfSending(this.#ws)
  }

  terminate(): void {
    this.#isOpen = false
    this.#ws.terminate()
  }

  #receive(text: string, listener: SessionListener): void {
    const received = parseEnginePacket(text)
    if (!received || received.kind === 'close') {
      this.close(received ? closeCodes.normal : closeCodes.protocolError)
      return
    }
    try {
      listener.onPacket(received.kind === 'message' ? received.packet : undefined)
    } catch (error) {
      this.#options.onError(error)
      this.close(closeCodes.internalError)
    }
    if (received.kind === 'ping') this.#push(textFrame(pongPacket(received.data)))
  }

  #write(text: string): void {
    this.#recount()
    this.#socket.write(textFrame(text))
    this.#countUnread()
  }

  #push(frame: Buffer): boolean {
    if (!this.isOpen) return false
    this.#recount()
    this.#socket.write(frame)
    if (this.#socket.writableLength > 0) this.#pushedBytes += frame.length + packetOverhead
    if (this.#pushedBytes > this.#options.limits.maxQueuedBytes) this.terminate()
    else this.#countUnread()
    return this.#isOpen
  }

  /** A client that does not read is not read from either: its messages would count as activity. */
  #countUnread(): void {
    if (this.needsDrain) {
      if (!this.#unread) this.#ws.pause()
      this.#unread ??= new UnreadBytes(this.#socket, this.#options, () => this.terminate())
      this.#unread.set(this.#socket.writableLength)
    } else if (this.#unread) {
      this.#unread[Symbol.dispose]()
      this.#unread = undefined
      this.#receivedAtMs = this.#options.now()
      this.#readOn()
    }
  }

  #readOn(): void {
    if (!this.#isPaused && !this.#unread && !this.#isHeld) this.#ws.resume()
  }

  #recount(): void {
    this.#pushedBytes = Math.min(this.#pushedBytes, this.#socket.writableLength)
  }
}

/** An invalid frame closes the connection; there is no request to send an error to. */
function ignore(): void {}

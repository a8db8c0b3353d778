import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Limits } from '../../support/limits.ts'
import { textFrame } from './frame.ts'
import { type EngineVersion, type Packet, parsePacket, pingPacket, pongPacket } from './packet.ts'

export interface EngineOptions {
  readonly version: EngineVersion
  readonly limits: Limits
  readonly nowMs: number
  readonly report: (error: unknown) => void
}

export interface EngineListener {
  packet(packet: Packet): void
  /** What was written has gone out; more may be. */
  drained(): void
  /** The connection is no more. Called once. */
  gone(): void
}

/** Why the connection ends, in the numbers of WebSocket. A client comes back by itself after any of them. */
export const closing = {
  done: 1000,
  goingAway: 1001,
  protocolError: 1002,
  notText: 1003,
  policy: 1008,
  ourFault: 1011,
  startAfresh: 1013,
} as const

/** What a small frame costs in memory besides its bytes. */
const frameOverhead = 100

/**
 * One connection: frames in and out, and whether the other is still there. Frames are written to the socket itself, so
 * that one made for many is not copied for each; without compression `ws` would do no more.
 */
export class Engine {
  readonly #ws: WebSocket
  readonly #socket: Duplex
  readonly #options: EngineOptions
  #heardAtMs: number
  #pingedAtMs: number
  /** At most so many of the bytes that wait in the socket are not answers. */
  #unasked = 0
  #isOpen = true
  #isPaused = false

  constructor(ws: WebSocket, socket: Duplex, options: EngineOptions) {
    this.#ws = ws
    this.#socket = socket
    this.#options = options
    this.#heardAtMs = options.nowMs
    this.#pingedAtMs = options.nowMs
  }

  /** To be called before anything else; `now` is asked when something comes. */
  listen(listener: EngineListener, now: () => number): void {
    this.#ws.on('message', (data: Buffer, isBinary) => {
      if (!this.#isOpen) return
      this.#heardAtMs = now()
      const packet = isBinary ? undefined : parsePacket(data.toString())
      if (packet) this.#pass(packet, listener)
      else this.close(isBinary ? closing.notText : closing.protocolError)
    })
    this.#ws.on('error', ignore)
    this.#ws.on('close', () => {
      this.#isOpen = false
      listener.gone()
    })
    this.#socket.on('drain', () => listener.drained())
  }

  /** From either side: once the other has said goodbye, nothing may be written. */
  get isOpen(): boolean {
    return this.#isOpen && this.#ws.readyState === this.#ws.OPEN
  }

  /** The other does not take as fast as we write. */
  get isBehind(): boolean {
    return this.#socket.writableNeedDrain
  }

  /** For answers: their number is bounded by that of the requests. */
  answer(text: string): void {
    if (!this.isOpen) return
    this.#recount()
    this.#socket.write(textFrame(text))
  }

  /** For what was not asked for. False: so much of it waits already that the connection was ended. */
  tell(frame: Buffer): boolean {
    if (!this.isOpen) return false
    this.#recount()
    this.#socket.write(frame)
    if (this.#socket.writableLength > 0) this.#unasked += frame.length + frameOverhead
    if (this.#unasked <= this.#options.limits.maxQueuedBytes) return true
    this.cut()
    return false
  }

  pong(data: string): void {
    this.tell(textFrame(pongPacket(data)))
  }

  /** Asks the other whether it is there, or gives it up; to be called every second or so. */
  beat(nowMs: number): void {
    const { version, limits } = this.#options
    if (!this.isOpen) return
    if (nowMs - this.#heardAtMs > limits.pingIntervalMs + limits.pingTimeoutMs) {
      this.cut()
    } else if (version === 4 && nowMs - this.#pingedAtMs >= limits.pingIntervalMs) {
      this.#pingedAtMs = nowMs
      this.tell(textFrame(pingPacket))
    }
  }

  /** Reads no more for now: the other will notice, and wait. */
  pause(): void {
    this.#isPaused = true
    this.#ws.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#ws.resume()
  }

  /** Says goodbye, after all that was written before. */
  close(code: number): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.resume() // to hear the other's goodbye
    this.#ws.close(code)
  }

  /** Ends it where it stands: who does not read would not hear a goodbye either. */
  cut(): void {
    this.#isOpen = false
    this.#ws.terminate()
  }

  #pass(packet: Packet, listener: EngineListener): void {
    try {
      listener.packet(packet)
    } catch (error) {
      this.#options.report(error)
      this.close(closing.ourFault)
    }
  }

  #recount(): void {
    this.#unasked = Math.min(this.#unasked, this.#socket.writableLength)
  }
}

/** What is wrong with a frame closes the connection; there is nobody to be told. */
function ignore(): void {}

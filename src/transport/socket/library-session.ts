import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Socket, Transport } from 'engine.io'
import type { WebSocket } from 'ws'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'
import { terminateIfSending } from './after-close.ts'
import {
  closeCodes,
  type EngineSession,
  packetOverhead,
  type SessionListener,
  type SessionOptions,
} from './engine-session.ts'
import { type FrameOptions, messageOf, sendLongPayloads } from './long-payload.ts'
import { parsePacket } from './packet.ts'
import { readInTurns } from './read-in-turns.ts'
import { ReceivedBytes } from './received-bytes.ts'
import type { SharedPacket } from './shared-packet.ts'
import { UnreadBytes } from './unread-bytes.ts'

/** What the library adds to the request of a WebSocket handshake. */
export type UpgradeRequest = IncomingMessage & { readonly websocket?: WebSocket }

interface LibraryPacket {
  readonly type: string
  readonly data?: unknown
}

/** As many bytes as Node buffers for a TCP socket before it asks to wait. */
const highWaterMark = 65_536
/** After a response, a client sends its next poll within this time. */
const nextPollMs = 2_000

/**
 * An Engine.IO session of the `engine.io` library: long polling, and the WebSocket it may be upgraded to. The library
 * sends the heartbeats and knows the transports. It has no limits for what is sent: the bytes that wait for the
 * transport, and those that the transport has not written yet, are counted here.
 */
export class LibrarySession implements EngineSession {
  readonly #socket: Socket
  readonly #options: SessionOptions
  #listener: SessionListener | undefined
  /** The response to the last poll, until it is written. */
  #poll: ServerResponse | undefined
  /** The last handshake, until the upgrade is complete. */
  #handshake: { readonly req: UpgradeRequest; readonly connection: Duplex } | undefined
  #ws: WebSocket | undefined
  /** That of the WebSocket. */
  #connection: Duplex | undefined
  #received: ReceivedBytes | undefined
  #queuedBytes = 0
  #writingBytes = 0
  /** Upper bound of the buffered bytes that are not responses. */
  #pushedBytes = 0
  #unread: UnreadBytes | undefined
  /** Whether a second request was made. */
  #isUsed = false
  #closingSinceMs: number | undefined
  #isHeld = false
  #resumed: PromiseWithResolvers<void> | undefined

  constructor(socket: Socket, options: SessionOptions) {
    this.#socket = socket
    this.#options = options
    // Otherwise the library keeps a closed session for 30 seconds, in case that the client fetches the closing packet.
    socket.transport.discard()
    sendLongPayloads(socket.transport, options.version)
  }

  get version() {
    return this.#options.version
  }

  get isOpen(): boolean {
    return this.#socket.readyState === 'open' && this.#closingSinceMs === undefined
  }

  get needsDrain(): boolean {
    return this.#bufferedBytes >= highWaterMark
  }

  listen(listener: SessionListener): void {
    this.#listener = listener
    this.#socket.on('packet', (packet: LibraryPacket) => this.#receive(packet, listener))
    this.#socket.on('packetCreate', (packet: LibraryPacket) => this.#onPacketCreate(packet))
    this.#socket.on('flush', () => {
      this.#writingBytes += this.#queuedBytes
      this.#queuedBytes = 0
    })
    this.#socket.on('upgrade', (transport: Transport) => {
      this.#ws = this.#handshake?.req.websocket
      this.#connection = this.#handshake?.connection
      this.#handshake = undefined
      if (this.#connection) this.#listenInTurns(this.#connection)
      transport.on('drain', () => this.#onWritten())
      if (this.#closingSinceMs !== undefined) this.#socket.close()
    })
    this.#socket.on('close', () => {
      // The library closes the WebSocket of an upgrade that is not complete by a handshake, for which it waits 30 seconds.
      this.#handshake?.connection.destroy()
      if (this.#isWriting) this.#poll?.destroy()
      this.resume()
      this.#unread?.[Symbol.dispose]()
      listener.onClose()
    })
  }

  /** A request of long polling for this session. Resolves when it may be passed to the library. */
  async onRequest(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.#use()
    if (req.method === 'POST') {
      await this.#resumed?.promise
    } else {
      // The client may not have read the response to the last one.
      if (this.#poll?.headersSent) await once(this.#poll, 'close')
      this.#poll = res
      res.once('close', () => this.#onPollClosed(res))
    }
  }

  /**
   * Parts of the body of a request. Resolves when the last one may be passed to the library. While requests of a part wait, so do
   * those after it, and count in the budget of all connections.
   */
  async receive(parts: readonly string[]): Promise<void> {
    const { waiting, observe } = this.#options
    const client = waiting.add(() => {
      observe?.({ kind: 'clientDisconnected', limit: 'maxWaitingBytes' })
      this.terminate()
    })
    // The library has this method for the whole body.
    const transport = this.#socket.transport as unknown as { onData(text: string): void }
    let left = parts.reduce((sum, part) => sum + part.length, 0)
    for (const part of parts.slice(0, -1)) {
      client.set(left)
      await this.#resumed?.promise
      if (!this.isOpen) break
      transport.onData(part)
      left -= part.length
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
    }
    client.set(left)
    await this.#resumed?.promise
    client.set(0)
  }

  /** A handshake for the upgrade of this session. False: it has been upgraded before, or tries to at the moment. */
  onUpgrade(req: UpgradeRequest, connection: Duplex): boolean {
    if (this.#socket.upgrading || this.#socket.upgraded) return false
    this.#use()
    this.#handshake = { req, connection }
    return true
  }

  reply(packet: string): void {
    if (this.isOpen) this.#socket.send(packet, { compress: false })
  }

  /** Of a text, the library would encode millions of characters in one turn. */
  replyInParts(parts: readonly Uint8Array[]): void {
    if (!this.isOpen) return
    const { length, options } = messageOf(parts)
    this.#queuedBytes += length
    this.#socket.send('', options)
  }

  push(packet: SharedPacket): boolean {
    if (!this.isOpen) return false
    const before = this.#bufferedBytes
    const options: FrameOptions = { compress: false, ...(this.#ws && { wsPreEncodedFrame: [packet.frame] }) }
    this.#socket.send(packet.text, options)
    if (this.#bufferedBytes > 0) this.#countPushed(before, packet.text.length)
    return this.isOpen
  }

  pause(): void {
    this.#resumed ??= Promise.withResolvers()
    this.#ws?.pause()
  }

  resume(): void {
    this.#resumed?.resolve()
    this.#resumed = undefined
    this.#readOn()
  }

  heartbeat(nowMs: number): void {
    if (!this.#isWriting && nowMs - (this.#closingSinceMs ?? nowMs) > nextPollMs) this.terminate()
  }

  /**
   * Between two polls no closing packet can be sent. The client may still fetch what is buffered; its next request is
   * refused, after which it connects again.
   */
  close(code: number): void {
    if (this.#ws) terminateIfSending(this.#ws)
    if (this.#ws || this.#poll?.headersSent === false) this.#socket.close()
    else if (this.#bufferedBytes === 0 || isByClient(code)) this.terminate()
    else this.#closingSinceMs ??= this.#options.now()
  }

  terminate(): void {
    this.#socket.close(true)
    this.#ws?.terminate()
    this.#poll?.destroy()
  }

  #listenInTurns(connection: Duplex): void {
    readInTurns(connection, (isHeld) => {
      this.#isHeld = isHeld
      if (isHeld) this.#ws?.pause()
      else this.#readOn()
    })
    this.#received = new ReceivedBytes(connection, this.#options, () => {
      connection.destroy()
      this.terminate()
    })
  }

  #readOn(): void {
    if (!this.#resumed && !this.#unread && !this.#isHeld) this.#ws?.resume()
  }

  /** A long response to a poll is being written. */
  get #isWriting(): boolean {
    return this.#poll?.headersSent === true && !this.#poll.writableEnded
  }

  get #bufferedBytes(): number {
    return this.#queuedBytes + this.#writingBytes
  }

  #use(): void {
    if (this.#isUsed) return
    this.#isUsed = true
    this.#listener?.onOpen()
  }

  #receive({ type, data }: LibraryPacket, listener: SessionListener): void {
    this.#received?.reset()
    if (!this.isOpen) return
    const packet = type === 'message' && typeof data === 'string' ? parsePacket(data) : undefined
    try {
      if (type === 'message' && !packet) this.#socket.close(true)
      else listener.onPacket(packet)
    } catch (error) {
      this.#options.onError(error)
      this.#socket.close(true)
    }
  }

  /** Any packet, before it is queued. Those that are no messages are the heartbeats of the library. */
  #onPacketCreate({ type, data }: LibraryPacket): void {
    const length = typeof data === 'string' ? data.length : 0
    if (type !== 'message') this.#countPushed(this.#bufferedBytes, length)
    this.#queuedBytes += length + packetOverhead
    this.#countUnread()
  }

  /** `before`: what was buffered before these bytes. */
  #countPushed(before: number, length: number): void {
    this.#pushedBytes = Math.min(this.#pushedBytes, before) + length + packetOverhead
    if (this.#pushedBytes > this.#options.limits.maxQueuedBytes) this.terminate()
  }

  #onPollClosed(poll: ServerResponse): void {
    if (this.#poll === poll) this.#poll = undefined
    // The library considers a response delivered when it has called `end`.
    if (poll.writableEnded && !poll.writableFinished) this.terminate()
    else this.#onWritten()
  }

  #onWritten(): void {
    this.#writingBytes = 0
    this.#countUnread()
    if (this.#closingSinceMs === undefined) this.#listener?.onDrain()
    else if (this.#bufferedBytes === 0) this.terminate()
  }

  /** A client that does not read is not read from either: its messages would count as activity. */
  #countUnread(): void {
    if (this.needsDrain) {
      this.#unread ??= new UnreadBytes(this.#connection, this.#options, () => this.terminate())
      this.#unread.set(this.#bufferedBytes)
      this.#ws?.pause()
    } else if (this.#unread) {
      this.#unread[Symbol.dispose]()
      this.#unread = undefined
      this.#readOn()
    }
  }
}

/** The client ended the session, or misused it: it is not going to fetch what is buffered. */
const isByClient = (code: number): boolean => code === closeCodes.normal || code === closeCodes.policyViolation

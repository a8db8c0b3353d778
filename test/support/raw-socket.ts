import assert from 'node:assert/strict'
import { type Agent, request } from 'node:http'
import { WebSocket } from 'ws'
import type { Json } from '../../src/protocol/json.ts'

/** A WebSocket that sends frames as given and records all frames received. */
export class RawSocket implements AsyncDisposable {
  readonly ws: WebSocket
  readonly received: string[] = []
  /** The code of the closing frame; 1006 without one. */
  readonly closed: Promise<number>
  #waiting: (() => void)[] = []
  #acks = 0

  private constructor(ws: WebSocket) {
    this.ws = ws
    ws.on('message', (data) => {
      this.received.push(String(data))
      this.#wake()
    })
    this.closed = new Promise((resolve) => ws.on('close', (code) => resolve(code)))
    void this.closed.then(() => this.#wake())
    ws.on('error', () => {})
  }

  /** Resolves when the WebSocket is open. An agent may provide a connection that was used for HTTP before. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}, agent?: Agent): Promise<RawSocket> {
    const options = { headers, perMessageDeflate: false, ...(agent && { agent }) }
    const socket = new RawSocket(new WebSocket(url.replace(/^http/, 'ws'), options))
    await new Promise((resolve, reject) => socket.ws.once('open', resolve).once('error', reject))
    return socket
  }

  /** Connects with Engine.IO 3, as `sails.io.js` does, and waits for the connect packet. */
  static async connect(base: string, headers?: Readonly<Record<string, string>>): Promise<RawSocket> {
    const socket = await RawSocket.open(`${base}/socket.io/?EIO=3&transport=websocket`, headers)
    await socket.until((frame) => frame.startsWith('0{'))
    await socket.until((frame) => frame === '40')
    return socket
  }

  send(frame: string | Uint8Array): void {
    this.ws.send(frame)
  }

  /** Removes and returns the first frame, received or awaited, that satisfies the predicate. */
  async until(predicate: (frame: string) => boolean): Promise<string> {
    for (;;) {
      const index = this.received.findIndex(predicate)
      if (index !== -1) return this.received.splice(index, 1)[0] as string
      assert.ok(
        this.ws.readyState <= WebSocket.OPEN,
        `closed before the frame arrived; received: ${this.received.join(' ')}`,
      )
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Sends an event and resolves with its acknowledgement. */
  async ask(event: string, ...args: readonly unknown[]): Promise<Answer> {
    const ack = this.#acks++
    this.send(`42${ack}${JSON.stringify([event, ...args])}`)
    const head = `43${ack}[`
    const frame = await this.until((frame) => frame.startsWith(head))
    return JSON.parse(frame.slice(head.length - 1))[0]
  }

  /** Removes all frames received so far and returns the events among them. */
  events(): readonly (readonly [name: string, payload: Json])[] {
    const events = this.received.filter((frame) => frame.startsWith('42['))
    this.received.length = 0
    return events.map((frame) => JSON.parse(frame.slice(2)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ws.terminate()
    await this.closed
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export interface Answer {
  readonly statusCode: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it requested
  readonly body?: any
  readonly headers: Readonly<Record<string, string>>
}

export interface Refused {
  readonly status: number
  readonly body: Json
}

/** The HTTP response to a WebSocket handshake that is refused. */
export function refusedUpgrade(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Refused> {
  const handshake = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { ...handshake, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode as number, body: JSON.parse(Buffer.concat(chunks).toString()) })
      })
    })
    sent.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('the handshake was not refused'))
    })
    sent.on('error', reject)
    sent.end()
  })
}

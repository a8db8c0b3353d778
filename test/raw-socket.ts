import assert from 'node:assert/strict'
import { type Agent, request } from 'node:http'
import { WebSocket } from 'ws'
import type { Json } from '../src/protocol/json.ts'

/** A client that says exactly what it is told to, and hears everything. */
export class RawSocket implements AsyncDisposable {
  readonly ws: WebSocket
  readonly heard: string[] = []
  /** The number of the closing frame; 1006 when there was none. */
  readonly closed: Promise<number>
  #waiting: (() => void)[] = []
  #acks = 0

  private constructor(ws: WebSocket) {
    this.ws = ws
    ws.on('message', (data) => {
      this.heard.push(String(data))
      this.#wake()
    })
    this.closed = new Promise((resolve) => ws.on('close', (code) => resolve(code)))
    void this.closed.then(() => this.#wake())
    ws.on('error', () => {})
  }

  /** Connects, and resolves when the WebSocket is open. An agent may have a connection that was used before. */
  static async open(url: string, headers: Readonly<Record<string, string>> = {}, agent?: Agent): Promise<RawSocket> {
    const options = { headers, perMessageDeflate: false, ...(agent && { agent }) }
    const socket = new RawSocket(new WebSocket(url.replace(/^http/, 'ws'), options))
    await new Promise((resolve, reject) => socket.ws.once('open', resolve).once('error', reject))
    return socket
  }

  /** Connects in the third generation, as `sails.io.js` does, and waits until it is served. */
  static async connect(base: string, headers?: Readonly<Record<string, string>>): Promise<RawSocket> {
    const socket = await RawSocket.open(`${base}/socket.io/?EIO=3&transport=websocket`, headers)
    await socket.until((frame) => frame.startsWith('0{'))
    await socket.until((frame) => frame === '40')
    return socket
  }

  send(frame: string | Uint8Array): void {
    this.ws.send(frame)
  }

  /** The first frame heard, earlier or later, that is as wanted; it is not found again. */
  async until(wanted: (frame: string) => boolean): Promise<string> {
    for (;;) {
      const index = this.heard.findIndex(wanted)
      if (index !== -1) return this.heard.splice(index, 1)[0] as string
      assert.ok(this.ws.readyState <= WebSocket.OPEN, `closed before it heard that; it heard ${this.heard.join(' ')}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Sends an event, and resolves with what it is answered. */
  async ask(event: string, ...args: readonly unknown[]): Promise<Answer> {
    const ack = this.#acks++
    this.send(`42${ack}${JSON.stringify([event, ...args])}`)
    const head = `43${ack}[`
    const frame = await this.until((frame) => frame.startsWith(head))
    return JSON.parse(frame.slice(head.length - 1))[0]
  }

  /** Events heard so far, in order, and forgotten. */
  events(): readonly (readonly [name: string, payload: Json])[] {
    const events = this.heard.filter((frame) => frame.startsWith('42['))
    this.heard.length = 0
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
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  readonly body?: any
  readonly headers: Readonly<Record<string, string>>
}

export interface Refused {
  readonly status: number
  readonly body: Json
}

/** What somebody is told who asks for a WebSocket and gets none. */
export function refusedUpgrade(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Refused> {
  const asking = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
  }
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { ...asking, ...headers } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode as number, body: JSON.parse(Buffer.concat(chunks).toString()) })
      })
    })
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('it was not refused'))
    })
    asked.on('error', reject)
    asked.end()
  })
}

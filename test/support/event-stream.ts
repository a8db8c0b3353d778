import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { JsonObject } from '../../src/protocol/json.ts'

/** A server-sent event, parsed by the rules of browsers. */
export interface SentEvent {
  readonly event: string
  readonly data: JsonObject
  /** The id of the event; undefined when it has none. */
  readonly id: string | undefined
}

export interface StreamRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Does not read until `resume`. */
  readonly paused?: boolean
}

/** A client of an event stream on a raw socket, so that tests see exactly the bytes sent. */
export class StreamClient {
  readonly #socket: Socket
  readonly #events: SentEvent[] = []
  readonly closed: Promise<void>
  /** The body so far, without the framing of chunks. */
  body = ''
  status = 0
  headers: Readonly<Record<string, string>> = {}
  /** The id of the last event taken that has one: the position to resume from. */
  lastEventId = ''
  /** The id of the last event received that has one, as a browser keeps it. */
  arrivedId = ''
  /** True when the response was complete and not cut off. */
  isWhole = false
  #raw = Buffer.alloc(0)
  #unread = ''
  #isClosed = false
  #changed = () => {}

  private constructor(socket: Socket) {
    this.#socket = socket
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true
        resolve()
        this.#changed()
      })
    })
    socket.on('error', () => {}) // a reset also closes the connection
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
  }

  /** Resolves when the response headers have arrived; immediately when paused. */
  static async open(port: number, path: string, request: StreamRequest = {}): Promise<StreamClient> {
    const { method = 'GET', headers = {}, paused = false } = request
    const socket = connect(port, '127.0.0.1')
    const client = new StreamClient(socket)
    if (paused) socket.pause()
    const lines = Object.entries({ host: 'localhost', accept: 'text/event-stream', ...headers }).map((pair) =>
      pair.join(': '),
    )
    socket.write([`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    if (!paused) await client.#until(() => client.status !== 0)
    return client
  }

  /** Like `open`, and takes the initial `ready` event. */
  static async ready(
    port: number,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<StreamClient> {
    const client = await StreamClient.open(port, path, { headers })
    assert.equal(client.status, 200, client.body)
    const { event, id } = await client.next()
    assert.deepEqual([event, id !== undefined], ['ready', true])
    return client
  }

  async next(): Promise<SentEvent> {
    await this.#until(() => this.#events.length > 0)
    const event = this.#events.shift() as SentEvent
    if (event.id !== undefined) this.lastEventId = event.id
    return event
  }

  /** Takes `count` events and returns their data. */
  async take(count: number): Promise<JsonObject[]> {
    const taken: JsonObject[] = []
    while (taken.length < count) taken.push((await this.next()).data)
    return taken
  }

  /** Waits for the end and returns all events not yet taken. */
  async rest(): Promise<readonly SentEvent[]> {
    await this.#until(() => this.isWhole || this.#isClosed)
    return this.#events.splice(0)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  async close(): Promise<void> {
    this.#socket.destroy()
    await this.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      assert.ok(!this.#isClosed, `closed after: ${this.body}`)
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  #take(chunk: Uint8Array): void {
    this.#raw = Buffer.concat([this.#raw, chunk])
    if (this.status === 0) this.#readHead()
    if (this.status !== 0) this.#readBody()
    this.#changed()
  }

  #readHead(): void {
    const end = this.#raw.indexOf('\r\n\r\n')
    if (end === -1) return
    const [first = '', ...lines] = this.#raw.subarray(0, end).toString().split('\r\n')
    this.status = Number(first.split(' ')[1])
    this.headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    this.#raw = this.#raw.subarray(end + 4)
  }

  #readBody(): void {
    if (this.headers['transfer-encoding'] !== 'chunked') {
      this.body += this.#raw.toString()
      this.#raw = Buffer.alloc(0)
      return
    }
    for (;;) {
      const end = this.#raw.indexOf('\r\n')
      if (end === -1) return
      const length = Number.parseInt(this.#raw.subarray(0, end).toString(), 16)
      if (this.#raw.length < end + 2 + length + 2) return
      const text = this.#raw.subarray(end + 2, end + 2 + length).toString()
      this.#raw = this.#raw.subarray(end + 2 + length + 2)
      this.body += text
      this.#unread += text
      this.#readEvents()
      if (length === 0) this.isWhole = true
    }
  }

  #readEvents(): void {
    for (let end = this.#unread.indexOf('\n\n'); end !== -1; end = this.#unread.indexOf('\n\n')) {
      const block = this.#unread.slice(0, end)
      this.#unread = this.#unread.slice(end + 2)
      const fields = new Map<string, string>()
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':')
        if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
      }
      const id = fields.get('id')
      if (id !== undefined) this.arrivedId = id
      const data = fields.get('data')
      if (data === undefined) continue
      this.#events.push({ event: fields.get('event') ?? 'message', data: JSON.parse(data) as JsonObject, id })
    }
  }
}

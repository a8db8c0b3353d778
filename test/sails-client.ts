import { createRequire } from 'node:module'
import type { Json } from '../src/protocol/json.ts'

/** What of `sails.io.js` is used here; it has no types of its own. */
interface SailsSocket {
  on(event: string, listener: (argument: unknown) => void): void
  request(options: RequestOptions, answered: (body: Json, jwr: Answered) => void): void
  disconnect(): void
  isConnected(): boolean
  readonly _raw: RawSocket
}
interface RawSocket {
  onevent(packet: { readonly data: readonly [string, Payload] }): void
  emit(event: string, ...args: readonly unknown[]): void
  readonly io: { readonly engine: { close(): void } }
}
interface RequestOptions {
  readonly method: string
  readonly url: string
  readonly data?: unknown
  readonly headers?: Readonly<Record<string, string>>
}
interface SailsIo {
  readonly sails: {
    autoConnect: boolean
    environment: string
    connect(url: string, options: object): SailsSocket
  }
}

export interface Answered {
  readonly statusCode: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
  readonly body: any
  readonly headers: Readonly<Record<string, string>>
}

/** An event as the ancestor's clients get it. */
export interface Payload {
  readonly verb: string
  readonly id: number | string
  readonly data?: Readonly<Record<string, Json>>
  readonly previous?: Readonly<Record<string, Json>>
  readonly attribute?: string
  readonly addedId?: number | string
  readonly removedId?: number | string
}

const require = createRequire(import.meta.url)
const io: SailsIo = require('sails.io.js')(require('socket.io-client-2'))
io.sails.autoConnect = false
io.sails.environment = 'production' // it is quiet then

/** The real client of the ancestor, over the socket.io client that it was made for. */
export class SailsClient {
  readonly socket: SailsSocket
  /** Everything that came, in order. */
  readonly events: (readonly [name: string, payload: Payload])[] = []
  #waiting: (() => void)[] = []

  private constructor(socket: SailsSocket) {
    this.socket = socket
    // The client has no "whatever it is": this is where its events come by.
    const raw = socket._raw
    const dispatch = raw.onevent
    raw.onevent = (packet) => {
      this.#take(packet.data)
      dispatch.call(raw, packet)
    }
  }

  static async connect(url: string, options: object = {}): Promise<SailsClient> {
    const socket = io.sails.connect(url, { multiplex: false, reconnection: false, ...options })
    await new Promise((resolve, reject) => {
      socket.on('connect', resolve)
      socket.on('connect_error', reject)
    })
    return new SailsClient(socket)
  }

  ask(method: string, url: string, data?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return new Promise((resolve) => {
      this.socket.request({ method, url, data, headers }, (_, answered) => resolve(answered))
    })
  }

  /** As `ask`, and the answer stands where it came among the events, under the name `answer`. */
  askAmongEvents(method: string, url: string, data: unknown): Promise<Answered> {
    return new Promise((resolve) => {
      this.socket.request({ method, url, data }, (_, answered) => {
        this.#take(['answer', answered as unknown as Payload])
        resolve(answered)
      })
    })
  }

  /** What came before the first event that is as wanted, in order; both are forgotten. */
  async until(wanted: (name: string, payload: Payload) => boolean): Promise<(readonly [string, Payload])[]> {
    for (;;) {
      const index = this.events.findIndex(([name, payload]) => wanted(name, payload))
      if (index !== -1) return this.events.splice(0, index + 1).slice(0, index)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** From now on each event is handed over, beginning with those that came and were not taken. */
  async listen(take: (name: string, payload: Payload) => void): Promise<never> {
    for (;;) {
      for (const [name, payload] of this.events.splice(0)) take(name, payload)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #take(event: readonly [name: string, payload: Payload]): void {
    this.events.push(event)
    for (const wake of this.#waiting.splice(0)) wake()
  }

  close(): void {
    if (this.socket.isConnected()) this.socket.disconnect()
  }
}

import { createRequire } from 'node:module'
import type { Json } from '../../src/protocol/json.ts'

/** The part of `sails.io.js` used here; the package has no types. */
interface SailsSocket {
  on(event: string, listener: (argument: unknown) => void): void
  request(options: RequestOptions, callback: (body: Json, jwr: Answered) => void): void
  isConnected(): boolean
  readonly _raw: RawSocket
}
interface RawSocket {
  onevent(packet: { readonly data: readonly [string, Payload] }): void
  emit(event: string, ...args: readonly unknown[]): void
  disconnect(): void
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
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it requested
  readonly body: any
  readonly headers: Readonly<Record<string, string>>
}

/** The payload of an event, as Sails clients receive it. */
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
io.sails.environment = 'production' // without a banner on the console

/** The client library of Sails, on the socket.io client it was made for. */
export class SailsClient {
  readonly socket: SailsSocket
  /** All events received, in order. */
  readonly events: (readonly [name: string, payload: Payload])[] = []
  #waiting: (() => void)[] = []

  private constructor(socket: SailsSocket) {
    this.socket = socket
    // The client has no listener for all events; every event passes this method.
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

  /** As `ask`, and the response is added to the events, under the name `answer`. */
  askAmongEvents(method: string, url: string, data: unknown): Promise<Answered> {
    return new Promise((resolve) => {
      this.socket.request({ method, url, data }, (_, answered) => {
        this.#take(['answer', answered as unknown as Payload])
        resolve(answered)
      })
    })
  }

  /** Removes all events up to the first that satisfies the predicate, and returns those before it. */
  async until(predicate: (name: string, payload: Payload) => boolean): Promise<(readonly [string, Payload])[]> {
    for (;;) {
      const index = this.events.findIndex(([name, payload]) => predicate(name, payload))
      if (index !== -1) return this.events.splice(0, index + 1).slice(0, index)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Passes each event to `take`, beginning with those received and not removed yet. */
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

  /** `disconnect` of `sails.io.js` throws without a connection, and continues to connect. */
  close(): void {
    this.socket._raw.disconnect()
  }
}

import { createHash } from 'node:crypto'
import { unescape as decode } from 'node:querystring'
import { connectNats } from './nats.ts'
import { connectRedis } from './redis.ts'

export interface BrokerParts {
  /** `redis://`, `rediss://` or `nats://`, perhaps with user and password. */
  readonly url: string
  /** The secret of the database. The channel depends on it, so that processes on another database use another one. */
  readonly secret: string
  /** Identifies this process in messages. */
  readonly self: string
  /** Called after a commit of another process, and after each new connection. */
  readonly wake: () => void
  readonly onError: (error: unknown) => void
}

export interface BrokerConnection {
  publish(message: string): Promise<unknown>
  close(): Promise<unknown>
}

/** What a connection reports. `lost` may be called several times. */
export interface BrokerEvents {
  readonly channel: string
  readonly received: (message: string) => void
  readonly lost: (error: unknown) => void
}

/** Connects and subscribes once; `Broker` connects again. */
export type ConnectBroker = (url: string, events: BrokerEvents) => Promise<BrokerConnection>

/** By URL scheme. Each loads its library, and throws when that is missing. */
const loaders: Readonly<Record<string, () => Promise<ConnectBroker>>> = {
  'redis:': connectRedis,
  'rediss:': connectRedis,
  'nats:': connectNats,
}

/** Loads the library for the URL; rejects when it is missing. */
export async function loadBroker(url: string): Promise<ConnectBroker> {
  const load = loaders[new URL(url).protocol]
  if (!load) throw new Error('broker: the scheme of the URL is not supported')
  return load()
}

const shortestPauseMs = 100
const longestPauseMs = 10_000

/**
 * Messages between processes after commits, for databases whose notifications a pooler hides. A message is a hint and
 * contains nothing of the change: a lost one is made up for by the poll.
 */
export class Broker {
  readonly #parts: BrokerParts
  readonly #connect: ConnectBroker
  readonly #channel: string
  #connection: BrokerConnection | undefined
  #connecting: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #pauseMs = shortestPauseMs
  #hasReported = false
  #isClosed = false

  /** Does not wait for the connection: a broker that is away must not delay the start. */
  constructor(parts: BrokerParts, connect: ConnectBroker) {
    this.#parts = parts
    this.#connect = connect
    this.#channel = `keelson.${createHash('sha256').update(`broker ${parts.secret}`).digest('hex').slice(0, 32)}`
    this.#start()
  }

  /** Without a connection the message is dropped: one is sent after the next connection. */
  publish(): void {
    this.#connection?.publish(this.#parts.self).catch(() => {}) // the loss of the connection is reported
  }

  #start(): void {
    this.#connecting = this.#connectOnce()
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#connecting = undefined
      })
  }

  async #connectOnce(): Promise<void> {
    let connection: BrokerConnection | undefined
    let failure: { readonly error: unknown } | undefined
    connection = await this.#connect(this.#parts.url, {
      channel: this.#channel,
      received: (message) => {
        if (message !== this.#parts.self) this.#parts.wake()
      },
      lost: (error) => {
        failure ??= { error }
        if (connection === undefined || this.#connection !== connection) return
        this.#connection = undefined
        void connection.close().catch(() => {})
        this.#failed(error)
      },
    })
    if (this.#isClosed || failure) {
      await connection.close().catch(() => {})
      if (failure) throw failure.error
      return
    }
    this.#connection = connection
    this.#pauseMs = shortestPauseMs
    this.#hasReported = false
    // For commits of both sides that were made without the connection.
    this.#parts.wake()
    this.publish()
  }

  #failed(error: unknown): void {
    if (this.#isClosed) return
    if (!this.#hasReported) this.#parts.onError(this.#withoutPassword(error))
    this.#hasReported = true
    const pauseMs = this.#pauseMs * (0.5 + Math.random() / 2)
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
    this.#retry = setTimeout(() => this.#start(), pauseMs).unref()
  }

  /** Errors of libraries may quote the URL, so only their text is kept. */
  #withoutPassword(error: unknown): Error {
    const { host, username, password } = new URL(this.#parts.url)
    const { message = '', code = '' } = (error ?? {}) as { readonly message?: string; readonly code?: string }
    const secret = password || username // NATS: a token in place of the user
    const secrets = [secret, decode(secret)].filter(Boolean)
    const text = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message || code || 'disconnected')
    return new Error(`The broker at ${host} is unavailable, and is tried again: ${text}`)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#connecting
    await this.#connection?.close().catch(() => {})
  }
}

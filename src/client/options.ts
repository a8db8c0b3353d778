import type { Json, JsonObject } from '../protocol/json.ts'
import type { OutboxOptions } from './writes/outbox-options.ts'

export type Token = string | null | undefined

/** How a client reaches the service. */
export interface ClientOptions {
  /** The address of the service with its route prefix; default `/`, the origin of the page. */
  readonly url?: string
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The bearer token, or a function that returns it; null and undefined are none. After a 401 the function is called once more, with `true`, and the
   * request is repeated with the new token.
   */
  readonly token?: Token | ((renew: boolean) => Token | Promise<Token>)
  /** Whether cookies are sent; default `same-origin`. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Default `globalThis.fetch`. */
  readonly fetch?: typeof fetch
  /** The path of a model's routes, for services with `pluralize`: `(model) => model + 's'`. Default: the name of the model. */
  readonly path?: (model: string) => string
  /** Keeps the writes that are made while the service cannot be reached. Off by default: they are rejected. */
  readonly outbox?: boolean | OutboxOptions
  /** Milliseconds without a byte, heartbeats included, after which the stream is reconnected; default 45000. */
  readonly heartbeatTimeoutMs?: number
  /** The range of the delay before a reconnect, which doubles with each failure; default 250 to 15000. */
  readonly retryDelayMs?: readonly [from: number, to: number]
}

/** The last parameter of every operation. */
export interface CallOptions {
  /** Aborts the request. A write that was sent may still take place. */
  readonly signal?: AbortSignal | undefined
  /** Headers of this request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The last parameter of create, update and destroy. */
export interface WriteOptions extends CallOptions {
  /** Whether live queries show the write before it is answered. It is withdrawn if the service refuses it. */
  readonly optimistic?: boolean
}

/** An answer of the service. */
export interface Answer {
  readonly headers: Headers
  readonly body: Json
}

/** A request, relative to the address of the service. */
export interface Sending extends CallOptions {
  readonly method: string
  readonly path: string
  readonly body?: Json | undefined
}

/** The options of a find, without their types. */
export type Query = JsonObject

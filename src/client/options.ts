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
   * The bearer token, or a function that returns it; null and undefined send none. After a 401 response the function is called
   * again with `true`, and the request is repeated once with the token that it returns.
   */
  readonly token?: Token | ((renew: boolean) => Token | Promise<Token>)
  /** Whether cookies are sent; default `same-origin`. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Default `globalThis.fetch`. */
  readonly fetch?: typeof fetch
  /** The path of a model's routes; default is the name of the model. For services with `pluralize`: `(model) => model + 's'`. */
  readonly path?: (model: string) => string
  /**
   * Stores writes that are made while the service cannot be reached, and sends them later. Off by default: such writes reject.
   */
  readonly outbox?: boolean | OutboxOptions
  /** If nothing is received from the stream for this many milliseconds, heartbeats included, it is reconnected; default 45000. */
  readonly heartbeatTimeoutMs?: number
  /**
   * The first and the longest delay before a reconnect, in milliseconds; default 250 and 15000. The delay doubles with each
   * failure, and up to half of it is left out at random.
   */
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
  /**
   * Whether live queries show the write before it is answered; default false. If the service refuses the write, they show the
   * stored state again.
   */
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

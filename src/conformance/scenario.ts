import type { Json } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'

/** The body and headers of a request. */
export interface Given {
  /** Sent as JSON. */
  readonly body?: Json
  /** Sent unchanged, with the Content-Type of `headers`. */
  readonly text?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The response to a request. */
export interface Answer {
  readonly status: number
  /** The value of a header, whose name is in lower case; undefined without it. */
  header(name: string): string | undefined
  /** The raw body; '' when there was none. */
  readonly text: string
  /** The body parsed as JSON on access; undefined when there was none. */
  readonly body: Json | undefined
}

/** A service over the zoo models, reached over any transport. */
export interface Api {
  /** `path` begins with a slash, is percent-encoded, and may carry a query string. */
  request(method: string, path: string, given?: Given): Promise<Answer>
}

/** Features that not every transport has; a runner skips the scenarios that need a missing one and reports why. */
export type Need =
  /** Bodies are bytes that must be parsed, and answers have HTTP headers. */
  | 'bytes'
  /** Requests that no browser sends: a GET with a body, an unnormalised address. */
  | 'anyRequest'
  /** What sockets do not carry: unknown methods, JSONP, the site of each request, headers about caching. */
  | 'http'

/** Settings of the configuration that differ from the defaults. */
export interface Settings {
  readonly prefix?: string
  readonly restPrefix?: string
  readonly pluralize?: boolean
  readonly rest?: boolean
  readonly shortcuts?: boolean
  readonly shortcutWrites?: boolean
  readonly populate?: boolean
  readonly jsonp?: boolean
  readonly unknownAttributes?: 'refuse' | 'ignore'
  readonly limits?: Partial<Limits>
}

/**
 * One requirement of the interface, as a sequence of requests. All models are empty at the start, but keys may already
 * have been generated. `run` throws an AssertionError when the requirement is not met.
 */
export interface Scenario {
  readonly name: string
  /** The settings of the service; absent for the defaults. */
  readonly settings?: Settings
  /** The scenario is for transports with all of these features. */
  readonly needs?: readonly Need[]
  run(api: Api): Promise<void>
}

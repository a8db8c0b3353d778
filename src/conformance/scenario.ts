import type { Json } from '../protocol/json.ts'
import type { Limits } from '../support/limits.ts'

/** A request as a scenario asks for it. */
export interface Given {
  /** Sent as JSON. */
  readonly body?: Json
  /** Sent as it is, with whatever Content-Type the headers name. */
  readonly text?: string
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  header(name: string): string | undefined
  /** As it came; '' when there was none. */
  readonly text: string
  /** The text as JSON, read when it is asked for; undefined when there was none. */
  readonly body: Json | undefined
}

/** A service that serves the zoo, however one speaks to it. */
export interface Api {
  /** `path` begins with a slash, is percent-encoded, and may carry a query string. */
  request(method: string, path: string, given?: Given): Promise<Answer>
}

/** What not every way to carry requests can do; a runner skips what it lacks, and says so. */
export type Need =
  /** The body travels as bytes that somebody must parse, and the answer has headers of its own. */
  | 'bytes'
  /** Requests that no browser sends: a GET with a body, an address that is not normalised. */
  | 'anyRequest'

/** How the service must be configured, where it is not as it comes. */
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
 * One promise of the interface, as a conversation. It begins with models that hold no records, though their keys may
 * have been counted on; it throws an AssertionError when the promise is not kept.
 */
export interface Scenario {
  readonly name: string
  readonly settings?: Settings
  readonly needs?: readonly Need[]
  run(api: Api): Promise<void>
}

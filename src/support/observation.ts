import { isThenable } from './maybe-promise.ts'

/** What a service reports of itself while it runs, for logs and metrics. `kind` is the name; times are milliseconds. */
export type Observation =
  | RequestObservation
  | StatementObservation
  | ScanObservation
  | ValueObservation
  | WriteObservation
  | ClientObservation
  | PageObservation
  | TokenObservation
  | SubscriptionObservation
  | AccessObservation
  | JobObservation
  | ErrorObservation

/** A request was answered. Its query string and headers are left out: they may contain personal data and keys. */
export interface RequestObservation {
  readonly kind: 'request'
  readonly transport: 'http' | 'socket'
  readonly method: string
  readonly path: string
  readonly status: number
  /** From its arrival to its response, before the response is sent. */
  readonly ms: number
}

/** A statement of a request was executed. Its text contains no values. */
export interface StatementObservation {
  readonly kind: 'statement'
  readonly text: string
  /** With the time that it waited for a connection or a reader process. */
  readonly ms: number
}

/** A query reads all rows of a large table. Each kind of query is reported once. */
export interface ScanObservation {
  readonly kind: 'scan'
  readonly model: string
  /** The tables that are scanned; empty where the duration showed the scan, and not the plan. */
  readonly tables: readonly string[]
  /** An index that would serve it, as `indexes` of the model declares it; absent where none can. */
  readonly index?: readonly string[]
  readonly text: string
}

/** The column of an attribute has refused a value that the model accepts. Reported once per attribute, without the value. */
export interface ValueObservation {
  readonly kind: 'valueRefused'
  readonly model: string
  readonly attribute: string
}

/** A constraint or a trigger of the database has refused a write. Reported once per text, which is not sent to clients. */
export interface WriteObservation {
  readonly kind: 'writeRefused'
  readonly model: string
  /** The words of the database. */
  readonly text: string
}

/** A client was disconnected, because it did not read what was sent to it. */
export interface ClientObservation {
  readonly kind: 'clientDisconnected'
  /** The limit that was exceeded. */
  readonly limit: 'streamIdleTimeoutMs' | 'maxWaitingBytes'
}

/** A page of another origin sent a request that it may not send, or whose answer it cannot read. Reported once per origin. */
export interface PageObservation {
  readonly kind: 'pageRefused'
  /** `null` for a page without an origin, such as one that was opened as a file. */
  readonly origin: string
  /** The option that would allow it. */
  readonly option: 'cors' | 'sockets.onlyAllowOrigins'
}

/** `auth.jwt` has refused a token. Reported once per reason, without what the token contains. */
export interface TokenObservation {
  readonly kind: 'tokenRefused'
  readonly reason: string
}

/** A socket or an event stream must begin again, because its position is no longer available or too much waited for it. */
export interface SubscriptionObservation {
  readonly kind: 'subscriptionLost'
  readonly transport: 'http' | 'socket'
}

/** With `access.shadow`: the rules in statements and the rules in memory differ for a record. It contains no values. */
export interface AccessObservation {
  readonly kind: 'accessDifference'
  readonly model: string
  /** The record is missing in the answer, should not be in it, or has another value. */
  readonly difference: 'readable' | 'unreadable' | 'value'
  readonly attribute?: string
}

/**
 * A job ran, or has lost events. `failed`: the run will be repeated; `dead`: it will not. `deadLettersDropped`: the oldest ones, `count` of
 * them, above `deadLetterKeepBytes`. It contains no values.
 */
export interface JobObservation {
  readonly kind: 'job'
  readonly job: string
  readonly outcome: 'done' | 'failed' | 'dead' | 'eventsLost' | 'deadLettersDropped'
  readonly eventId?: string
  readonly attempt?: number
  readonly ms?: number
  readonly error?: unknown
  readonly count?: number
}

/** An unexpected error. Its details are not sent to a client. */
export interface ErrorObservation {
  readonly kind: 'error'
  readonly error: unknown
}

export type Observe = (observation: Observation) => void

/** Passes an observation to several listeners. The failure of one is written to the console; what is observed goes on. */
export const observeAll =
  (listeners: readonly Observe[]): Observe =>
  (observation) => {
    for (const listener of listeners) {
      try {
        const result: unknown = listener(observation)
        if (isThenable(result)) Promise.resolve(result).catch(report)
      } catch (error) {
        report(error)
      }
    }
  }

const report = (error: unknown): void => console.error('A listener of the service failed:', error)

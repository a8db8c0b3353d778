import type { Json, JsonObject } from './json.ts'

/** The status of each error code. Programs rely on the codes: a code never changes its meaning. */
export const errorStatus = {
  E_BAD_REQUEST: 400,
  E_BAD_CRITERIA: 400,
  E_BAD_BODY: 400,
  E_INVALID_ATTRIBUTES: 400,
  E_UNAUTHENTICATED: 401,
  E_FORBIDDEN: 403,
  E_NO_SUCH_ROUTE: 404,
  E_NO_SUCH_RECORD: 404,
  E_NO_SUCH_STREAM: 404,
  E_METHOD_NOT_ALLOWED: 405,
  E_CONFLICT: 409,
  E_PRECONDITION_FAILED: 412,
  E_BODY_TOO_LARGE: 413,
  E_URL_TOO_LONG: 414,
  E_UNSUPPORTED_MEDIA_TYPE: 415,
  E_IDEMPOTENCY_MISMATCH: 422,
  E_NOT_EXECUTED: 424,
  E_TOO_MANY_REQUESTS: 429,
  E_INTERNAL: 500,
  E_NOT_IMPLEMENTED: 501,
  E_UNAVAILABLE: 503,
  E_TIMEOUT: 503,
} as const
export type ErrorCode = keyof typeof errorStatus

/** A short title of each error code, for people. */
export const errorTitle: Readonly<Record<ErrorCode, string>> = {
  E_BAD_REQUEST: 'Bad request',
  E_BAD_CRITERIA: 'Invalid criteria',
  E_BAD_BODY: 'Invalid request body',
  E_INVALID_ATTRIBUTES: 'Invalid attributes',
  E_UNAUTHENTICATED: 'Not authenticated',
  E_FORBIDDEN: 'Forbidden',
  E_NO_SUCH_ROUTE: 'Route not found',
  E_NO_SUCH_RECORD: 'Record not found',
  E_NO_SUCH_STREAM: 'Stream not found',
  E_METHOD_NOT_ALLOWED: 'Method not allowed',
  E_CONFLICT: 'Conflict with stored data',
  E_PRECONDITION_FAILED: 'Precondition failed: the record was modified',
  E_BODY_TOO_LARGE: 'Request body too large',
  E_URL_TOO_LONG: 'URL too long',
  E_UNSUPPORTED_MEDIA_TYPE: 'Unsupported media type',
  E_IDEMPOTENCY_MISMATCH: 'Idempotency-Key was used for another request',
  E_NOT_EXECUTED: 'Not executed, because another request failed',
  E_TOO_MANY_REQUESTS: 'Too many requests',
  E_INTERNAL: 'Internal server error',
  E_NOT_IMPLEMENTED: 'Not implemented',
  E_UNAVAILABLE: 'Service unavailable',
  E_TIMEOUT: 'Time limit exceeded',
}

/** A rule that a value violates. */
export type Violation = { readonly rule: string; readonly message: string }
/** The violated rules of each invalid attribute, by name; that of a nested record is a path, such as `animals.0.name`. */
export type InvalidAttributes = { readonly [attribute: string]: readonly Violation[] }

/** The code of an error of the application, chosen by it. The codes of this service begin with `E_`. */
export type ApplicationCode = string & Readonly<Record<never, never>>

/** Further members of the problem document. `headers` become headers of the response instead. */
export interface ErrorDetails {
  /** The status of an error with a code of the application, which `refuse` makes. */
  readonly status?: number
  /** Further information of the application, sent as the member `details`. */
  readonly details?: JsonObject
  /** For E_INVALID_ATTRIBUTES: every violated rule. */
  readonly invalidAttributes?: InvalidAttributes
  /** The attribute or association that the error concerns. */
  readonly attribute?: string
  /** The name of the limit that was exceeded. */
  readonly limit?: string
  /** The model that the error concerns. */
  readonly model?: string
  /** The id of the worker process that can serve the request; it is not sent. */
  readonly worker?: string
  /** The name of one of several queries that a request has. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The underlying error, for the log; never sent to a client. */
  readonly cause?: unknown
}

/** An error whose message may be sent to the client: it names what the request contained, never internals. */
export class ServiceError extends Error {
  /** A code that never changes its meaning. */
  readonly code: ErrorCode | ApplicationCode
  /** What the error concerns, such as `invalidAttributes`. */
  readonly details: ErrorDetails

  /** Throws a TypeError for a code that says no status, such as one of the application: `refuse` takes both. */
  constructor(code: ErrorCode | ApplicationCode, message: string, details: ErrorDetails = {}) {
    if (details.status === undefined && !Object.hasOwn(errorStatus, code))
      throw new TypeError(
        `new ServiceError: there is no code ${JSON.stringify(code)}; refuse(status, code, message) takes codes of the application`,
      )
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }

  /** The HTTP status. */
  get status(): number {
    return this.details.status ?? errorStatus[this.code as ErrorCode]
  }
}

const codeForm = /^[A-Za-z][\w-]{0,63}$/

/**
 * The error by which code of the application refuses a request: `throw refuse(409, 'OUT_OF_STOCK', 'Only 3 are left', { left: 3 })`.
 * The client receives all four as a problem document, and nothing is written. Throws a TypeError unless the status is from
 * 400 to 499 and the code is a word of the application.
 */
export function refuse(status: number, code: string, message: string, details?: JsonObject): ServiceError {
  if (!Number.isInteger(status) || status < 400 || status > 499)
    throw new TypeError(`refuse: the status must be from 400 to 499, not ${status}`)
  if (typeof code !== 'string' || !codeForm.test(code) || code.startsWith('E_'))
    throw new TypeError(`refuse: the code ${JSON.stringify(code)} must be a word that does not begin with E_`)
  return new ServiceError(code, message, { status, ...(details && { details }) })
}

/** The rules of values that are limits of the service. */
const limitRules = ['maxAssociated', 'maxValueBytes']

const limitIn = (invalid: InvalidAttributes = {}): string | undefined =>
  Object.values(invalid)
    .flat()
    .find(({ rule }) => limitRules.includes(rule))?.rule

/** A problem document (RFC 9457). `code`, `invalidAttributes` and `attrNames` are the names that Sails clients read. */
export function problem(error: ServiceError): { readonly [member: string]: Json } {
  const { invalidAttributes, attribute, model, query, details } = error.details
  const limit = error.details.limit ?? limitIn(invalidAttributes)
  return {
    type: 'about:blank',
    title: error.details.status === undefined ? errorTitle[error.code as ErrorCode] : 'Refused',
    status: error.status,
    code: error.code,
    detail: error.message,
    ...(model !== undefined && { model }),
    ...(query !== undefined && { query }),
    ...(attribute !== undefined && { attribute }),
    ...(limit !== undefined && { limit }),
    ...(details !== undefined && { details }),
    ...(invalidAttributes !== undefined && {
      invalidAttributes,
      attrNames: Object.keys(invalidAttributes),
    }),
  }
}

/** Whether the error says that a record has this value of the attribute already. */
export const isValueTaken = ({ details: { invalidAttributes = {} } }: ServiceError, attribute: string): boolean =>
  Object.hasOwn(invalidAttributes, attribute) &&
  invalidAttributes[attribute]?.some(({ rule }) => rule === 'unique') === true

export const noSuchRecord = (model: string): ServiceError =>
  new ServiceError('E_NO_SUCH_RECORD', `No ${model} with this id`, { model })

/** Of work that was for a client which is there no more. No error of the application. */
export const clientDisconnected = (cause: unknown): ServiceError =>
  new ServiceError('E_UNAVAILABLE', 'The client has disconnected', { cause })

export const invalid = (attribute: string, rule: string, message: string): ServiceError =>
  new ServiceError('E_INVALID_ATTRIBUTES', message, { invalidAttributes: { [attribute]: [{ rule, message }] } })

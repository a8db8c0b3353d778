import type { Json } from './json.ts'

/** What can go wrong, for programs: a code never changes its meaning. */
export const errorStatus = {
  E_BAD_REQUEST: 400,
  E_BAD_CRITERIA: 400,
  E_BAD_BODY: 400,
  E_INVALID_ATTRIBUTES: 400,
  E_FORBIDDEN: 403,
  E_NO_SUCH_ROUTE: 404,
  E_NO_SUCH_RECORD: 404,
  E_METHOD_NOT_ALLOWED: 405,
  E_CONFLICT: 409,
  E_PRECONDITION_FAILED: 412,
  E_BODY_TOO_LARGE: 413,
  E_URL_TOO_LONG: 414,
  E_UNSUPPORTED_MEDIA_TYPE: 415,
  E_TOO_MANY_REQUESTS: 429,
  E_INTERNAL: 500,
  E_UNAVAILABLE: 503,
  E_TIMEOUT: 503,
} as const
export type ErrorCode = keyof typeof errorStatus

/** What can go wrong, for people. */
export const errorTitle: Readonly<Record<ErrorCode, string>> = {
  E_BAD_REQUEST: 'The request cannot be understood',
  E_BAD_CRITERIA: 'The criteria cannot be understood',
  E_BAD_BODY: 'The body cannot be understood',
  E_INVALID_ATTRIBUTES: 'Some attributes are invalid',
  E_FORBIDDEN: 'This is not permitted',
  E_NO_SUCH_ROUTE: 'There is nothing at this address',
  E_NO_SUCH_RECORD: 'There is no such record',
  E_METHOD_NOT_ALLOWED: 'This address does not answer to this method',
  E_CONFLICT: 'The request is in conflict with what is stored',
  E_PRECONDITION_FAILED: 'The record is not as it was',
  E_BODY_TOO_LARGE: 'The body is too large',
  E_URL_TOO_LONG: 'The address is too long',
  E_UNSUPPORTED_MEDIA_TYPE: 'A body of this type is not understood',
  E_TOO_MANY_REQUESTS: 'Too many requests',
  E_INTERNAL: 'Something went wrong on our side',
  E_UNAVAILABLE: 'The service cannot answer just now',
  E_TIMEOUT: 'The answer took too long',
}

/** One rule that one value broke. */
export interface Violation {
  readonly rule: string
  readonly message: string
}
export type InvalidAttributes = { readonly [attribute: string]: readonly Violation[] }

/** Further members of the problem document; `headers` go onto the answer instead. */
export interface ErrorDetails {
  readonly invalidAttributes?: InvalidAttributes
  readonly attribute?: string
  readonly limit?: string
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What really happened, for the log and never for the wire. */
  readonly cause?: unknown
}

/** An error that may be told to whoever asked: its message names what they sent, never how we work. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'ServiceError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return errorStatus[this.code]
  }
}

/** A problem document (RFC 9457), with the names that clients of the ancestor key on beside the standard ones. */
export function problem(error: ServiceError): { readonly [member: string]: Json } {
  const { invalidAttributes, attribute, limit, model } = error.details
  return {
    type: 'about:blank',
    title: errorTitle[error.code],
    status: error.status,
    code: error.code,
    detail: error.message,
    ...(model !== undefined && { model }),
    ...(attribute !== undefined && { attribute }),
    ...(limit !== undefined && { limit }),
    ...(invalidAttributes !== undefined && {
      invalidAttributes: invalidAttributes as unknown as Json,
      attrNames: Object.keys(invalidAttributes),
    }),
  }
}

export const noSuchRecord = (model: string): ServiceError =>
  new ServiceError('E_NO_SUCH_RECORD', `There is no ${model} with this id`, { model })

export const invalid = (attribute: string, rule: string, message: string): ServiceError =>
  new ServiceError('E_INVALID_ATTRIBUTES', message, { invalidAttributes: { [attribute]: [{ rule, message }] } })

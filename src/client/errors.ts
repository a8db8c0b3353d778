import type { ErrorCode, InvalidAttributes } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** A request that the service refused. The subclasses are for `instanceof`; `code` has the same information. */
export class RequestError extends Error {
  /** The stable code of the problem document. */
  declare readonly code: ErrorCode | (string & {})
  /** The HTTP status. */
  declare readonly status: number
  /** Every violated rule by attribute, for E_INVALID_ATTRIBUTES; otherwise empty. */
  declare readonly invalidAttributes: InvalidAttributes
  /** The problem document (RFC 9457) as it was received. */
  declare readonly problem: JsonObject
  /** The `Retry-After` of the response in seconds; 0 if there is none. */
  declare readonly retryAfter: number

  constructor(status: number, problem: JsonObject, retryAfter = 0) {
    super((problem.detail ?? problem.title ?? status) as string)
    this.code = String(problem.code ?? 'E_UNKNOWN')
    // Minified classes have no names.
    this.name = this.code
    this.status = status
    this.invalidAttributes = (problem.invalidAttributes ?? {}) as InvalidAttributes
    this.problem = problem
    this.retryAfter = retryAfter
  }
}

/** 400: values or criteria that the service does not accept. */
export class InvalidError extends RequestError {}
/** 401: the request is not identified. */
export class UnauthenticatedError extends RequestError {}
/** 403: the rules do not allow the request. */
export class ForbiddenError extends RequestError {}
/** 404: no such record or route. */
export class NotFoundError extends RequestError {}
/** 409 and 412: the request conflicts with stored data, or the record was changed since it was read. */
export class ConflictError extends RequestError {}
/** 429, 502, 503 and 504, and every response with `Retry-After`: the same request may succeed later. */
export class UnavailableError extends RequestError {}

/** No answer was received: the service may or may not have performed the request. */
export class NetworkError extends Error {
  /** A code of the client: the service has sent none. */
  readonly code = 'E_NETWORK'

  constructor(cause: unknown) {
    super(`No answer was received: ${cause}`, { cause })
    this.name = this.code
  }
}

const classes: Readonly<Record<number, typeof RequestError>> = {
  400: InvalidError,
  401: UnauthenticatedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  429: UnavailableError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
}

/** The error for a response. If its body is no problem document, as from a proxy, the message describes the response. */
export function requestError({ status, url, headers }: Response, body?: Json): RequestError {
  // For a batch, the response to the request that failed.
  const failed = Array.isArray(body) ? body.find((one) => one.status >= 400 && one.status !== 424)?.body : body
  const detail = `${url} answered ${status} ${headers.get('Content-Type') ?? ''}`
  const after = headers.get('Retry-After')
  const Class = classes[after ? 503 : status] ?? RequestError
  // `Retry-After` may be a date, which is ignored. The limit prevents a timer that overflows and fires at once.
  const retryAfter = Math.min(Number(after), 1_000_000) || 0
  return new Class(status, isJsonObject(failed) ? failed : { detail }, retryAfter)
}

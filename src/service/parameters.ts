import type { Parameters } from '../operation/operation.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { parseQueryString } from '../protocol/query-string.ts'
import type { ServiceRequest } from '../protocol/request.ts'
import type { Limits } from '../support/limits.ts'
import type { Match } from './route.ts'

const nothing: JsonObject = Object.freeze(Object.create(null))

/** What was given in the path, the query string and the body. Operations decide which of them counts first. */
export function readParameters(request: ServiceRequest, match: Match, limits: Limits, populates: boolean): Parameters {
  const { body } = request
  if (body !== undefined && (typeof body !== 'object' || body === null)) {
    throw new ServiceError('E_BAD_BODY', 'The body must be an object of attributes')
  }
  const isList = Array.isArray(body)
  if (isList && match.operation.name !== 'replace') {
    throw new ServiceError('E_BAD_BODY', 'The body must be an object of attributes, not a list')
  }
  return {
    style: match.style,
    record: match.record,
    child: match.child,
    query: request.query === '' ? nothing : parseQueryString(request.query, limits),
    body: isJsonObject(body) ? body : nothing,
    list: isList ? (body as readonly Json[]) : undefined,
    populates,
  }
}

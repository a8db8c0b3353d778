import type { Parameters } from '../operation/operation.ts'
import { ServiceError } from '../protocol/errors.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { parseQueryString } from '../protocol/query-string.ts'
import type { ServiceRequest } from '../protocol/request.ts'
import type { Limits } from '../support/limits.ts'
import type { Match } from './route.ts'

const nothing: JsonObject = Object.freeze(Object.create(null))

/** What was given in the path, the query string and the body. Operations decide which of them counts first. */
export function readParameters(request: ServiceRequest, match: Match, limits: Limits): Parameters {
  return {
    style: match.style,
    record: match.record,
    query: request.query === '' ? nothing : parseQueryString(request.query, limits),
    body: bodyOf(request),
  }
}

function bodyOf({ body }: ServiceRequest): JsonObject {
  if (body === undefined) return nothing
  if (!isJsonObject(body)) throw new ServiceError('E_BAD_BODY', 'The body must be an object of attributes')
  return body
}

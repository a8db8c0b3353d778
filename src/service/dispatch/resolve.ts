import type { Access } from '../../access/policy.ts'
import type { Invocation, ParameterValues, Precondition, Target } from '../../operation/operation.ts'
import { noParameters } from '../../operation/parameters.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import { parseQueryString } from '../../protocol/query-string.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { WriteReceipt } from '../../storage/write-origin.ts'
import type { DispatchContext } from './context.ts'
import { isAny, readVersions } from './entity-tag.ts'
import { withoutCallback } from './jsonp.ts'
import { type Match, route, variantOf } from './route.ts'
import type { Routes } from './routes.ts'

/**
 * The route and the parsed input of an address. They depend on the requester only in the names that it may read, never in rules
 * or values.
 */
export interface Plan {
  readonly match: Match
  readonly input: unknown
  /** Whether the plan is cached: requests for the same address get the same object. */
  readonly isKept: boolean
  /** A record by its key, without parameters: the answer may be kept by the key. */
  readonly isOfRecord: boolean
}

/** A longer query string is rarely sent twice. */
const longestKeptQuery = 2000

/** Route, parameters and input of a request. Throws a ServiceError for what cannot be asked, before anything happens. */
export function planOf(
  access: Access | undefined,
  context: DispatchContext,
  request: ServiceRequest,
  laterValue?: ParameterValues['laterValue'],
): Plan {
  const { plans, routes, services } = context
  const { method, path, query, body } = request
  const mayBeKept = plans !== undefined && method === 'GET' && body === undefined && query.length <= longestKeptQuery
  const key = mayBeKept ? `${access?.views.key ?? ''} ${path}?${query}` : ''
  // Without parameters most requests are for a record by its key, whose plan is not cached: these find their route first.
  const known = mayBeKept && query !== '' ? plans.get(key) : undefined
  if (known !== undefined && known !== 'seen once') return known
  const seen = access ? routeFor(access, routes, method, path) : route(routes, method, path)
  const match = seen.variants ? variantOf(seen, request) : seen
  const cachesPlan = mayBeKept && match.operation.cachesPlan === true
  const kept = cachesPlan && query === '' ? plans.get(key) : known
  if (kept !== undefined && kept !== 'seen once') return kept
  const plan: Plan = {
    isKept: cachesPlan && kept !== undefined,
    isOfRecord: match.operation.keepsByKey === true && query === '' && method === 'GET' && body === undefined,
    match,
    input: match.operation.parse(readParameters(request, match, access, context, laterValue), match, services),
  }
  // Most addresses are requested once. For the first request only the address is stored, and the plan for the second.
  if (cachesPlan) plans.set(key, kept === 'seen once' ? plan : 'seen once')
  return plan
}

/** The route with the names that the requester knows. An association that it may not read does not exist, whatever the method. */
export function routeFor(access: Access | undefined, routes: Routes, method: string, path: string): Match {
  if (!access) return route(routes, method, path)
  const { views } = access
  const match = route(routes, method, path, views.of)
  const model = views.of(match.model)
  return model === match.model ? match : { ...match, model }
}

export const invocationOf = (
  { match, input }: Plan,
  requester: Requester,
  request: ServiceRequest,
  origin: WriteReceipt | undefined,
): Invocation => ({
  operation: match.operation,
  target: match satisfies Target,
  input,
  requester,
  precondition: preconditionOf(request),
  origin,
  client: request.peer ?? request,
  acceptsStream: request.peer === undefined && !request.inBatch,
  headers: request.headers,
})

/** `If-None-Match` of a GET compares answers, also where a shortcut writes: a browser sends it with what it has kept. */
function preconditionOf({ method, headers }: ServiceRequest): Precondition | undefined {
  const match = headers['if-match']
  if (match !== undefined) return readVersions(match)
  return method !== 'GET' && isAny(headers['if-none-match']) ? 'none' : undefined
}

/** Media types whose values are all text. A socket sends JSON, whatever its headers say. */
const textFormats =
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data|(?:text|application)\/(?:[^;\s]+\+)?xml)/i

/** What the path, the query string and the body give. Operations decide which of them comes first. */
function readParameters(
  { query, body, headers, peer }: ServiceRequest,
  match: Match,
  access: Access | undefined,
  { services: { limits }, populates }: DispatchContext,
  laterValue: ParameterValues['laterValue'],
): ParameterValues {
  const { style, record, child, operation } = match
  if (body !== undefined && (typeof body !== 'object' || body === null)) {
    throw new ServiceError('E_BAD_BODY', 'The body must be an object of attributes')
  }
  const isList = Array.isArray(body)
  const type = headers['content-type']
  if (isList && !operation.acceptsList) {
    throw new ServiceError('E_BAD_BODY', 'The body must be an object of attributes, not a list')
  }
  const given = body === undefined || isList ? noParameters : (body as JsonObject)
  return {
    style,
    record,
    child,
    query: query === '' ? noParameters : parseQueryString(query, limits),
    body: Object.hasOwn(given, 'callback') ? withoutCallback(given, match) : given,
    hasTextBody: type !== 'application/json' && body !== undefined && !peer && textFormats.test(String(type)),
    list: isList ? (body as readonly Json[]) : undefined,
    populates,
    laterValue,
    mayWrite: access && ((attribute) => access.mayWrite(attribute)),
  }
}

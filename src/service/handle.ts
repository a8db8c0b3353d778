import type { Context, Outcome } from '../operation/operation.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import type { Store } from '../storage/store.ts'
import { Lru } from '../support/lru.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { readParameters } from './parameters.ts'
import { fail, respond } from './respond.ts'
import { allowedAt, locate, type Match, route } from './route.ts'
import type { Routes } from './routes.ts'
import type { WelcomePage } from './welcome.ts'

/** Everything a request meets on its way. */
export interface Pipeline {
  readonly routes: Routes
  readonly store: Store
  readonly context: Context
  readonly welcome: WelcomePage | undefined
  readonly report: (error: unknown) => void
  /** What an address was found to mean, for those that say it all: most lists are asked for again and again. */
  readonly plans: Lru<string, Plan>
}

interface Plan {
  readonly match: Match
  readonly input: unknown
}

/** Plans of addresses past this number are made again. */
export const keptPlans = 1000
/** A longer address is rarely sent twice. */
const longestKeptQuery = 2000

/** A request from asking to answer. Never throws, and waits for nothing that is there already. */
export function handle(pipeline: Pipeline, request: ServiceRequest): Maybe<ServiceResponse> {
  try {
    const response = answer(pipeline, request)
    return response instanceof Promise ? response.catch((error) => fail(error, pipeline.report)) : response
  } catch (error) {
    return fail(error, pipeline.report)
  }
}

function answer(pipeline: Pipeline, request: ServiceRequest): Maybe<ServiceResponse> {
  if (request.method === 'OPTIONS') return options(pipeline.routes, request)
  if (request.path === '/' && pipeline.welcome) return pipeline.welcome(request)
  const { match, input } = plan(pipeline, request)
  const wroteByGet = match.style === 'shortcut' && match.operation.effect === 'writes'
  if (wroteByGet) refuseStrangers(request)
  return chain(perform(pipeline, match, input, request.origin), (outcome) => respond(outcome, wroteByGet))
}

function plan({ plans, routes, context }: Pipeline, request: ServiceRequest): Plan {
  const isKept = request.query !== '' && request.method === 'GET' && request.body === undefined && request.query.length <= longestKeptQuery
  const key = isKept ? `${request.path}?${request.query}` : ''
  const kept = isKept ? plans.get(key) : undefined
  if (kept) return kept
  const match = route(routes, request.method, request.path)
  const parameters = readParameters(request, match, context.limits)
  const made = { match, input: match.operation.parse(parameters, match, context) }
  if (isKept && match.operation.name === 'find') plans.set(key, made)
  return made
}

export const perform = (pipeline: Pipeline, { operation, model }: Match, input: unknown, origin: string | undefined): Maybe<Outcome> =>
  operation.run(input, { model }, pipeline.store, pipeline.context, origin)

function options(routes: Routes, { path }: ServiceRequest): ServiceResponse {
  const allow = path === '*' || path === '/' ? 'GET, HEAD, OPTIONS' : allowedAt(locate(routes, path).node).join(', ')
  return { status: 204, headers: { Allow: allow } }
}

/** A link or an image on somebody's page must not write, and neither must a browser that only reads ahead. */
function refuseStrangers({ headers }: ServiceRequest): void {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers['purpose'] ?? ''}`
  if (headers['sec-fetch-site'] === 'cross-site' || purpose.includes('prefetch')) {
    throw new ServiceError('E_FORBIDDEN', 'Writing by GET is not for other sites, nor for reading ahead')
  }
}

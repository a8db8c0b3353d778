import type { Asking, Context, Outcome } from '../operation/operation.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Peer } from '../protocol/event.ts'
import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import type { Hub } from '../realtime/hub.ts'
import type { Store } from '../storage/store.ts'
import type { Lru } from '../support/lru.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { wantsStream } from './accept.ts'
import { isFromAnotherSite, isReadAhead } from './another-site.ts'
import { readVersions } from './entity-tag.ts'
import { followOf } from './follow.ts'
import { asScript, callbackOf } from './jsonp.ts'
import type { Lives } from './lives.ts'
import { readParameters } from './parameters.ts'
import type { PublicFiles } from './public-files.ts'
import { fail, respond } from './respond.ts'
import { allowedAt, isAddress, locate, type Match, route } from './route.ts'
import type { Routes } from './routes.ts'
import { isAlsoStreamed, type Streams } from './stream.ts'
import { type WelcomePage, wantsPage } from './welcome.ts'

/** Everything a request meets on its way. */
export interface Pipeline {
  readonly routes: Routes
  readonly store: Store
  readonly context: Context
  readonly hub: Hub
  readonly lives: Lives
  readonly streams: Streams
  readonly welcome: WelcomePage | undefined
  /** What is served beside the models. */
  readonly files: PublicFiles | undefined
  /** Whether answers come as scripts to those who name a function. */
  readonly jsonp: boolean
  /** Whether answers embed associations when nothing is said of them. */
  readonly populates: boolean
  /** Whether pages of an origin may write. */
  readonly trusts: (origin: string) => boolean
  readonly report: (error: unknown) => void
  /** What an address was found to mean, for those that say it all: most lists are asked for again and again. */
  readonly plans: Lru<string, Plan | typeof once>
}

export interface Plan {
  readonly match: Match
  readonly input: unknown
}

/** An address that was seen once. */
const once = 'once'

/** Plans of addresses past this number are made again. */
export const keptPlans = 1000
/** A longer address is rarely sent twice. */
const longestKeptQuery = 2000

/** A request from asking to answer. Never throws, and waits for nothing that is there already. */
export function handle(pipeline: Pipeline, request: ServiceRequest): Maybe<ServiceResponse> {
  const failed = (error: unknown) => fail(error, pipeline.report)
  try {
    if (pipeline.files && isForFile(pipeline, request)) return withFile(pipeline.files, pipeline, request).catch(failed)
    const callback = pipeline.jsonp && !request.peer ? callbackOf(request) : undefined
    if (callback !== undefined) return chain(scripted(pipeline, request), (response) => asScript(response, callback))
    const response = answer(pipeline, request)
    return response instanceof Promise ? response.catch(failed) : response
  } catch (error) {
    return failed(error)
  }
}

/** Whether a file may be meant: no route stands at the address, and at the top there is only the page that welcomes people. */
function isForFile({ routes, welcome }: Pipeline, request: ServiceRequest): boolean {
  const { method, path, peer } = request
  if (peer || (method !== 'GET' && method !== 'HEAD')) return false
  return path === '/' ? !welcome || wantsPage(request) : !isAddress(routes, path)
}

async function withFile(files: PublicFiles, pipeline: Pipeline, request: ServiceRequest): Promise<ServiceResponse> {
  return (await files(request)) ?? answer(pipeline, request)
}

/** A script cannot see a status, and is told of what went wrong like of anything else. */
async function scripted(pipeline: Pipeline, request: ServiceRequest): Promise<ServiceResponse> {
  try {
    return await answer(pipeline, request)
  } catch (error) {
    return fail(error, pipeline.report)
  }
}

function answer(pipeline: Pipeline, request: ServiceRequest): Maybe<ServiceResponse> {
  if (request.method === 'OPTIONS') return options(pipeline.routes, request)
  if (request.path === '/' && pipeline.welcome) return pipeline.welcome(request)
  const streamed = wantsStream(request) && !request.peer ? stream(pipeline, request) : undefined
  if (streamed) return streamed
  const { match, input } = plan(pipeline, request)
  if (match.operation.effect === 'writes') refuseStrangers(request, match, pipeline.trusts)
  const done = request.peer
    ? performFor(request.peer, pipeline, request, match, input)
    : perform(pipeline, match, input, askingOf(request))
  return chain(done, (outcome) => respond(outcome, request, match))
}

function stream({ routes, streams }: Pipeline, request: ServiceRequest): Promise<ServiceResponse> | undefined {
  const match = route(routes, request.method, request.path)
  return isAlsoStreamed(match.operation) ? streams.open(request, match) : undefined
}

function plan({ plans, routes, context, populates }: Pipeline, request: ServiceRequest): Plan {
  const isKept =
    request.query !== '' &&
    request.method === 'GET' &&
    request.body === undefined &&
    request.query.length <= longestKeptQuery
  const key = isKept ? `${request.path}?${request.query}` : ''
  const kept = isKept ? plans.get(key) : undefined
  if (kept !== undefined && kept !== once) return kept
  const match = route(routes, request.method, request.path)
  const parameters = readParameters(request, match, context.limits, populates)
  const made = { match, input: match.operation.parse(parameters, match, context) }
  // Most addresses come once; what is kept of them is only that they came.
  if (isKept && match.operation.name === 'find') plans.set(key, kept === once ? made : once)
  return made
}

export function perform({ store, context }: Pipeline, match: Match, input: unknown, asking: Asking): Maybe<Outcome> {
  const { operation } = match
  if (operation.effect === 'reads') return operation.run(input, match, store, context)
  return operation.run(input, match, store, context, asking)
}

const askingOf = ({ peer, headers }: ServiceRequest): Asking => ({
  origin: peer?.id,
  versions: readVersions(headers['if-match']),
})

/** As `perform`, for somebody who stays: what they are answered they follow, from exactly there on. */
async function performFor(
  peer: Peer,
  pipeline: Pipeline,
  request: ServiceRequest,
  match: Match,
  input: unknown,
): Promise<Outcome> {
  const { hub, store, context } = pipeline
  const { operation } = match
  const joining = await hub.begin(peer, operation.effect)
  try {
    if (operation.effect === 'writes') {
      const outcome = await perform(pipeline, match, input, askingOf(request))
      hub.join(joining, followOf(outcome, match), undefined)
      return outcome
    }
    const { value, position } = await store.snapshot((reads) => operation.run(input, match, reads, context))
    hub.join(joining, followOf(value, match), position)
    return value
  } catch (error) {
    hub.abandon(joining, error instanceof ServiceError && error.status < 500)
    throw error
  }
}

function options(routes: Routes, { path }: ServiceRequest): ServiceResponse {
  const allow = path === '*' || path === '/' ? 'GET, HEAD, OPTIONS' : allowedAt(locate(routes, path).node).join(', ')
  return { status: 204, headers: { Allow: allow } }
}

/**
 * A page of another site must not write: not by a link, an image or a script, ever, and not by a form either unless its
 * origin is one of those that `cors` lists. Neither must a browser that only reads ahead.
 */
function refuseStrangers(request: ServiceRequest, { style }: Match, trusts: (origin: string) => boolean): void {
  if (style === 'shortcut' && isReadAhead(request))
    throw new ServiceError('E_FORBIDDEN', 'Writing by GET is not for reading ahead')
  if (!isFromAnotherSite(request)) return
  const { origin } = request.headers
  if (style === 'shortcut' || typeof origin !== 'string' || !trusts(origin)) {
    throw new ServiceError('E_FORBIDDEN', 'Pages of other sites may not write here')
  }
}

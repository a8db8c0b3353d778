import type { Association, Model } from '../../model/model.ts'
import { folded } from '../../model/names.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { serviceTarget } from '../actions/service-target.ts'
import { mayBeId, type RouteNode, type ServedRoute } from './route-tree.ts'
import type { Endpoint, Routes } from './routes.ts'

/** Which operation a request asks for, and of what. */
export interface Match extends ServedRoute, Named {}

export interface Place extends Named {
  readonly node: RouteNode
}

/** What the segments of an address name. */
interface Named {
  readonly model: Model
  readonly record: string | undefined
  readonly association: Association | undefined
  readonly child: string | undefined
}

/** Associations are looked for among those that the requester knows. */
export type ViewOf = (model: Model) => Model

/**
 * What stands at an address, whatever the method. Letter case of words and models, and one slash at the end, do not
 * matter. A word of a shortcut comes before the id of a record.
 */
function locate(routes: Routes, path: string, viewOf?: ViewOf): Place {
  const place = placeAt(routes, path, viewOf) ?? placeOfRecord(routes, path, viewOf)
  if (!place) throw routeNotFound(routes, path)
  return place
}

/** The record whose id is a word of a shortcut, such as `find`. Undefined: no record can have it. */
function placeOfRecord(routes: Routes, path: string, viewOf?: ViewOf): Place | undefined {
  const place = placeAt(routes, path, viewOf, true)
  return place?.record !== undefined && mayBeId(place.record, place.model) ? place : undefined
}

function placeAt(routes: Routes, path: string, viewOf?: ViewOf, asRecord = false): Place | undefined {
  let node = routes.root
  let model: Model | undefined
  let record: string | undefined
  let association: Association | undefined
  let child: string | undefined
  const end = path.length > 1 && path.endsWith('/') ? path.length - 1 : path.length
  for (let from = 1; from <= end; ) {
    const slash = path.indexOf('/', from)
    const to = slash === -1 || slash > end ? end : slash
    const segment = path.slice(from, to)
    from = to + 1
    const isRecord = asRecord && node.parameter?.name === 'record'
    let literal: RouteNode | undefined
    const first = segment.charCodeAt(0)
    const isNumber = first >= digitZero && first <= digitNine && !node.hasNumbers
    if (node.literals.size > 0 && !isRecord && !isNumber) {
      literal = node.literals.get(segment)
      const word = literal ? segment : segment.toLowerCase()
      if (word !== segment) literal = node.literals.get(word)
    }
    if (literal) {
      node = literal
      continue
    }
    const action = node.actions && actionNode(node, model, segment)
    if (action) {
      if (node.parameter?.name === 'record') record = decode(segment)
      node = action
      if (!model) model = serviceTarget
      continue
    }
    const { parameter } = node
    if (!parameter || segment === '') return undefined
    if (parameter.name === 'model') {
      model = routes.models.get(segment) ?? routes.models.get(segment.toLowerCase())
      if (!model) return undefined
    } else if (parameter.name === 'association') {
      association = model && associationAt(viewOf?.(model) ?? model, decode(segment))
      if (!association) return undefined
    } else if (parameter.name === 'child') child = decode(segment)
    else record = segment.includes('%') ? decode(segment) : segment
    node = parameter.node
  }
  return model && node.routes.size > 0 ? { node, model, record, association, child } : undefined
}

/** In any letter case, as models are. */
const associationAt = ({ associations }: Model, name: string): Association | undefined =>
  associations.get(name) ?? [...associations.values()].find((known) => folded(known.name) === folded(name))

const [digitZero, digitNine] = [48, 57]

const actionNode = ({ actions }: RouteNode, model: Model | undefined, segment: string): RouteNode | undefined => {
  const nodes = actions?.(model)
  return nodes?.get(segment) ?? nodes?.get(segment.toLowerCase())
}

/** What the service answers itself at an address. Letter case and one slash at the end do not matter here either. */
export function endpointAt({ endpoints }: Routes, path: string): Endpoint | undefined {
  const length = path.endsWith('/') ? path.length - 1 : path.length
  // Of most addresses the length or the last letter is another one: to fold all letters takes as long as all other routing.
  const last = path.charCodeAt(length - 1) | lowerCase
  for (const endpoint of endpoints) {
    const { path: own } = endpoint
    if (own.length !== length || (own.charCodeAt(length - 1) | lowerCase) !== last) continue
    if (path.slice(0, length).toLowerCase() === own.toLowerCase()) return endpoint
  }
  return undefined
}

/** The bit by which a small letter of ASCII differs from the capital one. */
const lowerCase = 0x20

/** Whether anything stands at an address. */
export function isAddress(routes: Routes, path: string): boolean {
  try {
    locate(routes, path)
    return true
  } catch {
    return false
  }
}

/** The operation for a method. HEAD asks for what GET would answer, and so only where nothing is changed by it. */
export function route(routes: Routes, method: string, path: string, viewOf?: ViewOf): Match {
  let place = placeAt(routes, path, viewOf)
  let found = place?.node.routes.get(method === 'HEAD' ? 'GET' : method)
  if (!place || !found || (method === 'HEAD' && found.operation.effect === 'writes')) {
    place = placeOfRecord(routes, path, viewOf)
    found = place && servedBy(place, method)
    if (!place || !found) throw methodNotAllowed(allowed(routes, path, viewOf))
  }
  const { model, record, association, child } = place
  if (!found.served) throw new ServiceError('E_FORBIDDEN', 'Writing by GET is turned off here')
  const { operation, style, served, variants } = found
  return { operation, style, served, variants, model, record, association, child }
}

const servedBy = ({ node }: Place, method: string): ServedRoute | undefined => {
  const found = node.routes.get(method === 'HEAD' ? 'GET' : method)
  return method === 'HEAD' && found?.operation.effect === 'writes' ? undefined : found
}

export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  const allow = allowed.join(', ')
  return new ServiceError('E_METHOD_NOT_ALLOWED', `This URL supports ${allow}`, { headers: { Allow: allow } })
}

/** Of the operations at one address, the one that the request asks for by a list or a parameter. */
export function variantOf(match: Match, { query, body }: Pick<ServiceRequest, 'query' | 'body'>): Match {
  const { variants } = match
  if (!variants) return match
  for (const [condition, variant] of variants) {
    const isMeant = condition === 'list' ? Array.isArray(body) : query !== '' && hasParameter[condition].test(query)
    if (isMeant) return { ...match, ...variant }
  }
  return match
}

const hasParameter = { where: /(?:^|&)where(?:=|\[)/, upsert: /(?:^|&)upsert=/ }

/** The methods of an address. A to-one association is only read there. */
export function allowed(routes: Routes, path: string, viewOf?: ViewOf): readonly string[] {
  const methods = new Set<string>()
  for (const place of [locate(routes, path, viewOf), placeOfRecord(routes, path, viewOf)]) {
    for (const [method, { operation }] of place?.node.routes ?? []) {
      if (operation.effect === 'writes' && place?.association?.kind === 'belongsTo') continue
      methods.add(method)
      if (method === 'GET' && operation.effect === 'reads') methods.add('HEAD')
    }
  }
  return [...methods, 'OPTIONS']
}

function routeNotFound({ prefix }: Routes, path: string): ServiceError {
  const hint = path.toLowerCase().startsWith(`${prefix}/`) ? '' : `: all routes begin with ${prefix}`
  return new ServiceError('E_NO_SUCH_ROUTE', `No route has this path${hint}`)
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ServiceError('E_BAD_REQUEST', 'The URL is not percent-encoded UTF-8')
  }
}

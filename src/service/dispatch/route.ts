import type { Association, Model } from '../../model/model.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { serviceTarget } from '../actions/service-target.ts'
import type { RouteNode, ServedRoute } from './route-tree.ts'
import type { Routes } from './routes.ts'

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

/** What stands at an address, whatever the method. Letter case of words and models, and one slash at the end, do not matter. */
export function locate(routes: Routes, path: string, viewOf?: ViewOf): Place {
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
    const literal =
      node.literals.size > 0 ? (node.literals.get(segment) ?? node.literals.get(segment.toLowerCase())) : undefined
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
    if (!parameter || segment === '') throw routeNotFound()
    if (parameter.name === 'model') {
      model = routes.models.get(segment) ?? routes.models.get(segment.toLowerCase())
      if (!model) throw routeNotFound()
    } else if (parameter.name === 'association') {
      association = model && (viewOf?.(model) ?? model).associations.get(decode(segment))
      if (!association) throw routeNotFound()
    } else if (parameter.name === 'child') child = decode(segment)
    else record = segment.includes('%') ? decode(segment) : segment
    node = parameter.node
  }
  if (!model || node.routes.size === 0) throw routeNotFound()
  return { node, model, record, association, child }
}

const actionNode = ({ actions }: RouteNode, model: Model | undefined, segment: string): RouteNode | undefined => {
  const nodes = actions?.(model)
  return nodes?.get(segment) ?? nodes?.get(segment.toLowerCase())
}

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
  const { node, model, record, association, child } = locate(routes, path, viewOf)
  const found = node.routes.get(method === 'HEAD' ? 'GET' : method)
  if (!found || (method === 'HEAD' && found.operation.effect === 'writes')) {
    const allow = allowedAt(node).join(', ')
    throw new ServiceError('E_METHOD_NOT_ALLOWED', `This address answers to ${allow}`, { headers: { Allow: allow } })
  }
  if (!found.served) throw new ServiceError('E_FORBIDDEN', 'Writing by GET is turned off here')
  const { operation, style, served, variants } = found
  return { operation, style, served, variants, model, record, association, child }
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

export function allowedAt(node: RouteNode): readonly string[] {
  const methods: string[] = []
  for (const [method, { operation }] of node.routes) {
    methods.push(method)
    if (method === 'GET' && operation.effect === 'reads') methods.push('HEAD')
  }
  return [...methods, 'OPTIONS']
}

export const routeNotFound = (): ServiceError => new ServiceError('E_NO_SUCH_ROUTE', 'There is nothing at this address')

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ServiceError('E_BAD_REQUEST', 'The address is not percent-encoded UTF-8')
  }
}

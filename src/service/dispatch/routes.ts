import { ConfigError } from '../../model/config-error.ts'
import type { Model, Models } from '../../model/model.ts'
import type { Operation, RouteCondition, Style } from '../../operation/operation.ts'
import { operations } from '../../operation/operations.ts'
import type { ActionOperations } from '../actions/action-operations.ts'
import { addActionRoutes } from '../actions/action-routes.ts'
import type { AnyConfig, RouteOptions } from '../config/config.ts'
import { grow, newNode, type RouteNode, type ServedRoute, segmentsOf } from './route-tree.ts'

export interface Routes {
  readonly root: RouteNode
  /** Models by the segment they are served at, in lower case. */
  readonly models: ReadonlyMap<string, Model>
  readonly list: readonly RouteLine[]
  /** The routes of actions, whose paths name their model. */
  readonly actions: readonly ActionLine[]
  readonly endpoints: readonly Endpoint[]
  /** With which all routes begin, in lower case. */
  readonly prefix: string
}

/** A route of one operation, for people. */
export interface RouteLine {
  readonly method: string
  readonly path: string
  readonly operation: string
  readonly style: Style
  /** Of several routes at one address, the requests that this one serves. */
  readonly when?: RouteCondition
}

/** What the service answers itself, beside the routes of models: batches, streams of live queries, Electric's shapes. */
export interface Endpoint extends RouteLine {
  readonly method: 'GET' | 'POST'
  readonly operation: 'batch' | 'live' | 'shapes'
}

export interface ActionLine extends RouteLine {
  /** Undefined: an action of the service. */
  readonly model: Model | undefined
}

const liveSegment = 'live'

export async function buildRoutes(
  models: Models,
  options: RouteOptions & Pick<AnyConfig, 'shapes'>,
  actions: ActionOperations,
): Promise<Routes> {
  const root = newNode()
  const list: RouteLine[] = []
  const prefix = segmentsOf(options.prefix ?? '')
  const bases: Readonly<Record<Style, readonly string[]>> = {
    rest: [...prefix, ...segmentsOf(options.restPrefix ?? '')],
    shortcut: prefix,
  }
  for (const operation of Object.values(operations) as readonly Operation[]) {
    for (const { method, path, style, when } of operation.routes) {
      if (style === 'rest' && options.rest === false) continue
      if (style === 'shortcut' && options.shortcuts === false) continue
      const segments = [...bases[style], ...segmentsOf(path)]
      const node = grow(root, segments)
      if (style === 'shortcut' && node.routes.get(method)?.operation === operation) continue
      const served = style === 'rest' || operation.effect === 'reads' || options.shortcutWrites !== false
      setRoute(node, method, { operation, style, served }, when)
      const line = { method, path: `/${segments.join('/')}`, operation: operation.name, style }
      if (served) list.push(when === undefined ? line : { ...line, when })
    }
  }
  const segments = await segmentsOfModels(models, options)
  const lines = actions.isEmpty ? [] : addActionRoutes(root, bases.rest, actions, segments)
  const endpoints = endpointsOf(options, segments)
  return { root, models: segments, list, actions: lines, endpoints, prefix: addressOf(prefix).toLowerCase() }
}

/** All routes; those of operations stand for every model. */
export const allLines = ({ list, actions, endpoints }: Routes): readonly RouteLine[] => [
  ...list,
  ...actions.map(({ model: _, ...line }) => line),
  ...endpoints,
]

/** In the order in which they are looked up. A model called `batch` takes the address of batches. */
function endpointsOf(
  { prefix = '', batch = true, shapes }: RouteOptions & Pick<AnyConfig, 'shapes'>,
  models: Routes['models'],
): readonly Endpoint[] {
  const lines: Endpoint[] = []
  const add = (method: Endpoint['method'], operation: Endpoint['operation'], path: string) =>
    lines.push({ method, path: addressOf(segmentsOf(path)), operation, style: 'rest' })
  if (batch && !models.has('batch')) add('POST', 'batch', `${prefix}/batch`)
  add('POST', 'live', `${prefix}/${liveSegment}`)
  if (shapes !== undefined) add('GET', 'shapes', shapes)
  return lines
}

const addressOf = (segments: readonly string[]): string => segments.map((segment) => `/${segment}`).join('')

async function segmentsOfModels(models: Models, options: RouteOptions): Promise<ReadonlyMap<string, Model>> {
  const plural = options.pluralize ? (await import('pluralize')).default : (name: string) => name
  const served = [...models.values()].filter((model) => !model.isJunction)
  const byPlace = Map.groupBy(served, (model) => plural(model.name).toLowerCase())
  const crowded = [...byPlace].filter(([, models]) => models.length > 1)
  const [reserved] = byPlace.get(liveSegment) ?? []
  if (reserved)
    throw new ConfigError([`models.${reserved.name}: \`${liveSegment}\` is reserved for the address of live queries`])
  if (crowded.length > 0) {
    throw new ConfigError(
      crowded.map(
        ([place, models]) => `${models.map(({ name }) => name).join(' and ')} would both be served at /${place}`,
      ),
    )
  }
  return new Map([...byPlace].map(([place, [model]]) => [place, model as Model]))
}

/** The route without a condition is declared before its variants. */
function setRoute(node: RouteNode, method: string, route: ServedRoute, when: RouteCondition | undefined): void {
  const general = node.routes.get(method)
  if (when === undefined || !general) node.routes.set(method, route)
  else node.routes.set(method, { ...general, variants: new Map([...(general.variants ?? []), [when, route]]) })
}

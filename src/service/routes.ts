import { ConfigError } from '../model/config-error.ts'
import type { Model, Models } from '../model/model.ts'
import type { Operation, Style } from '../operation/operation.ts'
import { operations } from '../operation/operations.ts'
import type { RouteOptions } from './config.ts'

export interface ServedRoute {
  readonly operation: Operation
  readonly style: Style
  /** False: a shortcut that writes, and those are turned off. */
  readonly served: boolean
}

/**
 * Routes as a tree, one level a segment. A literal segment comes before a parameter, so `/pet/find` is the shortcut and
 * not the record called "find".
 */
export interface RouteNode {
  readonly literals: Map<string, RouteNode>
  parameter: { readonly name: string; readonly node: RouteNode } | undefined
  /** By method. */
  readonly routes: Map<string, ServedRoute>
}

export interface Routes {
  readonly root: RouteNode
  /** Models by the segment they are served at, in lower case. */
  readonly models: ReadonlyMap<string, Model>
  readonly list: readonly RouteLine[]
}

/** A route of one operation, for people. */
export interface RouteLine {
  readonly method: string
  readonly path: string
  readonly operation: string
  readonly style: Style
}

export async function buildRoutes(models: Models, options: RouteOptions): Promise<Routes> {
  const root = newNode()
  const list: RouteLine[] = []
  const prefix = segmentsOf(options.prefix ?? '')
  const bases: Readonly<Record<Style, readonly string[]>> = {
    rest: [...prefix, ...segmentsOf(options.restPrefix ?? '')],
    shortcut: prefix,
  }
  for (const operation of Object.values(operations) as readonly Operation[]) {
    for (const { method, path, style } of operation.routes) {
      if (style === 'rest' && options.rest === false) continue
      if (style === 'shortcut' && options.shortcuts === false) continue
      const segments = [...bases[style], ...segmentsOf(path)]
      const node = grow(root, segments)
      const served = style === 'rest' || operation.effect === 'reads' || options.shortcutWrites !== false
      node.routes.set(method, { operation, style, served })
      if (served) list.push({ method, path: `/${segments.join('/')}`, operation: operation.name, style })
    }
  }
  return { root, models: await segmentsOfModels(models, options), list }
}

async function segmentsOfModels(models: Models, options: RouteOptions): Promise<ReadonlyMap<string, Model>> {
  const plural = options.pluralize ? (await import('pluralize')).default : (name: string) => name
  const served = [...models.values()].filter((model) => !model.isJunction)
  const byPlace = Map.groupBy(served, (model) => plural(model.name).toLowerCase())
  const crowded = [...byPlace].filter(([, models]) => models.length > 1)
  if (crowded.length > 0) {
    throw new ConfigError(
      crowded.map(
        ([place, models]) => `${models.map(({ name }) => name).join(' and ')} would both be served at /${place}`,
      ),
    )
  }
  return new Map([...byPlace].map(([place, [model]]) => [place, model as Model]))
}

const newNode = (): RouteNode => ({ literals: new Map(), parameter: undefined, routes: new Map() })

const segmentsOf = (path: string): readonly string[] => path.split('/').filter((segment) => segment !== '')

function grow(root: RouteNode, segments: readonly string[]): RouteNode {
  let node = root
  for (const segment of segments) {
    if (segment.startsWith(':')) {
      node.parameter ??= { name: segment.slice(1), node: newNode() }
      node = node.parameter.node
    } else {
      const word = segment.toLowerCase()
      const next = node.literals.get(word) ?? newNode()
      node.literals.set(word, next)
      node = next
    }
  }
  return node
}

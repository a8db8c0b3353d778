import type { Model } from '../../model/model.ts'
import type { Operation, RouteCondition, Style } from '../../operation/operation.ts'

export interface ServedRoute {
  readonly operation: Operation
  readonly style: Style
  /** False: a shortcut that writes, and those are turned off. */
  readonly served: boolean
  /** The operations for requests at the same address that send something more. */
  readonly variants?: ReadonlyMap<RouteCondition, ServedRoute>
}

/**
 * Routes as a tree, one level a segment. A literal segment comes before a parameter, so `GET /pet/find` is the shortcut.
 * The record called "find" answers to the methods and addresses that the shortcut does not have.
 */
export interface RouteNode {
  readonly literals: Map<string, RouteNode>
  /** Whether a literal begins with a digit. Without one, a segment that does is looked for as a parameter at once. */
  hasNumbers: boolean
  parameter: { readonly name: string; readonly node: RouteNode } | undefined
  /** By method. */
  readonly routes: Map<string, ServedRoute>
  /** Names of actions that may stand here, in lower case. Undefined: there are none. */
  actions: ((model: Model | undefined) => ReadonlyMap<string, RouteNode> | undefined) | undefined
}

export const newNode = (): RouteNode => ({
  literals: new Map(),
  hasNumbers: false,
  parameter: undefined,
  routes: new Map(),
  actions: undefined,
})

/** The segments of a path, without empty ones. */
export const segmentsOf = (path: string): readonly string[] => path.split('/').filter((segment) => segment !== '')

/** The node of a path, which is added where it is missing. */
export function grow(root: RouteNode, segments: readonly string[]): RouteNode {
  let node = root
  for (const segment of segments) {
    if (segment.startsWith(':')) {
      node.parameter ??= { name: segment.slice(1), node: newNode() }
      node = node.parameter.node
    } else {
      const word = segment.toLowerCase()
      const next = node.literals.get(word) ?? newNode()
      node.literals.set(word, next)
      if (/^\d/.test(word)) node.hasNumbers = true

      node = next
    }
  }
  return node
}

/** Whether a record may have the text as its id. */
export const mayBeId = (text: string, { primaryKey }: Model): boolean => primaryKey.type.parse(text) !== undefined

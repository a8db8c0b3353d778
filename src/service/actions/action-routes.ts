import { ConfigError } from '../../model/config-error.ts'
import type { Model } from '../../model/model.ts'
import { folded } from '../../model/names.ts'
import type { Operation } from '../../operation/operation.ts'
import { grow, mayBeId, type RouteNode } from '../dispatch/route-tree.ts'
import type { ActionLine } from '../dispatch/routes.ts'
import type { ActionOperation, ActionOperations, OperationsByName } from './action-operations.ts'

/** The actions whose names may stand at a place, for a model or for the service. */
type NodesOf = (model: Model | undefined) => ReadonlyMap<string, RouteNode> | undefined

/**
 * Adds the actions to the tree of routes. The name of an action comes before the id of a record: `POST /pet/import` is
 * the action. Where an id may have the form of the name, the other methods of this address still mean the record. Throws
 * a ConfigError for an action that would hide a model, or a record from every request.
 */
export function addActionRoutes(
  root: RouteNode,
  base: readonly string[],
  actions: ActionOperations,
  models: ReadonlyMap<string, Model>,
): readonly ActionLine[] {
  const places = {
    service: grow(root, base),
    model: grow(root, [...base, ':model']),
    record: grow(root, [...base, ':model', ':record']),
  }
  const problems: string[] = []
  for (const name of actions.service.keys())
    if (models.has(name) || places.service.literals.has(name)) problems.push(`actions.${name}: this address is taken`)
  const ofModels = new Map<Model, Readonly<Record<'model' | 'record', ReadonlyMap<string, RouteNode>>>>()
  for (const model of models.values()) {
    const all = actions.ofModel(model)
    if (all.size === 0) continue
    for (const { action } of all.values())
      if (action.on === 'model' && action.method === 'GET' && mayBeId(action.name, model))
        problems.push(`${model.name}.actions.${action.name}: by GET it would hide the record with this id; use POST`)
    ofModels.set(model, {
      model: nodesFor(all, 'model', (name) => (mayBeId(name, model) ? places.record : emptyNode)),
      record: nodesFor(all, 'record', () => emptyNode),
    })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  if (actions.service.size > 0) {
    const ofService = nodesFor(actions.service, 'service', () => emptyNode)
    places.service.actions = () => ofService
  }
  const at = (place: 'model' | 'record'): NodesOf => {
    return (model) => (model === undefined ? undefined : ofModels.get(model)?.[place])
  }
  if (ofModels.size > 0) {
    places.model.actions = at('model')
    places.record.actions = at('record')
  }
  const line = (path: readonly string[], model: Model | undefined, { action }: ActionOperation): ActionLine => ({
    method: action.method,
    path: `/${[...base, ...path].join('/')}`,
    operation: action.name,
    style: 'rest',
    model,
  })
  return [
    ...[...models].flatMap(([segment, model]) =>
      [...actions.ofModel(model).values()].map((item) => {
        const place = item.action.on === 'record' ? [segment, `:${model.primaryKey.name}`] : [segment]
        return line([...place, item.action.name], model, item)
      }),
    ),
    ...[...actions.service.values()].map((item) => line([item.action.name], undefined, item)),
  ]
}

const emptyNode: RouteNode = {
  literals: new Map(),
  hasNumbers: false,
  parameter: undefined,
  routes: new Map(),
  actions: undefined,
}

function nodesFor(
  actions: OperationsByName,
  on: ActionOperation['action']['on'],
  besides: (name: string) => RouteNode,
): ReadonlyMap<string, RouteNode> {
  const nodes = new Map<string, RouteNode>()
  for (const { action, operation } of actions.values()) {
    if (action.on !== on) continue
    const other = besides(action.name)
    const served = { operation: operation as Operation, style: 'rest', served: true } as const
    nodes.set(folded(action.name), { ...other, routes: new Map([...other.routes, [action.method, served]]) })
  }
  return nodes
}

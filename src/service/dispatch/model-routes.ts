import type { Model } from '../../model/model.ts'
import { ActionOperations } from '../actions/action-operations.ts'
import { definitionsOf } from '../config/check-config.ts'
import type { AnyConfig } from '../config/config.ts'
import { readJobs } from '../jobs.ts'
import { buildRoutes, type RouteLine, type Routes } from './routes.ts'

/** The routes of one model, with its own address and the name of its key in their paths. */
export interface ModelRoutes {
  readonly model: Model
  /** The segment it is served at. */
  readonly segment: string
  readonly lines: readonly RouteLine[]
}

export const routesByModel = (routes: Routes): readonly ModelRoutes[] =>
  [...routes.models].map(([segment, model]) => ({
    model,
    segment,
    lines: [
      ...routes.list.map((line) => ({ ...line, path: spell(line.path, segment, model) })),
      ...actionLines(routes, model),
    ],
  }))

/** The routes of the actions of a model; undefined: of the service. */
export const actionLines = ({ actions }: Routes, of: Model | undefined): readonly RouteLine[] =>
  actions.filter(({ model }) => model === of).map(({ model: _, ...line }) => line)

/** What a configuration would serve, without opening its database. Throws a ConfigError with all that is wrong. */
export async function routesOf(config: AnyConfig): Promise<readonly ModelRoutes[]> {
  return routesByModel(await servedRoutes(config))
}

/** As `routesOf`, with the routes of the service itself. */
export async function servedRoutes(config: AnyConfig): Promise<Routes> {
  const { problems } = await readJobs(config)
  const { models, actions } = definitionsOf(config, problems)
  return buildRoutes(models, config, new ActionOperations(models, actions))
}

const spell = (path: string, segment: string, model: Model): string =>
  path
    .split('/')
    .map((word) => (word === ':model' ? segment : word === ':record' ? `:${model.primaryKey.name}` : word))
    .join('/')

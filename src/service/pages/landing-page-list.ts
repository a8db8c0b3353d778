import { describe } from '../../model/describe.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'
import type { ModelRoutes } from '../dispatch/model-routes.ts'
import type { RouteLine } from '../dispatch/routes.ts'

/** The models and their routes, as JSON for programs. */
export function landingPageList(models: readonly ModelRoutes[], ofService: readonly RouteLine[]): Json {
  const described = describe(new Map(models.map(({ model }) => [model.name, model]))) as {
    readonly models: readonly JsonObject[]
  }
  return {
    ...(ofService.length > 0 && { actions: ofService.map(addressOf) }),
    models: described.models.map((description, index) => {
      const { lines } = models[index] as ModelRoutes
      return { ...withoutStorage(description), routes: [...new Set(lines.map(addressOf))] }
    }),
  }
}

const addressOf = ({ method, path, when }: RouteLine): string =>
  when === undefined || when === 'list' ? `${method} ${path}` : `${method} ${path}?${when}=`

/** Table and column names are not public. */
function withoutStorage({ table, attributes, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    attributes: (attributes as readonly Json[])
      .filter(isJsonObject)
      .map(({ column, columnType, ...attribute }) => attribute),
  }
}

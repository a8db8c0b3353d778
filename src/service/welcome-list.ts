import { describe } from '../model/describe.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { ModelRoutes } from './model-routes.ts'

/** What is served, for programs: the models as they are described, where they are, and their routes. */
export function welcomeList(models: readonly ModelRoutes[]): Json {
  const described = describe(new Map(models.map(({ model }) => [model.name, model]))) as {
    readonly models: readonly JsonObject[]
  }
  return {
    models: described.models.map((description, index) => {
      const { lines } = models[index] as ModelRoutes
      return { ...withoutStorage(description), routes: lines.map(({ method, path }) => `${method} ${path}`) }
    }),
  }
}

/** How things are called in the database is nobody's business here. */
function withoutStorage({ table, attributes, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    attributes: (attributes as readonly Json[])
      .filter(isJsonObject)
      .map(({ column, columnType, ...attribute }) => attribute),
  }
}

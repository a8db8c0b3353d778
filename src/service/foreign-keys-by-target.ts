import type { Model, Models } from '../model/model.ts'
import type { ForeignKeyReference } from '../operation/operation.ts'

/** By model, the attributes of all models that hold its key. */
export function foreignKeysByTarget(models: Models): ReadonlyMap<Model, readonly ForeignKeyReference[]> {
  const pointers = [...models.values()].flatMap((model) =>
    [...model.attributes.values()]
      .filter(({ references }) => references)
      .map((attribute): ForeignKeyReference => ({ model, attribute })),
  )
  return Map.groupBy(pointers, ({ attribute }) => attribute.references as Model)
}

import type { Models } from '../model/model.ts'
import { count, reserved } from '../operation/parameters.ts'

/** A warning about attributes that are no filter in an address, because they have the names of parameters. */
export function parameterNameWarnings(models: Models): readonly string[] {
  const named = [...models.values()].flatMap(({ name: model, attributes }) =>
    [...attributes.values()]
      // Of `count`, values other than those of the parameter are a filter.
      .filter(({ name, hidden }) => reserved.has(name) && name !== count.name && !hidden)
      .map(({ name }) => ({ model, name })),
  )
  const [first] = named
  if (first === undefined) return []
  const list = named.map(({ model, name }) => `${model}.${name}`).join(', ')
  return [
    `Attributes with the names of parameters, which are no filter by themselves in an address: ${list}. \`where\` filters by them: ?where={"${first.name}":…}`,
  ]
}

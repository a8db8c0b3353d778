import { modelsIn } from '../../access/condition-parts.ts'
import type { Criteria, Populate } from '../../criteria/criteria.ts'
import { type Model, type Models, originalOf } from '../../model/model.ts'

export const modelsNamed = (names: Iterable<string>, models: Models): readonly Model[] =>
  [...names].flatMap((name) => models.get(name) ?? [])

/** Every model whose records a list depends on, whatever the rules. */
export const modelsOfList = (
  model: Model,
  { where, sort }: Criteria,
  populates: readonly Populate[],
  models: Models,
): readonly Model[] => [
  originalOf(model),
  ...modelsNamed(modelsIn(where), models),
  ...sort.flatMap(({ through }) => (through ? [originalOf(through.target)] : [])),
  ...modelsEmbedded(populates, models),
]

/** Every model whose records decide what is embedded. */
export const modelsEmbedded = (populates: readonly Populate[], models: Models): readonly Model[] =>
  populates.flatMap(({ association, criteria, populate }) => [
    ...(association.kind === 'manyToMany' ? [originalOf(association.junction)] : []),
    ...modelsOfList(association.target, criteria, populate, models),
  ])

import type { Attribute, Index, Model } from '../model/model.ts'

/** The indexes of a model's table besides the primary key: of unique attributes, of foreign keys, and the declared ones. */
export function indexesOf(model: Model): readonly Index[] {
  const attributes = [...model.attributes.values()]
  return [
    ...attributes.filter(({ unique, isPrimaryKey }) => unique && !isPrimaryKey).map((one) => uniqueIndex([one])),
    ...attributes
      .filter(({ references, unique }) => references && !unique)
      .flatMap((one) => foreignKeyIndex(model, one)),
    ...model.indexes,
  ]
}

/** (foreign key, primary key): the records of one parent in their default order are one range. */
function foreignKeyIndex(model: Model, attribute: Attribute): readonly Index[] {
  if (model.key[0] === attribute) return [] // the index of the primary key begins with it
  return [indexOn([attribute, ...model.key.filter((key) => key !== attribute)], false)]
}

const indexOn = (attributes: readonly Attribute[], unique: boolean): Index => ({
  columns: attributes.map((attribute) => ({ attribute, direction: 'asc' })),
  unique,
  where: [],
})

export const uniqueIndex = (attributes: readonly Attribute[]): Index => indexOn(attributes, true)

/** Whether no two rows have the same values of these attributes: some of them are unique, or all together. */
export const isUniqueIn = (attributes: readonly Attribute[], uniques: readonly (readonly string[])[]): boolean =>
  uniques.some((columns) => columns.every((name) => attributes.some(({ column }) => column === name)))

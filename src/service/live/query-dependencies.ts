import { isInImages, isPossible, mayFulfil, modelsIn } from '../../access/condition-parts.ts'
import type { Condition, Criteria, Populate, Sort } from '../../criteria/criteria.ts'
import { type Association, type Attribute, type Model, originalOf } from '../../model/model.ts'
import type { FindInput } from '../../operation/find-input.ts'
import type { Change, RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { QueryPlan } from '../../realtime/queries/query-plan.ts'

type Images = readonly JsonObject[]
/** `holds`: whether a record of the query's own model is in the result. */
type Test = (images: Images, holds: (id: RecordId) => boolean) => boolean

/** Every model whose records are read by a query, except through conditions. */
export function involvedModels(model: Model, { criteria, populate }: FindInput): ReadonlySet<Model> {
  const found = new Set([model])
  const addSorts = (sorts: readonly Sort[]) => {
    for (const { through } of sorts) if (through) found.add(originalOf(through.target))
  }
  const addPopulates = (populates: readonly Populate[]) => {
    for (const { association, criteria, populate } of populates) {
      for (const model of modelsOf(association)) found.add(model)
      addSorts(criteria.sort)
      addPopulates(populate)
    }
  }
  addSorts(criteria.sort)
  addPopulates(populate)
  return found
}

type Dependencies = Pick<QueryPlan, 'through' | 'isConcernedBy'>

const noModels: ReadonlySet<string> = new Set()

/** Of a query whose result follows from the images of its own records: no other model may alter it, whatever rules its attributes have. */
export const ownDependencies = (model: Model, where: Condition): Dependencies => ({
  through: noModels,
  isConcernedBy: (change) => change.model === model.name && imagesOf(change).some((image) => isPossible(where, image)),
})

const imagesOf = ({ before, after }: Change): Images => [before, after].filter((image) => image !== undefined)

/**
 * Which changes may alter the result of a query: those of a record that can fulfil its condition, of records that its
 * conditions, its rules and its sort order pass through, and of records that may be embedded. The criteria are guarded.
 */
export function dependenciesOf(
  model: Model,
  { where, sort }: Criteria,
  populates: readonly Populate[],
  rules: readonly Condition[],
): Dependencies {
  const conditions = [where, ...rules]
  const tests = new Map<string, Test[]>()
  const add = (name: string, test: Test) => tests.set(name, [...(tests.get(name) ?? []), test])
  const addSorts = (sorts: readonly Sort[]) => {
    for (const { through } of sorts) if (through) add(through.target.name, () => true)
  }
  const addPopulate = ({ association, criteria, populate }: Populate, isTop: boolean) => {
    conditions.push(criteria.where)
    addSorts(criteria.sort)
    add(association.target.name, (images, holds) =>
      images.some((image) => isPossible(criteria.where, image) && (!isTop || mayBeMember(association, image, holds))),
    )
    if (association.kind === 'manyToMany')
      add(association.junction.name, (images, holds) =>
        images.some((row) => !isTop || mayReferToHeld(association.near, row, holds)),
      )
    for (const deeper of populate) addPopulate(deeper, false)
  }
  addSorts(sort)
  for (const item of populates) addPopulate(item, true)
  for (const name of new Set(conditions.flatMap((condition) => [...modelsIn(condition)])))
    add(name, (images) => images.some((image) => conditions.some((condition) => mayFulfil(condition, name, image))))
  const through = new Set(tests.keys())
  add(model.name, (images) => images.some((image) => isPossible(where, image)))
  const isConcernedBy = (change: Change, holds: (id: RecordId) => boolean): boolean => {
    const images = imagesOf(change)
    return tests.get(change.model)?.some((test) => test(images, holds)) === true
  }
  return { through, isConcernedBy }
}

/**
 * Whether the image is a record that may belong to a held record, by its foreign key. True for associations whose image does not
 * contain that key.
 */
const mayBeMember = (association: Association, image: JsonObject, holds: (id: RecordId) => boolean): boolean =>
  association.kind !== 'hasMany' || mayReferToHeld(association.via, image, holds)

/** True if the log does not contain the values of the foreign key, because it is hidden. */
const mayReferToHeld = (key: Attribute, image: JsonObject, holds: (id: RecordId) => boolean): boolean =>
  !isInImages(key) || holds(image[key.name] as RecordId)

const modelsOf = (association: Association): readonly Model[] => [
  originalOf(association.target),
  ...(association.kind === 'manyToMany' ? [originalOf(association.junction)] : []),
]

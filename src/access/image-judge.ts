import { conditionKey } from '../criteria/condition-key.ts'
import { type Condition, isMatchAll, leavesOf, matchAll, matchNone, type Related } from '../criteria/criteria.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Images } from '../realtime/visibility.ts'
import type { Store } from '../storage/store.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { ObjectCache } from '../support/object-cache.ts'
import { isDecidedByImages } from './condition-parts.ts'
import type { RuleShapes, VerdictLocation } from './rule-shapes.ts'
import { type DatabaseCondition, type ShapeEvaluation, verdictAt } from './shape-evaluation.ts'

/** A statement for one model: which of these records fulfil each of these conditions. */
interface RecordQuery {
  readonly model: Model
  readonly ids: Set<Json>
  readonly conditions: Map<string, Condition>
}

/** Whether a record fulfils a condition before a change, and after it. Undefined if that can no longer be determined. */
export interface Judgement {
  readonly before: boolean | undefined
  readonly after: boolean | undefined
}

const always: Judgement = { before: true, after: true }
const never: Judgement = { before: false, after: false }

/**
 * Decides conditions for images of records, which may no longer be what is stored. Comparisons are decided by the image,
 * once for each shape of conditions. The database decides conditions on hidden attributes, whose values images do not hold, and
 * conditions through an association, all of one model in one statement: through a to-one by the image's own foreign key,
 * through a to-many by the record's key, which a destroyed record no longer has.
 */
export class ImageJudge {
  readonly #store: Store
  readonly #shapes: RuleShapes
  /** Kept here, because other judges may make the shapes forget them. */
  readonly #locations = new Map<Condition, VerdictLocation>()
  readonly #outcomes = new Map<Images, Map<ShapeEvaluation, ReturnType<ShapeEvaluation['decide']>>>()
  readonly #queries = new Map<Model, RecordQuery>()
  readonly #answers = new Map<Model, ReadonlyMap<string, ReadonlySet<Json>>>()

  constructor(store: Store, shapes: RuleShapes) {
    this.#store = store
    this.#shapes = shapes
  }

  /** To be called for all conditions before `query`. */
  collect(condition: Condition, model: Model, images: Images): void {
    for (const part of databaseConditionsIn(condition)) {
      for (const image of [images.before, images.after]) {
        if (!image) continue
        const { target, key, condition } = queryOf(part, model, image)
        if (key === null) continue
        this.#addQuery(target, key, condition)
        if (mustExist(part)) this.#addQuery(target, key, matchAll)
      }
    }
  }

  /** For a record as it is stored. */
  collectRecord(condition: Condition, model: Model, id: RecordId): void {
    this.#addQuery(model, id, condition)
  }

  #addQuery(model: Model, id: Json, condition: Condition): void {
    const query = getOrInsertComputed(this.#queries, model, () => ({
      model,
      ids: new Set(),
      conditions: new Map(),
    }))
    query.ids.add(id)
    query.conditions.set(conditionKey(condition), condition)
  }

  /** Runs one statement for each model. */
  async query(): Promise<void> {
    for (const { model, ids, conditions } of this.#queries.values()) {
      const found = await this.#store.matching(model, [...ids], [...conditions.values()])
      this.#answers.set(model, new Map([...conditions.keys()].map((key, index) => [key, found[index] ?? new Set()])))
    }
  }

  /** To be called for all conditions before the first is judged: those of one shape are decided together. */
  place(condition: Condition, model: Model): void {
    if (!isConstant(condition)) this.#locationOf(condition, model)
  }

  #locationOf(condition: Condition, model: Model): VerdictLocation {
    return getOrInsertComputed(this.#locations, condition, () => this.#shapes.locationOf(condition, model))
  }

  judge(condition: Condition, model: Model, images: Images): Judgement {
    if (isConstant(condition)) return isMatchAll(condition) ? always : never
    const { evaluation, position } = this.#locationOf(condition, model)
    const outcomes = getOrInsertComputed(this.#outcomes, images, () => new Map())
    const { before, after } = getOrInsertComputed(outcomes, evaluation, () =>
      evaluation.decide(images, (part, images, side) => this.#decideByDatabase(part, model, images, side)),
    )
    return { before: verdictAt(before, position), after: verdictAt(after, position) }
  }

  #decideByDatabase(
    part: DatabaseCondition,
    model: Model,
    images: Images,
    side: 'before' | 'after',
  ): boolean | undefined {
    // The values of hidden attributes are known as they are now, and not what they were before the change.
    if (isOfHidden(part) && images.before) return undefined
    const { target, key, condition } = queryOf(part, model, images[side] as JsonObject)
    if (key === null) return false
    if (this.#fulfils(target, key, condition)) return true
    return mustExist(part) && !this.#fulfils(target, key, matchAll) ? undefined : false
  }

  decideRecord(condition: Condition, model: Model, id: RecordId): boolean {
    return this.#fulfils(model, id, condition)
  }

  #fulfils(model: Model, id: Json, condition: Condition): boolean {
    return this.#answers.get(model)?.get(conditionKey(condition))?.has(id) === true
  }
}

/** By which key of which model the database decides the condition for the image. */
function queryOf(
  part: DatabaseCondition,
  model: Model,
  image: JsonObject,
): { readonly target: Model; readonly key: Json; readonly condition: Condition } {
  const foreignKey = foreignKeyOf(part)
  if (foreignKey) {
    const { association, condition } = part as Related
    return { target: association.target, key: image[foreignKey.name] ?? null, condition }
  }
  return { target: model, key: image[model.primaryKey.name] ?? null, condition: part }
}

/** The attribute of the image by which a related record is found. */
const foreignKeyOf = (part: DatabaseCondition): Attribute | undefined =>
  part.kind === 'related' && part.association.kind === 'belongsTo' && !part.association.foreignKey.hidden
    ? part.association.foreignKey
    : undefined

/**
 * Whether nothing is known if there is no record with the key: the record itself may be gone, and a related one may be stored with
 * another key that the database takes for equal.
 */
const mustExist = (part: DatabaseCondition): boolean => {
  const foreignKey = foreignKeyOf(part)
  return !foreignKey || foreignKey.stored.foldsText || (part as Related).association.target.primaryKey.stored.foldsText
}

/** Whether it depends on a value of the record that images do not hold. */
const isOfHidden = (part: DatabaseCondition): boolean =>
  part.kind === 'compare' || (part.association.kind === 'belongsTo' && part.association.foreignKey.hidden)

const isConstant = (condition: Condition): boolean => condition === matchNone || isMatchAll(condition)

const foundIn = new ObjectCache<Condition, readonly DatabaseCondition[]>()

const databaseConditionsIn = (condition: Condition): readonly DatabaseCondition[] =>
  getOrInsertComputed(foundIn, condition, () =>
    leavesOf(condition).filter((leaf) => leaf.kind === 'related' || !isDecidedByImages(leaf)),
  )

export const needsDatabase = (condition: Condition): boolean => databaseConditionsIn(condition).length > 0

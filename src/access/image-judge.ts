import { conditionKey } from '../criteria/condition-key.ts'
import { type Condition, isMatchAll, matchAll, matchNone } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Images } from '../realtime/visibility.ts'
import type { Store } from '../storage/store.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'
import { isInImages } from './condition-parts.ts'
import type { RuleShapes } from './rule-shapes.ts'
import { type Asked, type ShapeEvaluation, verdictAt } from './shape-evaluation.ts'

/** What must be asked of one model: which of these records fulfil each of these conditions. */
interface Question {
  readonly model: Model
  readonly ids: Set<Json>
  readonly conditions: Map<string, Condition>
}

/** Whether a record fulfilled a condition before a change, and after it. Undefined: it is no longer known. */
export interface Judgement {
  readonly before: boolean | undefined
  readonly after: boolean | undefined
}

const always: Judgement = { before: true, after: true }
const never: Judgement = { before: false, after: false }

/**
 * Decides conditions for images of records, which may no longer be what is stored. Comparisons are decided by the image,
 * once for each shape of conditions. Values of hidden attributes, which images do not hold, are asked of the database.
 * Conditions through an association are asked of the database, all of one model in one statement: through a to-one by the
 * image's own foreign key, through a to-many by the record's key, which a destroyed record no longer has.
 */
export class ImageJudge {
  readonly #store: Store
  readonly #shapes: RuleShapes
  readonly #outcomes = new Map<Images, Map<ShapeEvaluation, ReturnType<ShapeEvaluation['decide']>>>()
  readonly #questions = new Map<Model, Question>()
  readonly #answers = new Map<Model, ReadonlyMap<string, ReadonlySet<Json>>>()

  constructor(store: Store, shapes: RuleShapes) {
    this.#store = store
    this.#shapes = shapes
  }

  note(condition: Condition, model: Model, images: Images): void {
    for (const part of askedIn(condition)) {
      for (const image of [images.before, images.after]) {
        if (!image) continue
        const { about, key, asked } = questionOf(part, model, image)
        if (key === null) continue
        this.#question(about, key, asked)
        if (about === model) this.#question(about, key, matchAll)
      }
    }
  }

  /** For a record as it is stored. */
  noteRecord(condition: Condition, model: Model, id: RecordId): void {
    this.#question(model, id, condition)
  }

  #question(model: Model, id: Json, condition: Condition): void {
    const question = getOrInsertComputed(this.#questions, model, () => ({
      model,
      ids: new Set(),
      conditions: new Map(),
    }))
    question.ids.add(id)
    question.conditions.set(conditionKey(condition), condition)
  }

  async ask(): Promise<void> {
    for (const { model, ids, conditions } of this.#questions.values()) {
      const found = await this.#store.matching(model, [...ids], [...conditions.values()])
      this.#answers.set(model, new Map([...conditions.keys()].map((key, index) => [key, found[index] ?? new Set()])))
    }
  }

  /** To be called for all conditions before the first is judged: those of one shape are decided together. */
  place(condition: Condition, model: Model): void {
    if (!isConstant(condition)) this.#shapes.placeOf(condition, model)
  }

  judge(condition: Condition, model: Model, images: Images): Judgement {
    if (isConstant(condition)) return isMatchAll(condition) ? always : never
    const { evaluation, position } = this.#shapes.placeOf(condition, model)
    const outcomes = getOrInsertComputed(this.#outcomes, images, () => new Map())
    const { before, after } = getOrInsertComputed(outcomes, evaluation, () =>
      evaluation.decide(images, (asked, images, side) => this.#decideAsked(asked, model, images, side)),
    )
    return { before: verdictAt(before, position), after: verdictAt(after, position) }
  }

  #decideAsked(part: Asked, model: Model, images: Images, side: 'before' | 'after'): boolean | undefined {
    // The values of hidden attributes are known as they are now, and not what they were before the change.
    if (part.kind === 'compare' && images.before) return undefined
    const { about, key, asked } = questionOf(part, model, images[side] as JsonObject)
    if (key === null) return false
    if (this.#fulfils(about, key, asked)) return true
    const isOwn = part.kind === 'compare' || part.association.kind !== 'belongsTo'
    return isOwn && !this.#exists(model, key) ? undefined : false
  }

  decideRecord(condition: Condition, model: Model, id: RecordId): boolean {
    return this.#fulfils(model, id, condition)
  }

  #fulfils(model: Model, id: Json, condition: Condition): boolean {
    return this.#answers.get(model)?.get(conditionKey(condition))?.has(id) === true
  }

  #exists(model: Model, id: Json): boolean {
    return this.#fulfils(model, id, matchAll)
  }
}

function questionOf(
  part: Asked,
  model: Model,
  image: JsonObject,
): { readonly about: Model; readonly key: Json; readonly asked: Condition } {
  if (part.kind === 'related' && part.association.kind === 'belongsTo') {
    const { target, foreignKey } = part.association
    return { about: target, key: image[foreignKey.name] ?? null, asked: part.condition }
  }
  return { about: model, key: image[model.primaryKey.name] ?? null, asked: part }
}

const isConstant = (condition: Condition): boolean => condition === matchNone || isMatchAll(condition)

const foundIn = new WeakMap<Condition, readonly Asked[]>()

const askedIn = (condition: Condition): readonly Asked[] =>
  getOrInsertComputed(foundIn, condition, () => findAsked(condition))

function findAsked(condition: Condition): readonly Asked[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(findAsked)
    case 'not':
      return findAsked(condition.condition)
    case 'related':
      return [condition]
    case 'compare':
      return isInImages(condition.attribute) ? [] : [condition]
  }
}

export const isAsking = (condition: Condition): boolean => askedIn(condition).length > 0

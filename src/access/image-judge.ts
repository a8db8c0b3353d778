import { conditionKey } from '../criteria/condition-key.ts'
import { type Condition, matchAll, type Related } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import type { RecordId } from '../protocol/change.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { Store } from '../storage/store.ts'
import { getOrInsertComputed } from '../support/get-or-insert-computed.ts'

/** What must be asked of one model: which of these records fulfil each of these conditions. */
interface Question {
  readonly model: Model
  readonly ids: Set<Json>
  readonly conditions: Map<string, Condition>
}

/**
 * Decides conditions for images of records, which may no longer be what is stored. Comparisons are decided by the image.
 * Conditions through an association are asked of the database, all of one model in one statement: through a to-one by the
 * image's own foreign key, through a to-many by the record's key, which a destroyed record no longer has.
 */
export class ImageJudge {
  readonly #store: Store
  readonly #questions = new Map<Model, Question>()
  readonly #answers = new Map<Model, ReadonlyMap<string, ReadonlySet<Json>>>()

  constructor(store: Store) {
    this.#store = store
  }

  note(condition: Condition, model: Model, image: JsonObject): void {
    for (const related of relatedIn(condition)) {
      const { about, key, asked } = questionOf(related, model, image)
      if (key === null) continue
      this.#question(about, key, asked)
      if (related.association.kind !== 'belongsTo') this.#question(about, key, matchAll)
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

  /** Undefined: it cannot be told any more. */
  decide(condition: Condition, model: Model, image: JsonObject): boolean | undefined {
    switch (condition.kind) {
      case 'and':
        return combine(condition.conditions, false, (part) => this.decide(part, model, image))
      case 'or':
        return combine(condition.conditions, true, (part) => this.decide(part, model, image))
      case 'not': {
        const inner = this.decide(condition.condition, model, image)
        return inner === undefined ? undefined : !inner
      }
      case 'related': {
        const { about, key, asked } = questionOf(condition, model, image)
        if (key === null) return false
        if (this.#fulfils(about, key, asked)) return true
        return about === model && condition.association.kind !== 'belongsTo' && !this.#exists(model, key)
          ? undefined
          : false
      }
      case 'compare': {
        const { attribute, operator, operand } = condition
        return operator.matches(image[attribute.name] ?? null, operand, attribute)
      }
    }
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
  related: Related,
  model: Model,
  image: JsonObject,
): { readonly about: Model; readonly key: Json; readonly asked: Condition } {
  const { association, condition } = related
  return association.kind === 'belongsTo'
    ? { about: association.target, key: image[association.foreignKey.name] ?? null, asked: condition }
    : { about: model, key: image[model.primaryKey.name] ?? null, asked: related }
}

function relatedIn(condition: Condition): readonly Related[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(relatedIn)
    case 'not':
      return relatedIn(condition.condition)
    case 'related':
      return [condition]
    case 'compare':
      return []
  }
}

/** Three-valued: one part that decides is enough, and without one, one that is unknown leaves it open. */
function combine(
  parts: readonly Condition[],
  decisive: boolean,
  decide: (part: Condition) => boolean | undefined,
): boolean | undefined {
  let isOpen = false
  for (const part of parts) {
    const outcome = decide(part)
    if (outcome === decisive) return decisive
    if (outcome === undefined) isOpen = true
  }
  return isOpen ? undefined : !decisive
}

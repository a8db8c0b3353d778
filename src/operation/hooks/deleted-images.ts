import type { Condition } from '../../criteria/criteria.ts'
import { idIn } from '../../criteria/criteria.ts'
import { keysIn } from '../../criteria/named-keys.ts'
import { equals } from '../../criteria/operators/equals.ts'
import type { Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'
import type { Records, Transaction } from '../../storage/store.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'

/**
 * The records that a transaction deletes together, each as it was before its hook. A foreign key may clear or delete one of them
 * with another: SQLite does so within the statement, which then returns the record without its reference, or not at all.
 */
export class DeletedImages {
  readonly #images = new Map<Model, Map<Json, JsonObject>>()

  add(model: Model, records: Records): void {
    const images = getOrInsertComputed(this.#images, model, () => new Map<Json, JsonObject>())
    for (const record of records.decode()) {
      const key = record[model.primaryKey.name] as Json
      if (!images.has(key)) images.set(key, record)
    }
  }

  /** The records of a delete statement: those that it returned, and those that a foreign key had deleted before. */
  async take(model: Model, where: Condition, deleted: Records, all: Transaction): Promise<readonly JsonObject[]> {
    const images = this.#images.get(model)
    const records = deleted.decode()
    if (!images || images.size === 0) return records
    const keys = deleted.values(model.primaryKey)
    const taken = records.map((record, index) => images.get(keys[index] as Json) ?? record)
    for (const key of keys) images.delete(key)
    const missing = keysNamedIn(where).filter((key) => images.has(key))
    if (missing.length === 0) return taken
    const page = { sort: [], limit: missing.length, skip: 0, select: [model.primaryKey] }
    const kept = new Set((await all.find(model, { ...page, where: idIn(model, missing) })).values(model.primaryKey))
    for (const key of missing) {
      if (kept.has(key)) continue
      taken.push(images.get(key) as JsonObject)
      images.delete(key)
    }
    return taken
  }
}

/** Whether deleting a record of the model may clear or delete other records of the same model by a foreign key. */
export const refersToItself = (model: Model): boolean =>
  [...model.attributes.values()].some(({ references, onDestroy }) => references === model && onDestroy !== 'restrict')

function keysNamedIn(where: Condition): readonly Json[] {
  const keys = keysIn(where)
  if (!keys) return []
  return keys.operator === equals ? [keys.operand as Json] : (keys.operand as readonly Json[])
}

import { findByPrimaryKey, idIn } from '../../criteria/criteria.ts'
import type { Models } from '../../model/model.ts'
import type { RecordId } from '../../protocol/change.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { CurrentRecords } from '../../realtime/visibility.ts'
import type { Store } from '../../storage/store.ts'
import { chunksOf } from '../../support/chunks-of.ts'
import { andThen, forEachSequential } from '../../support/maybe-promise.ts'

const keysPerStatement = 500

/** Reads records by their keys, as they are stored now. */
export function currentRecordsOf(store: Store, models: Models): CurrentRecords {
  return (name, ids) => {
    const model = models.get(name)
    const records = new Map<RecordId, JsonObject>()
    if (!model) return records
    const { primaryKey } = model
    const chunks = [...chunksOf(ids, keysPerStatement)]
    const read = forEachSequential(chunks, (chunk) => {
      const where = idIn(model, chunk)
      return andThen(store.find(model, { ...findByPrimaryKey(model, null), where, limit: chunk.length }), (found) => {
        for (const record of found.decode()) records.set(record[primaryKey.name] as RecordId, record)
      })
    })
    return andThen(read, () => records)
  }
}

import type { Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import type { RecordValues } from './record-values.ts'

/**
 * The values of an update without each null that stands for a value that is masked in the record: a client that sends a
 * whole record back has read nothing else, and would overwrite what it may not read.
 */
export function withoutMasked<Values extends RecordValues>(
  record: Values,
  model: Model,
  id: Json,
  reads: ScopedReads,
): MaybePromise<Values> {
  if (!reads.maskedIn) return record
  const cleared: string[] = []
  for (const [name, value] of record.values) if (value === null) cleared.push(name)
  if (cleared.length === 0) return record
  return andThen(reads.maskedIn(model, id, cleared), (masked) => {
    if (masked.length === 0) return record
    const values = new Map(record.values)
    for (const name of masked) values.delete(name)
    return { ...record, values }
  })
}

import type { Model } from '../model/model.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'
import type { ReadOptions } from '../storage/store.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { encodeCursor } from './cursor.ts'
import { embed } from './embed.ts'
import type { FindInput } from './find-input.ts'
import type { OperationServices, RecordsResult } from './operation.ts'

/** Reads a page, with what is embedded in it, the number of records on all pages if asked for, and the next cursor. */
export function list(
  { criteria, populate, count }: FindInput,
  model: Model,
  reads: ScopedReads,
  { secret }: OperationServices,
  client?: ReadOptions,
): MaybePromise<RecordsResult> {
  return andThen(reads.find(model, criteria, client), (found) =>
    andThen(embed(found, populate, reads, client), (records) => {
      const next = found.next && encodeCursor(found.next, model, criteria.sort, secret)
      const result: RecordsResult = { kind: 'records', model, records, populate, next }
      return count ? andThen(reads.count(model, criteria.where, client), (total) => ({ ...result, total })) : result
    }),
  )
}

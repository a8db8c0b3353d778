import type { Model } from '../model/model.ts'
import { boundedReads } from '../storage/byte-budget.ts'
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
  { secret, limits }: OperationServices,
  client?: ReadOptions,
): MaybePromise<RecordsResult> {
  const options = boundedReads(client, limits.maxAnswerBytes)
  return andThen(reads.find(model, criteria, options), (found) =>
    andThen(embed(found, populate, reads, options), (records) => {
      const next = found.next && encodeCursor(found.next, model, criteria.sort, secret)
      const result: RecordsResult = { kind: 'records', model, records, populate, next }
      return count ? andThen(reads.count(model, criteria.where, options), (total) => ({ ...result, total })) : result
    }),
  )
}

import type { Populate } from '../criteria/criteria.ts'
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
  { cursors, limits }: OperationServices,
  client?: ReadOptions,
): MaybePromise<RecordsResult> {
  const options = boundedReads(client, limits.maxAnswerBytes)
  // Code of the application gets objects; a client gets texts.
  const members = client && namesOf(populate)
  return andThen(reads.find(model, criteria, options, members), (found) =>
    andThen(embed(found, populate, reads, options), (records) => {
      const next = found.next && encodeCursor(found.next, model, criteria, cursors)
      const result: RecordsResult = { kind: 'records', model, records, populate, next }
      return count ? andThen(reads.count(model, criteria.where, options), (total) => ({ ...result, total })) : result
    }),
  )
}

const none: readonly never[] = []

const namesOf = (populate: readonly Populate[]): readonly string[] =>
  populate.length === 0 ? none : populate.map(({ association }) => association.name)

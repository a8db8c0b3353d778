import type { Model } from '../model/model.ts'
import type { Reads } from '../storage/store.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { sealCursor } from './cursor.ts'
import { embed } from './embed.ts'
import type { FindInput } from './find-input.ts'
import type { Context, Outcome } from './operation.ts'

/** Reads a list, with what is embedded in it, how many there are, and where the next page begins. */
export function list(
  { criteria, populate, count }: FindInput,
  model: Model,
  reads: Reads,
  context: Context,
): Maybe<Outcome> {
  return chain(reads.find(model, criteria), (found) =>
    chain(embed(found, populate, reads), (records) => {
      const next = found.next && sealCursor(found.next, model, criteria.sort, context.secret)
      if (!count) return { kind: 'list', model, records, populate, next }
      return chain(reads.count(model, criteria.where), (total) => ({
        kind: 'list',
        model,
        records,
        populate,
        next,
        total,
      }))
    }),
  )
}

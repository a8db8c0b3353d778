import { allOf, oneByKey, type Populate, type Selection } from '../criteria/criteria.ts'
import { withKeys } from '../criteria/parse-populate.ts'
import { parseSelect } from '../criteria/parse-select.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Reads } from '../storage/store.ts'
import type { Limits } from '../support/limits.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import { embed } from './embed.ts'
import { readPopulate } from './find-input.ts'
import { type Outcome, type Parameters, parameter } from './operation.ts'

/** How one record is answered. */
export interface Showing {
  readonly select: Selection
  readonly populate: readonly Populate[]
}

export function readShowing(parameters: Parameters, model: Model, limits: Limits): Showing {
  const populate = readPopulate(parameters, model, limits, 1)
  const select = parseSelect(parameter(parameters, 'select'), parameter(parameters, 'omit'), model)
  return { select: withKeys(select, model, populate), populate }
}

/** Reads one record. Throws E_NO_SUCH_RECORD. */
export const show = (id: Json, { select, populate }: Showing, model: Model, reads: Reads): Maybe<Outcome> =>
  chain(reads.find(model, oneByKey(model, id, select)), (found) => {
    if (found.length === 0) throw noSuchRecord(model.name)
    const stored = select === allOf(model) ? found : undefined
    return chain(embed(found, populate, reads), (records) => ({ kind: 'record', model, records, populate, stored }))
  })

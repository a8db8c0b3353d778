import { findKey } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { noSuchRecord, ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { ScopedReads } from '../storage/scoped-store.ts'

/** A statement that changed no record, although there is one: triggers can do that. */
export const keptByTrigger = ({ name }: Model, verb: 'change' | 'delete'): ServiceError =>
  new ServiceError('E_BAD_REQUEST', `A trigger of the database did not ${verb} the ${name}`, { model: name })

/** Throws E_NO_SUCH_RECORD, or E_BAD_REQUEST where the record exists: why a statement about one record changed nothing. */
export async function refuseUnwritten(
  model: Model,
  id: Json,
  verb: 'change' | 'delete',
  reads: ScopedReads,
): Promise<never> {
  const found = await reads.find(model, findKey(model, id))
  throw found.length === 0 ? noSuchRecord(model.name) : keptByTrigger(model, verb)
}

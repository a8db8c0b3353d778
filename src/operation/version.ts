import { hash } from 'node:crypto'
import { lockedByKey } from '../criteria/criteria.ts'
import type { Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Records, Transaction } from '../storage/store.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import type { Asking } from './operation.ts'

/** What a text is told by. Not a secret: two different records must not look the same, and that is all. */
export const fingerprint = (text: string): string => hash('sha1', text, 'base64url').slice(0, 22)

/** A record's version: another one whenever anything that is stored of it is another. */
export const versionOf = (stored: Records): string => fingerprint(stored.encodeAt(0))

/**
 * Throws E_PRECONDITION_FAILED unless the record is in a version that was asked for. It stays in it until the
 * transaction ends. Whether there is such a record at all is for the write itself to say.
 */
export function requireVersion(model: Model, id: Json, { versions }: Asking, transaction: Transaction): Maybe<void> {
  if (versions === undefined) return
  return chain(transaction.find(model, lockedByKey(model, id)), (stored) => {
    if (stored.length === 0 || versions === '*' || versions.includes(versionOf(stored))) return
    throw new ServiceError('E_PRECONDITION_FAILED', `The ${model.name} was changed since it was read`, {
      model: model.name,
    })
  })
}

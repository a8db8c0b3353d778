import { findByPrimaryKey } from '../../criteria/criteria.ts'
import { type Model, originalOf } from '../../model/model.ts'
import type { ScopedReads } from '../../storage/scoped-store.ts'
import type { Records } from '../../storage/store.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import type { PreparedRecord } from '../prepare-record.ts'

/** The record after the hooks within its transaction, which may have changed it; as it was written where it no longer exists. */
export function afterWithin(record: PreparedRecord, stored: Records, reads: ScopedReads): MaybePromise<Records> {
  const [key] = stored.values(record.model.primaryKey)
  if (key === undefined || !runsWithin(record)) return stored
  const model = originalOf(record.model)
  const found = (reads.unscoped ?? reads).find(model, findByPrimaryKey(model, key))
  return andThen(found, (current) => (current.length === 0 ? stored : current))
}

/** Whether a hook runs within the transaction that writes the record and what is written with it. */
export const runsWithin = ({ model, members, parents }: PreparedRecord): boolean =>
  hasWithin(model) ||
  members.some(
    ({ association, created }) =>
      hasWithin(association.target) ||
      (association.kind === 'manyToMany' && hasWithin(association.junction)) ||
      created.some(runsWithin),
  ) ||
  parents.some(({ record }) => runsWithin(record))

const hasWithin = (model: Model): boolean => Object.keys(originalOf(model).hooks?.within ?? {}).length > 0

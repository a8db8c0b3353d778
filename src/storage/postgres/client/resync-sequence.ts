import type { Attribute, Model } from '../../../model/model.ts'
import type { Driver } from '../../driver.ts'
import type { PostgresColumn } from '../schema/inspect.ts'
import { literalOf, quoteName } from './text-form.ts'

/**
 * Advances a sequence that is behind the largest key, as it is after a client chose a key. Returns whether it was behind:
 * then the failed insert can be repeated.
 */
export const sequenceResync =
  (driver: Driver, columns: ReadonlyMap<Attribute, PostgresColumn>) =>
  async (model: Model): Promise<boolean> => {
    const sequence = columns.get(model.primaryKey)?.sequence
    if (sequence === undefined) return false
    const key = quoteName(model.primaryKey.column)
    const rows = await driver.write(
      `select setval(${literalOf(sequence)}::regclass, k.largest)
       from (select max(${key})::bigint as largest from ${quoteName(model.table)}) k, ${sequence} s where k.largest >= s.last_value`,
      [],
      undefined,
    )
    return rows.length > 0
  }

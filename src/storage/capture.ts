import type { Model } from '../model/model.ts'
import { imageAttributes } from './image-record.ts'

/** Names of the tables that Keelson adds, in every database. */
export const logTable = 'keelson_log'
export const metaTable = 'keelson_meta'
export const captureTable = 'keelson_capture'

/**
 * The columns that the images of a table hold: those of this model without hidden ones that no computed one depends on, and
 * those that other processes have recorded. Columns are only added, so that two processes with different models do not
 * replace each other's triggers. Everything else that a trigger depends on must be a property of the table, not of a model.
 */
export function capturedColumns(
  model: Model,
  recorded: readonly string[],
  inTable: ReadonlySet<string>,
): readonly string[] {
  const own = imageAttributes(model).map((attribute) => attribute.column)
  const kept = recorded.filter((column) => inTable.has(column) && !own.includes(column))
  return [...new Set([...own, ...kept])].sort()
}

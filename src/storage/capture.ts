import type { Model } from '../model/model.ts'

/** Names of our own tables, in every database. */
export const logTable = 'keelson_log'
export const metaTable = 'keelson_meta'
export const captureTable = 'keelson_capture'

/**
 * The columns that the images of a table must hold, for this model and for what other processes have asked for. They
 * are only ever added to, so that two processes with different models never undo each other's triggers: the one that
 * knows less follows. Whatever else a trigger depends on must be a property of the table, not of a model.
 */
export function capturedColumns(
  model: Model,
  recorded: readonly string[],
  inTable: ReadonlySet<string>,
): readonly string[] {
  const own = [...model.attributes.values()].map((attribute) => attribute.column)
  const kept = recorded.filter((column) => inTable.has(column) && !own.includes(column))
  return [...new Set([...own, ...kept])].sort()
}

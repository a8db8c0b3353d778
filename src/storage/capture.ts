import { createHash } from 'node:crypto'
import type { Model } from '../model/model.ts'

/** Names of our own tables, in every database. */
export const logTable = 'keelson_log'
export const metaTable = 'keelson_meta'
export const captureTable = 'keelson_capture'

/** How the changes of one table get into the log, as noted in the database itself. */
export interface Capture {
  readonly table: string
  readonly model: string
  /** The columns that images hold. */
  readonly columns: readonly string[]
  /** A hash of the definition, part of the triggers' names. */
  readonly version: string
}

/**
 * What a table's capture must become for this model, given what another process may have set up before. Columns are
 * only ever added to it, so that two processes with different models never undo each other's triggers: the one that
 * knows less follows. `format` changes when the text of the triggers does.
 */
export function captureOf(
  model: Model,
  recorded: Capture | undefined,
  inTable: ReadonlySet<string>,
  format: string,
): Capture {
  const own = [...model.attributes.values()].map((attribute) => attribute.column)
  const kept = (recorded?.columns ?? []).filter((column) => inTable.has(column) && !own.includes(column))
  const columns = [...own, ...kept].sort()
  const keys = model.key.map((attribute) => attribute.column)
  const types = [...model.attributes.values()].map(({ column, type }) => `${column}:${type.storedAs}`).sort()
  const definition = JSON.stringify([format, model.name, model.table, keys, columns, types])
  const version = createHash('sha1').update(definition).digest('hex').slice(0, 10)
  return { table: model.table, model: model.name, columns, version }
}

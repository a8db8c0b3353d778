import type { Model } from '../../../model/model.ts'
import { captureTable, logTable, metaTable } from '../../capture.ts'
import type { ExistingTable } from '../../schema.ts'
import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'
import { type Capture, captureOf, captureTriggers, isOurFormat, triggerNames } from './capture-triggers.ts'
import { operationTable } from './operation-marker.ts'

interface Recorded {
  readonly columns: readonly string[]
  readonly version: string
}

/** Whether all changes of this model's table are captured, with all of its attributes. */
export function isCaptured(connection: Connection, model: Model, table: ExistingTable | undefined): boolean {
  if (!table) return false
  const recorded = recordedOf(connection, model.table)
  return recorded !== undefined && isInstalled(connection, captureOf(model, table, recorded.columns), recorded)
}

/** Whether changes of the table have been captured. It keeps its triggers when it is renamed, and its record when it is made again. */
export const isServed = (
  connection: Connection,
  table: string,
  existing: ReadonlyMap<string, ExistingTable>,
): boolean =>
  triggersOn(connection, table).some((name) => name.startsWith('keelson_')) ||
  (existing.has(captureTable) && recordedOf(connection, table) !== undefined)

/** The names of all tables whose changes have been captured. */
export const capturedTables = (
  connection: Connection,
  existing: ReadonlyMap<string, ExistingTable>,
): readonly string[] =>
  existing.has(captureTable)
    ? connection.all(`select "table" from ${captureTable} order by "table"`, []).map(([name]) => name as string)
    : []

/**
 * SQLite fires the trigger first that was created last. When a trigger of another program changes the row again, that change
 * must be the later one in the log.
 */
export const firesFirst = (connection: Connection, table: string): boolean =>
  triggersOn(connection, table).at(-1)?.startsWith('keelson_') === true

/** Installs change capture for this model's table. */
export function capture(connection: Connection, model: Model, table: ExistingTable): void {
  const recorded = recordedOf(connection, model.table)
  const wanted = captureOf(model, table, recorded?.columns ?? [])
  if (isInstalled(connection, wanted, recorded) && firesFirst(connection, model.table)) return
  if (recorded && !isOurFormat(recorded.version)) forget(connection)
  for (const name of triggersOn(connection, model.table)) {
    if (name.startsWith(`keelson_${model.table}_`)) connection.exec(`drop trigger ${sqliteDialect.identifier(name)}`)
  }
  for (const statement of captureTriggers(wanted)) connection.exec(statement)
  connection.all(`insert or replace into ${captureTable} values (?, ?, ?, ?)`, [
    wanted.table,
    model.name,
    JSON.stringify(wanted.columns),
    wanted.version,
  ])
}

function recordedOf(connection: Connection, table: string): Recorded | undefined {
  const [row] = connection.all(`select columns, version from ${captureTable} where "table" = ?`, [table])
  return row && { columns: JSON.parse(row[0] as string), version: row[1] as string }
}

function isInstalled(connection: Connection, wanted: Capture, recorded: Recorded | undefined): boolean {
  if (recorded?.version !== wanted.version) return false
  const present = triggersOn(connection, wanted.table)
  return triggerNames(wanted).every((name) => present.includes(name))
}

const triggersOn = (connection: Connection, table: string): readonly string[] =>
  connection
    .all("select name from sqlite_schema where type = 'trigger' and tbl_name = ? order by rowid", [table])
    .map(([name]) => name as string)

/** Log rows of another format are deleted; earlier positions are answered with `reset`. */
function forget(connection: Connection): void {
  connection.exec(`
    update ${metaTable} set value = (select seq || ':' || at from ${logTable} order by seq desc limit 1)
    where name = 'floor' and exists (select 1 from ${logTable});
    delete from ${logTable};
    delete from ${operationTable}`)
}

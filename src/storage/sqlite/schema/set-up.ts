import type { Model } from '../../../model/model.ts'
import { captureTable, logTable, metaTable } from '../../capture.ts'
import { checkSchema, refuseUnconfiguredMigration } from '../../check-schema.ts'
import { refusedStep } from '../../refused-step.ts'
import type { ExistingTable, MigrateMode } from '../../schema.ts'
import type { SchemaStep } from '../../schema-step.ts'
import { type PlannedStep, planSchema } from '../../sql-schema.ts'
import { unlogged } from '../../unlogged.ts'
import { capture, capturedTables, firesFirst, isCaptured, isServed } from '../change-log/captures.ts'
import { logNotes, logSchema } from '../change-log/change-log.ts'
import { operationTable } from '../change-log/operation-marker.ts'
import type { Connection } from '../client/connection.ts'
import { retryWhileBusy } from '../client/retry-while-busy.ts'
import { sqliteDialect } from '../dialect.ts'
import { sqliteError } from '../errors.ts'
import { sqliteColumns } from './column-check.ts'
import { inspect, type SqliteTable } from './inspect.ts'
import { rebuildTable } from './rebuild-table.ts'

/**
 * Updates the schema for the models in one transaction. A schema that is up to date is not locked, so that a start does
 * not wait for other writers; otherwise it is inspected again under the write lock.
 */
export async function setUp(
  connection: Connection,
  models: readonly Model[],
  migrate: Exclude<MigrateMode, 'safe'> | undefined,
  busyTimeoutMs: number,
): Promise<readonly SchemaStep[]> {
  if (migrate !== 'drop' && isReady(connection, models)) return []
  // A table that others refer to can only be dropped without foreign keys, and the pragma has no effect inside a transaction.
  connection.exec('pragma foreign_keys = off')
  try {
    await retryWhileBusy(() => connection.exec('begin immediate'), busyTimeoutMs)
    const existing = inspect(connection)
    if (migrate === undefined)
      refuseUnconfiguredMigration(models, existing, sqliteColumns, ({ name }) => isServed(connection, name, existing))
    const rebuilt = migrate === 'drop' ? [] : outdatedTables(models, existing)
    for (const table of rebuilt) rebuildTable(connection, table)
    const plan = planSchema(
      models,
      existing,
      sqliteDialect,
      migrate ?? 'add',
      unservedTables(connection, models, existing),
    )
    for (const planned of plan) perform(connection, planned)
    const captures = migrate === 'drop' ? [] : newCaptures(connection, models, existing)
    for (const statement of logSchema) connection.exec(statement)
    const tables = inspect(connection)
    checkSchema(models, tables, sqliteColumns, migrate === 'drop' ? undefined : existing)
    for (const model of models) capture(connection, model, tables.get(model.table) as ExistingTable)
    connection.exec('commit')
    return [
      ...rebuilt.map((table) => ({ kind: 'rebuildTable', table }) as const),
      ...plan.map(({ step }) => step),
      ...captures,
    ]
  } catch (error) {
    if (connection.inTransaction) connection.exec('rollback')
    throw error
  } finally {
    connection.exec('pragma foreign_keys = on')
  }
}

/** What is added to tables that another program has made. That a new table is captured goes without saying. */
function newCaptures(
  connection: Connection,
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
): readonly SchemaStep[] {
  const tables = models
    .map(({ table }) => table)
    .filter((table) => existing.has(table) && !isServed(connection, table, existing))
  if (tables.length === 0) return []
  return [
    ...(existing.has(logTable) ? [] : [{ kind: 'createLog' } as const]),
    ...tables.map((table) => ({ kind: 'captureChanges', table }) as const),
  ]
}

/** Tables that were captured for models, and belong to none now. */
function unservedTables(
  connection: Connection,
  models: readonly Model[],
  existing: ReadonlyMap<string, ExistingTable>,
): readonly ExistingTable[] {
  const served = new Set(models.map(({ table }) => table))
  return capturedTables(connection, existing)
    .filter((name) => !served.has(name))
    .flatMap((name) => existing.get(name) ?? [])
}

function perform(connection: Connection, { step, statement }: PlannedStep): void {
  try {
    connection.exec(statement)
  } catch (error) {
    throw refusedStep(step, sqliteError(error))
  }
}

const outdatedTables = (models: readonly Model[], tables: ReadonlyMap<string, SqliteTable>): readonly string[] =>
  models.map(({ table }) => table).filter((table) => tables.get(table)?.isOutdated)

/** Whether the changes of every model are captured. */
export const isLogged = (
  connection: Connection,
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): boolean => unloggedReason(connection, models, tables) === undefined

/** Why not the changes of every model are captured. */
export function unloggedReason(
  connection: Connection,
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): string | undefined {
  if (![logTable, operationTable, metaTable, captureTable].every((name) => tables.has(name))) return unlogged.none
  const lacking = notCaptured(connection, models, tables)
  return lacking.length === 0 ? undefined : unlogged.lacks(lacking)
}

/** Finds the tables of the models whose changes are not captured, in a database with a log. */
export function uncapturedTables(connection: Connection, models: readonly Model[]): () => readonly string[] {
  let schema: unknown
  let found: readonly string[] = []
  return () => {
    const [[version] = []] = connection.all('pragma schema_version', [])
    if (version !== schema) found = notCaptured(connection, models, inspect(connection))
    schema = version
    return found
  }
}

const notCaptured = (
  connection: Connection,
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): readonly string[] =>
  models.filter((model) => !isCaptured(connection, model, tables.get(model.table))).map(({ table }) => table)

/** Reads in one snapshot: other processes may change the schema meanwhile. */
function isReady(connection: Connection, models: readonly Model[]): boolean {
  connection.exec('begin')
  try {
    const tables = inspect(connection)
    return (
      isLogged(connection, models, tables) &&
      models.every(({ table }) => firesFirst(connection, table)) &&
      logNotes.every((name) => connection.all(`select 1 from ${metaTable} where name = ?`, [name]).length > 0) &&
      outdatedTables(models, tables).length === 0 &&
      planSchema(models, tables, sqliteDialect, 'add').length === 0
    )
  } finally {
    connection.exec('commit')
  }
}

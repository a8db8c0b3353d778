import type { Model } from '../../model/model.ts'
import { captureTable, logTable, metaTable } from '../capture.ts'
import type { ExistingTable, MigrateMode } from '../schema.ts'
import { planSchema } from '../sql-schema.ts'
import { capture, isCaptured } from './captures.ts'
import { logNotes, logSchema } from './change-log.ts'
import type { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { inspect } from './inspect.ts'
import { whenFree } from './patience.ts'

/**
 * Makes the database fit for the models, all of it or nothing. Where nothing is to be done nothing is locked, so that a
 * start does not wait for whoever writes; who finds something to do looks again when it has the database to itself.
 */
export async function setUp(
  connection: Connection,
  models: readonly Model[],
  migrate: Exclude<MigrateMode, 'safe'>,
  busyTimeoutMs: number,
): Promise<readonly string[]> {
  if (migrate === 'add' && isReady(connection, models)) return []
  // Tables that point to each other cannot be dropped one by one while that is watched over, nor can it be let be later.
  if (migrate === 'drop') connection.exec('pragma foreign_keys = off')
  try {
    await whenFree(() => connection.exec('begin immediate'), busyTimeoutMs)
    const plan = planSchema(models, inspect(connection), sqliteDialect, migrate)
    for (const statement of plan.flatMap((step) => step.statements)) connection.exec(statement)
    for (const statement of logSchema) connection.exec(statement)
    const tables = inspect(connection)
    for (const model of models) capture(connection, model, tables.get(model.table) as ExistingTable)
    connection.exec('commit')
    return plan.map((step) => step.done)
  } catch (error) {
    if (connection.inTransaction) connection.exec('rollback')
    throw error
  } finally {
    connection.exec('pragma foreign_keys = on')
  }
}

/** Whether every change of every model gets into a log. */
export const isLogged = (
  connection: Connection,
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): boolean =>
  [logTable, metaTable, captureTable].every((name) => tables.has(name)) &&
  models.every((model) => isCaptured(connection, model, tables.get(model.table)))

/** All of it is of one moment, whoever is at work meanwhile. */
function isReady(connection: Connection, models: readonly Model[]): boolean {
  connection.exec('begin')
  try {
    const tables = inspect(connection)
    return (
      isLogged(connection, models, tables) &&
      logNotes.every((name) => connection.all(`select 1 from ${metaTable} where name = ?`, [name]).length > 0) &&
      planSchema(models, tables, sqliteDialect, 'add').length === 0
    )
  } finally {
    connection.exec('commit')
  }
}

import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../../model/config-error.ts'
import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import { type Capture, captureOf, captureTable, logTable, metaTable } from '../capture.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { memoryNotes, sqlNotes } from '../notes.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { ExistingTable, MigrateMode } from '../schema.ts'
import { silentLog } from '../silent-log.ts'
import { planSchema } from '../sql-schema.ts'
import { SqlStore } from '../sql-store.ts'
import { Wake } from '../wake.ts'
import { captureFormat, captureTriggers, triggerNames } from './capture-triggers.ts'
import { logSchema, SqliteChangeLog } from './change-log.ts'
import type { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { SqliteDriver } from './driver.ts'
import { sqliteError } from './errors.ts'
import { inspect } from './inspect.ts'

export interface SqliteOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  readonly models: Models
  readonly migrate: MigrateMode
  readonly limits: Limits
}

/** Opens the file, makes it fit for the models as far as `migrate` allows, and sees to it that changes are logged. */
export async function openSqlite({ path, models, migrate, limits }: SqliteOptions): Promise<OpenedStore> {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true })
  const wake = new Wake()
  const driver = new SqliteDriver(path, limits, wake)
  try {
    const connection = driver.setup
    const [[encoding] = []] = connection.all('pragma encoding', [])
    if (encoding !== 'UTF-8') {
      throw new ConfigError([
        `database: ${path} is encoded in ${encoding as string}, which orders text unlike any other database here; UTF-8 is needed`,
      ])
    }
    const served = [...models.values()]
    const steps = migrate === 'safe' ? [] : setUp(connection, served, migrate)
    const tables = inspect(connection)
    const log = tables.has(logTable) && tables.has(metaTable) ? logIn(driver, models, wake) : noLog
    const [[version] = []] = connection.all('select sqlite_version()', [])
    const description = `SQLite ${version as string} (${path})`
    const store = new SqlStore({
      driver,
      dialect: sqliteDialect,
      changes: log.changes,
      description,
      secret: log.secret,
      sound: soundIn(served, tables),
    })
    return {
      store,
      steps,
      unenforced: unenforced(served, tables),
      notes: log === noLog ? memoryNotes() : sqlNotes(driver, sqliteDialect),
    }
  } catch (error) {
    await driver[Symbol.asyncDispose]()
    throw sqliteError(error)
  }
}

interface Log {
  readonly changes: SqlChangeLog
  readonly secret: string
}

function logIn(driver: SqliteDriver, models: Models, wake: Wake): Log {
  driver.markOperations()
  const rows = driver.setup.all(`select name, value from ${metaTable}`, [])
  const meta = new Map(rows.map(([name, value]) => [name, value as string]))
  const changes = new SqliteChangeLog(driver, models, meta.get('nonce') as string, wake)
  return { changes, secret: meta.get('secret') as string }
}

/** Where nothing may be touched and nobody was before us, nothing can be followed, and cursors end with the process. */
const noLog: Log = {
  changes: silentLog('the database has no log of changes, and nothing in it may be touched'),
  secret: randomUUID(),
}

function setUp(connection: Connection, models: readonly Model[], migrate: MigrateMode): readonly string[] {
  // Tables that point to each other cannot be dropped one by one while that is watched over, nor can it be let be later.
  if (migrate === 'drop') connection.exec('pragma foreign_keys = off')
  connection.exec('begin immediate')
  try {
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

function capture(connection: Connection, model: Model, table: ExistingTable): void {
  const [row] = connection.all(`select model, columns, version from ${captureTable} where "table" = ?`, [model.table])
  const recorded: Capture | undefined = row && {
    table: model.table,
    model: row[0] as string,
    columns: JSON.parse(row[1] as string),
    version: row[2] as string,
  }
  const wanted = captureOf(model, recorded, new Set(table.columns.keys()), captureFormat)
  const quote = sqliteDialect.identifier
  const present = new Set(
    connection
      .all("select name from sqlite_schema where type = 'trigger' and tbl_name = ?", [model.table])
      .map(([name]) => name as string),
  )
  if (recorded?.version === wanted.version && triggerNames(wanted).every((name) => present.has(name))) return
  for (const name of present)
    if (name.startsWith(`keelson_${model.table}_`)) connection.exec(`drop trigger ${quote(name)}`)
  for (const statement of captureTriggers(model, wanted)) connection.exec(statement)
  connection.all(`insert or replace into ${captureTable} values (?, ?, ?, ?)`, [
    wanted.table,
    wanted.model,
    JSON.stringify(wanted.columns),
    wanted.version,
  ])
}

function soundIn(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): (attribute: Attribute) => boolean {
  const sound = new Set<Attribute>()
  for (const model of models) {
    for (const attribute of model.attributes.values()) {
      if (tables.get(model.table)?.columns.get(attribute.column)?.holdsJson) sound.add(attribute)
    }
  }
  return (attribute) => sound.has(attribute)
}

/** Foreign keys that the models have and the database does not. */
const unenforced = (models: readonly Model[], tables: ReadonlyMap<string, ExistingTable>): readonly Attribute[] =>
  models.flatMap((model) =>
    [...model.attributes.values()].filter(
      (attribute) =>
        attribute.references &&
        !tables
          .get(model.table)
          ?.foreignKeys.some(
            (link) =>
              link.columns.length === 1 &&
              link.columns[0] === attribute.column &&
              link.table === attribute.references?.table,
          ),
    ),
  )

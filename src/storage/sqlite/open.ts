import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ConfigError } from '../../model/config-error.ts'
import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import { metaTable } from '../capture.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { DatabaseError } from '../driver.ts'
import { memoryNotes, sqlNotes } from '../notes.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { ExistingTable, MigrateMode } from '../schema.ts'
import { silentLog } from '../silent-log.ts'
import { SqlStore } from '../sql-store.ts'
import { Wake } from '../wake.ts'
import { SqliteChangeLog } from './change-log.ts'
import { sqliteDialect } from './dialect.ts'
import { SqliteDriver } from './driver.ts'
import { isBusy, sqliteError } from './errors.ts'
import { FileWatch } from './file-watch.ts'
import { inspect } from './inspect.ts'
import { isLogged, setUp } from './set-up.ts'

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
    await driver.prepare()
    const connection = driver.setup
    const [[encoding] = []] = connection.all('pragma encoding', [])
    if (encoding !== 'UTF-8') {
      throw new ConfigError([
        `database: ${path} is encoded in ${encoding as string}, which orders text unlike any other database here; UTF-8 is needed`,
      ])
    }
    const served = [...models.values()]
    const steps = migrate === 'safe' ? [] : await setUp(connection, served, migrate, limits.busyTimeoutMs)
    const tables = inspect(connection)
    const log = isLogged(connection, served, tables) ? logIn(driver, { path, models }, wake) : noLog
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
    if (!isBusy(error)) throw sqliteError(error)
    throw new DatabaseError({ kind: 'busy' }, `${path} is held by another program, for ${limits.busyTimeoutMs} ms now`)
  }
}

interface Log {
  readonly changes: SqlChangeLog
  readonly secret: string
}

function logIn(driver: SqliteDriver, { path, models }: Pick<SqliteOptions, 'path' | 'models'>, wake: Wake): Log {
  driver.markOperations()
  const rows = driver.setup.all(`select name, value from ${metaTable}`, [])
  const meta = new Map(rows.map(([name, value]) => [name, value as string]))
  const changes = new SqliteChangeLog({
    driver,
    models,
    nonce: meta.get('nonce') as string,
    wake,
    watchFile: path === ':memory:' ? undefined : (look) => new FileWatch(`${path}-wal`, look),
  })
  return { changes, secret: meta.get('secret') as string }
}

/** Where nothing may be touched and nobody was before us, nothing can be followed, and cursors end with the process. */
const noLog: Log = {
  changes: silentLog('the database has no log of changes, and nothing in it may be touched'),
  secret: randomUUID(),
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

import { randomUUID } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import type { Observe } from '../../support/observation.ts'
import { metaTable } from '../capture.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { ChangeNotifier } from '../change-notifier.ts'
import { checkSchema } from '../check-schema.ts'
import { disabledChangeLog } from '../disabled-change-log.ts'
import { DatabaseError } from '../driver.ts'
import { keyWarnings } from '../key-warnings.ts'
import { memoryMetadataTable, sqlMetadataTable } from '../metadata-table.ts'
import { observeRead, observeStatements } from '../observe-statements.ts'
import type { OpenedStore } from '../opened-store.ts'
import { RecordTexts } from '../record-texts.ts'
import { reportRefusals } from '../report-refusals.ts'
import { reportScans } from '../report-scans.ts'
import { requiredWarnings } from '../required-warnings.ts'
import { type ExistingTable, type MigrateMode, noteColumns } from '../schema.ts'
import { schemaWarnings } from '../schema-warnings.ts'
import { SqlStore } from '../sql-store.ts'
import { answerTable, SqlStoredAnswers } from '../sql-stored-answers.ts'
import type { TextSource } from '../text-source.ts'
import { SqliteAnswerTable } from './answer-table.ts'
import { SqliteChangeLog } from './change-log/change-log.ts'
import { FileWatch } from './change-log/file-watch.ts'
import { SqliteTableVersions } from './change-log/table-versions.ts'
import { SqliteDriver } from './client/driver.ts'
import { retryWhileBusy } from './client/retry-while-busy.ts'
import { waitUntilReadable } from './client/wait-until-readable.ts'
import { walPath } from './client/wal-path.ts'
import { isKeyRowId, sqliteDialect } from './dialect.ts'
import { isBusy, namedError, sqliteError } from './errors.ts'
import { sqliteJobStore } from './job-tables.ts'
import { makeFolder } from './make-folder.ts'
import { assertUtf8 } from './schema/assert-utf8.ts'
import { sqliteColumns } from './schema/column-check.ts'
import { inspect, refuseNames } from './schema/inspect.ts'
import { isLogged, setUp, uncapturedTables, unloggedReason } from './schema/set-up.ts'
import { renewStatistics, statisticsWarnings } from './schema/stale-statistics.ts'
import { timeWarnings } from './schema/time-warnings.ts'
import { referenceWarnings, unindexedReferences } from './schema/unindexed-references.ts'
import { writeWarnings } from './schema/write-warnings.ts'

export interface SqliteOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  readonly models: Models
  readonly migrate: MigrateMode | undefined
  readonly limits: Limits
  /** Receives errors that belong to no request. */
  readonly onError?: (error: unknown) => void
  /** Receives statements and scans, when it is given. */
  readonly observe?: Observe | undefined
  /** The time, for the progress of jobs. */
  readonly now?: (() => number) | undefined
}

/** Opens the file, updates the schema as far as `migrate` allows, and installs change capture. */
export async function openSqlite({
  path,
  models,
  migrate,
  limits,
  onError = () => {},
  observe,
  now = Date.now,
}: SqliteOptions): Promise<OpenedStore> {
  const notifier = new ChangeNotifier()
  const lockedError = () =>
    new DatabaseError({ kind: 'busy' }, `${path} has been locked by another program for ${limits.busyTimeoutMs} ms`)
  await waitUntilReadable(path, limits.busyTimeoutMs).catch(() => Promise.reject(lockedError()))
  const open = () => {
    if (path !== ':memory:') makeFolder(dirname(path))
    return new SqliteDriver({
      path,
      limits,
      notifier,
      onError,
      ...(observe && { onScan: reportScans(observe, isKeyRowId) }),
    })
  }
  // After a crash, the first connection reads what is left of the write-ahead log, and no other one can prepare a statement meanwhile.
  const driver = await retryWhileBusy(open, limits.busyTimeoutMs).catch((error) => {
    throw isBusy(error) ? lockedError() : openError(path, new DatabaseError({ kind: 'lost' }, error))
  })
  try {
    await driver.prepare()
    const connection = driver.setup
    assertUtf8(connection, path)
    const served = [...models.values()]
    if (migrate !== 'drop') refuseNames(connection, served)
    const steps = migrate === 'safe' ? [] : await setUp(connection, served, migrate, limits.busyTimeoutMs)
    if (migrate !== 'safe') await renewStatistics(connection, served, limits.busyTimeoutMs)
    driver.serve()
    const tables = inspect(connection)
    checkSchema(served, tables, sqliteColumns)
    noteColumns(served, tables)
    const unlogged = unloggedReason(connection, served, tables)
    const hasLog = unlogged === undefined
    const log = hasLog ? logIn(driver, { path, models }, notifier) : withoutLog(unlogged)
    const [[version] = []] = connection.all('select sqlite_version()', [])
    const description = `SQLite ${version as string} (${path})`
    const texts = limits.maxKeptBytes > 0 ? new RecordTexts(limits.maxKeptBytes / 2) : undefined
    // In memory the only connection does not see its own commits in the version.
    const hasVersions = hasLog && path !== ':memory:'
    const versions = hasVersions ? versionsOf(driver, served, texts) : undefined
    const references = unindexedReferences(connection, served, tables)
    const store = new SqlStore({
      driver: observeStatements(driver, observe),
      onError,
      onRefusal: reportRefusals(observe, onError),
      dialect: sqliteDialect,
      changes: log.changes,
      answers: new SqlStoredAnswers({
        driver,
        dialect: sqliteDialect,
        table: answerTable,
        mayCreate: migrate !== 'safe',
        stored: new SqliteAnswerTable(driver),
      }),
      description,
      secret: log.secret,
      isSecretShared: hasLog,
      versions,
      texts: texts && versions && textSource(driver, versions, texts, observe),
      limits,
      hasJsonCheck: jsonCheckedIn(served, tables),
      slowDeletes: new Set(references.map(({ model }) => model.table)),
    })
    return {
      store,
      steps,
      unenforced: unenforced(served, tables),
      warnings: [
        ...(migrate === 'safe' ? [] : readOnlyWarnings(path)),
        ...schemaWarnings(served, tables, sqliteColumns),
        ...timeWarnings(served, tables),
        ...writeWarnings(connection, served),
        ...referenceWarnings(connection, references),
        ...statisticsWarnings(connection, served),
        ...(await keyWarnings(served, tables, sqliteDialect, driver.query)),
        ...(await requiredWarnings(served, tables, sqliteDialect, driver.query)),
      ],
      jobs: sqliteJobStore({
        driver,
        mayCreate: hasLog && migrate !== 'safe',
        leaseMs: limits.jobLeaseMs,
        now,
      }),
      notes: hasLog ? sqlMetadataTable(driver, sqliteDialect) : memoryMetadataTable(),
    }
  } catch (error) {
    await driver[Symbol.asyncDispose]()
    throw isBusy(error) ? lockedError() : openError(path, sqliteError(error))
  }
}

/** A database in WAL mode cannot be opened in a folder that is read-only, and SQLite does not say so. */
function openError(path: string, error: unknown): unknown {
  const folder = dirname(path)
  const isFolderReadOnly = path !== ':memory:' && existsSync(folder) && isReadOnly(folder)
  const hint = `${folder} is read-only, and SQLite keeps the files -wal and -shm beside the database`
  return namedError(path, error, isFolderReadOnly ? hint : undefined)
}

/**
 * A start that finds the schema up to date writes nothing, and would not notice. SQLite makes `-wal` and `-shm` with the
 * rights of the file, and they may remain when those of the file have changed.
 */
function readOnlyWarnings(path: string): readonly string[] {
  const wal = walPath(path)
  const files = [path, wal, wal.replace(/-wal$/, '-shm')].filter((file) => existsSync(file) && isReadOnly(file))
  return files.map((file) => `${file} is read-only: every write gets 503`)
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return false
  } catch {
    return true
  }
}

interface Log {
  readonly changes: SqlChangeLog
  readonly secret: string
}

function logIn(
  driver: SqliteDriver,
  { path, models }: Pick<SqliteOptions, 'path' | 'models'>,
  notifier: ChangeNotifier,
): Log {
  driver.markOperations()
  const rows = driver.setup.all(`select name, value from ${metaTable}`, [])
  const meta = new Map(rows.map(([name, value]) => [name, value as string]))
  const changes = new SqliteChangeLog({
    driver,
    models,
    nonce: meta.get('nonce') as string,
    notifier,
    ...(path !== ':memory:' && {
      watchFile: (check) => new FileWatch(walPath(path), check),
      uncaptured: uncapturedTables(driver.reading, [...models.values()]),
    }),
  })
  return { changes, secret: meta.get('secret') as string }
}

/** With `migrate: 'safe'` on a database without a log: no changes are captured, and cursors and tags of lists end with the process. */
const withoutLog = (reason: string): Log => ({ changes: disabledChangeLog(reason), secret: randomUUID() })

function versionsOf(
  { reading }: SqliteDriver,
  served: readonly Model[],
  texts: RecordTexts | undefined,
): SqliteTableVersions {
  return new SqliteTableVersions(reading, () => isLogged(reading, served, inspect(reading)), texts)
}

function textSource(
  driver: SqliteDriver,
  versions: SqliteTableVersions,
  texts: RecordTexts,
  observe: Observe | undefined,
): TextSource {
  return {
    texts,
    readCurrent(work) {
      try {
        return versions.within((reading) =>
          work(observeRead((statement, options) => driver.readHere(statement, reading, options), observe)),
        )
      } catch {
        return undefined // the same read without texts says why
      }
    },
    knowsRecords: (table, keyColumn) => versions.knowsRecords(table, keyColumn),
  }
}

function jsonCheckedIn(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): (attribute: Attribute) => boolean {
  const checked = new Set<Attribute>()
  for (const model of models) {
    for (const attribute of model.attributes.values()) {
      if (tables.get(model.table)?.columns.get(attribute.column)?.holdsJson) checked.add(attribute)
    }
  }
  return (attribute) => checked.has(attribute)
}

/** References of the models without a foreign key in the database. */
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

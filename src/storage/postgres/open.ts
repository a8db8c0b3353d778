import { randomBytes } from 'node:crypto'
import { ConfigError } from '../../model/config-error.ts'
import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { memoryNotes, sqlNotes } from '../notes.ts'
import type { OpenedStore } from '../opened-store.ts'
import type { MigrateMode } from '../schema.ts'
import { silentLog } from '../silent-log.ts'
import { SqlStore } from '../sql-store.ts'
import { Wake } from '../wake.ts'
import { PostgresChangeLog } from './change-log.ts'
import { type Connect, connector } from './connect.ts'
import { postgresDialect } from './dialect.ts'
import { PostgresDriver } from './driver.ts'
import { postgresError, type UniqueColumns } from './errors.ts'
import { columnsOf, type PostgresTable, typesOf } from './inspect.ts'
import { Listener } from './listener.ts'
import { LogCaptures, tableKey } from './log-captures.ts'
import { recounter } from './recount.ts'
import { checkColumns, type Installed, lookAround, setUp } from './set-up.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string
  readonly models: Models
  readonly migrate: MigrateMode
  readonly limits: Limits
  /** Hears of faults that no request is answered with. */
  readonly report?: (error: unknown) => void
  /** What stands in where the database has no log of its own and may not be altered. */
  readonly fallbackLog?: (reason: string) => SqlChangeLog
}

/** The first version that tells its snapshots and transactions by numbers that do not wrap around. */
const oldestVersion = 130_000
/** A lock that another program keeps is not waited for longer than this at start. */
const setUpLockMs = 30_000

/** Connects, makes the database fit for the models as far as `migrate` allows, and sees to it that changes are logged. */
export async function openPostgres(options: PostgresOptions): Promise<OpenedStore> {
  const { url, limits } = options
  const models = [...options.models.values()]
  let uniques: UniqueColumns = new Map()
  const connect = await connector(url, (error) => postgresError(error, uniques))
  const { installed, version, database } = await prepare(connect, models, options.migrate)
  const { tables } = installed
  checkColumns(models, tables)
  uniques = new Map([...tables.values()].flatMap((table) => [...table.uniqueNames]))

  const columns = columnsOf(models, tables)
  const dialect = postgresDialect(typesOf(columns))
  const wake = new Wake()
  const driver = new PostgresDriver({
    connect,
    limits,
    committed: () => listener.committed(),
    recounted: async ({ table, columns: [column, ...rest] }) => {
      const model = models.find((model) => model.table === table && model.primaryKey.column === column)
      return model !== undefined && rest.length === 0 && recount(model)
    },
  })
  const recount = recounter(driver, columns)
  const listener = new Listener({
    wake,
    open: () => connect({ statementTimeoutMs: limits.statementTimeoutMs }),
    tell: (channel, self) => driver.read('select pg_notify($1, $2)', [channel, self], 'short'),
    self: randomBytes(8).toString('hex'),
    report: options.report ?? (() => {}),
  })
  driver.onClosing(() => listener.close())

  const store = new SqlStore({
    driver,
    dialect,
    changes: logOf(installed, options, (log) => {
      const query = (text: string) => driver.read(text, [], 'short')
      const captures = new LogCaptures({ query, tables: log, models: byTable(models, tables), dialect })
      return { driver, tables: log, captures, onWake: (wakened) => listener.onWake(wakened) }
    }),
    description: `PostgreSQL ${version} (${database} at ${hostOf(url) || 'this machine'})`,
    secret: installed.secret ?? randomBytes(32).toString('hex'),
    sound: (attribute) => columns.get(attribute)?.holdsJson ?? false,
    recount,
  })
  const notes = installed.log === undefined ? memoryNotes() : sqlNotes(driver, dialect)
  return { store, steps: installed.steps, unenforced: unenforced(models, tables), notes }
}

interface Prepared {
  readonly installed: Installed
  readonly version: string
  readonly database: string
}

async function prepare(connect: Connect, models: readonly Model[], migrate: MigrateMode): Promise<Prepared> {
  const connection = await connect({ statementTimeoutMs: 0, lockTimeoutMs: setUpLockMs })
  try {
    const text = `select current_setting('server_version_num'), split_part(current_setting('server_version'), ' ', 1), current_database()`
    const [[number, version, database] = []] = await connection.run({ text, values: [], how: 'anew' })
    if (Number(number) < oldestVersion)
      throw new ConfigError([`database: PostgreSQL ${version} is too old; 13 is the first that can be served`])
    const installed = await (migrate === 'safe' ? lookAround(connection, models) : setUp(connection, models, migrate))
    return { installed, version: version as string, database: database as string }
  } finally {
    await connection.close()
  }
}

type LogParts = Omit<ConstructorParameters<typeof PostgresChangeLog>[0], 'caveat'>

function logOf(
  { log, uncaptured }: Installed,
  options: PostgresOptions,
  parts: (log: NonNullable<Installed['log']>) => LogParts,
): SqlChangeLog {
  if (log === undefined) {
    const reason = 'the database has no log of changes, and nothing in it may be touched'
    return (options.fallbackLog ?? silentLog)(reason)
  }
  const caveat =
    uncaptured.length === 0
      ? undefined
      : `Changes of ${uncaptured.join(', ')} are not seen: triggers stand on tables only`
  return new PostgresChangeLog({ ...parts(log), caveat })
}

const byTable = (models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): ReadonlyMap<string, Model> =>
  new Map(models.map((model) => [tableKey(tables.get(model.table)?.schema ?? '', model.table), model]))

/** For people: without the name and the password. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** Foreign keys that the models have and the database does not. */
const unenforced = (models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): readonly Attribute[] =>
  models.flatMap((model) =>
    [...model.attributes.values()].filter(
      ({ column, references }) =>
        references &&
        !tables
          .get(model.table)
          ?.foreignKeys.some(
            ({ columns, table }) => columns.length === 1 && columns[0] === column && table === references.table,
          ),
    ),
  )

import { randomBytes } from 'node:crypto'
import type { Attribute, Model, Models } from '../../model/model.ts'
import type { Limits } from '../../support/limits.ts'
import type { Observe } from '../../support/observation.ts'
import type { SqlChangeLog } from '../change-log.ts'
import { ChangeNotifier } from '../change-notifier.ts'
import { disabledChangeLog } from '../disabled-change-log.ts'
import { memoryMetadataTable, sqlMetadataTable } from '../metadata-table.ts'
import { observeStatements } from '../observe-statements.ts'
import type { OpenedStore } from '../opened-store.ts'
import { reportRefusals } from '../report-refusals.ts'
import { reportScans } from '../report-scans.ts'
import { type MigrateMode, noteColumns } from '../schema.ts'
import { schemaWarnings } from '../schema-warnings.ts'
import { SelfVersions } from '../self-versions.ts'
import { SqlStore } from '../sql-store.ts'
import { answerTable, SqlStoredAnswers } from '../sql-stored-answers.ts'
import { TimedVersions } from '../timed-versions.ts'
import { PostgresAnswerTable } from './answer-table.ts'
import type { BrokerParts } from './change-log/broker/broker.ts'
import { uncapturedTables } from './change-log/capture-triggers.ts'
import { PostgresChangeLog } from './change-log/change-log.ts'
import { defaultPollMs, Listener } from './change-log/listener.ts'
import { LogCaptures, tableKey } from './change-log/log-captures.ts'
import { connector } from './client/connect.ts'
import { poolsTransactions } from './client/detect-pooling.ts'
import { PostgresDriver } from './client/driver.ts'
import { sequenceResync } from './client/resync-sequence.ts'
import { scansAtOnce } from './client/scan-slots.ts'
import { quoteName } from './client/text-form.ts'
import { postgresDialect } from './dialect.ts'
import { postgresError, type UniqueColumns } from './errors.ts'
import { postgresJobStore } from './job-tables.ts'
import { sizeAfterWrites } from './relation-size.ts'
import { postgresColumns } from './schema/column-check.ts'
import { isWhole } from './schema/column-type.ts'
import { columnsOf, type PostgresColumn, type PostgresTable, typesOf } from './schema/inspect.ts'
import { prepare } from './schema/prepare.ts'
import type { Installed } from './schema/set-up.ts'
import { WriterLock } from './writer-lock.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string
  readonly models: Models
  readonly migrate: MigrateMode | undefined
  readonly limits: Limits
  /** Receives errors that belong to no request. */
  readonly onError?: (error: unknown) => void
  /** Receives statements and scans, when it is given. */
  readonly observe?: Observe | undefined
  /** The time, for the progress of jobs. */
  readonly now?: (() => number) | undefined
  /** `redis://`, `rediss://` or `nats://`: messages after commits, in addition to notifications of the server. */
  readonly broker?: string | undefined
  /** For how long a cached answer may miss what other programs have changed. Undefined: no answer is cached. */
  readonly maxStaleMs?: number | undefined
  /** The tables that only this process writes. */
  readonly selfWritten?: ReadonlySet<string> | undefined
  /** For tests: the interval of the poll for writes of other programs. */
  readonly pollMs?: number
  /** The log used when the database has none and must not be altered. */
  readonly fallbackLog?: (reason: string) => SqlChangeLog
}

/** Connects, updates the schema as far as `migrate` allows, and installs change capture. */
export async function openPostgres(options: PostgresOptions): Promise<OpenedStore> {
  const { url, limits, onError = () => {}, observe } = options
  const models = [...options.models.values()]
  let uniques: UniqueColumns = new Map()
  const explain = (error: unknown) => postgresError(error, uniques)
  const isPooled = await poolsTransactions(url, await connector(url, explain))
  const connect = await connector(url, explain, isPooled)
  const openOwn = isPooled ? undefined : () => connect({ statementTimeoutMs: limits.statementTimeoutMs })
  const makeBroker = options.broker === undefined ? undefined : await brokerMaker(options.broker)
  const { selfWritten = new Set() } = options
  const lock = selfWritten.size > 0 && openOwn ? await WriterLock.take({ open: openOwn, onError }) : undefined
  const {
    installed,
    version,
    database,
    warnings: preparedWarnings,
  } = await prepare(connect, models, options.migrate).catch(async (error) => {
    await lock?.close()
    throw error
  })
  const { tables } = installed
  uniques = new Map([...tables.values()].flatMap((table) => [...table.uniqueNames]))

  const columns = columnsOf(models, tables)
  noteColumns(models, tables)
  const dialect = postgresDialect(typesOf(columns))
  const notifier = new ChangeNotifier()
  /** The number of commits of this process. */
  let writes = 0
  const driver = new PostgresDriver({
    ...(options.observe && { onScan: reportScans(options.observe, () => false) }),
    connect,
    connectToWrite: lock?.forWriting(connect),
    isPooled,
    limits: { ...limits, maxServerScans: scansAtOnce(url, limits.maxServerScans) },
    committed: () => {
      writes++
      listener.committed()
    },
    resyncSequence: async ({ table, columns: [column, ...rest] }) => {
      const model = models.find((model) => model.table === table && model.primaryKey.column === column)
      return model !== undefined && rest.length === 0 && resync(model)
    },
  })
  const resync = sequenceResync(driver, columns)
  const self = randomBytes(8).toString('hex')
  const broker = makeBroker?.({ secret: installed.secret, self, wake: () => notifier.call(), onError })
  const listener = new Listener({
    notifier,
    open: openOwn,
    notify: (channel, self) => {
      broker?.publish()
      return driver.query('select pg_notify($1, $2)', [channel, self])
    },
    self,
    onError,
    pollMs: options.pollMs,
  })
  driver.onClosing(() => listener.close())
  if (broker) driver.onClosing(() => broker.close())
  if (lock) driver.onClosing(() => lock.close())

  const changes = logOf(installed, options, (log) => {
    const query = (text: string) => driver.query(text, [])
    const captured = models.flatMap(({ table }) => tables.get(table) ?? []).filter(({ isTable }) => isTable)
    const captures = new LogCaptures({ query, tables: log, models: byTable(models, tables), dialect })
    return {
      driver,
      tables: log,
      captures,
      onChange: (wakened) => listener.onChange(wakened),
      size: sizeAfterWrites(driver.query, log.log, () => writes),
      uncaptured: () => uncapturedTables(driver.query, captured),
    }
  })
  const timed = options.maxStaleMs === undefined ? undefined : new TimedVersions(options.maxStaleMs)
  const own = lock && new SelfVersions(selfWritten, lock, timed)
  if (own) lock.watch({ tables: selfWritten, log: installed.log, writes: () => own.writes, count: own.count })
  timed?.countReads(changes)
  own?.countReads(changes)
  const observed = observeStatements(driver, observe)
  const answers = installed.log ? `${quoteName(installed.log.schema)}.${answerTable}` : answerTable
  const counted = timed?.countWrites(observed) ?? observed
  const store = new SqlStore({
    driver: own?.countWrites(counted) ?? counted,
    versions: own ?? timed,
    onError,
    onRefusal: reportRefusals(observe, onError),
    dialect,
    changes,
    answers: new SqlStoredAnswers({
      driver,
      dialect,
      table: answers,
      mayCreate: options.migrate !== 'safe',
      stored: new PostgresAnswerTable(driver, answers),
    }),
    overlaps: true,
    hasConcurrentWriters: true,
    description: `PostgreSQL ${version} (${database} at ${hostOf(url) || 'localhost'})`,
    secret: installed.secret ?? randomBytes(32).toString('hex'),
    isSecretShared: installed.secret !== undefined,
    limits,
    hasJsonCheck: (attribute) => columns.get(attribute)?.holdsJson ?? false,
    groupsLookups: ({ table, primaryKey }) => isFoundByKeys(primaryKey, tables.get(table), columns.get(primaryKey)),
    resyncSequence: resync,
  })
  const notes = installed.log === undefined ? memoryMetadataTable() : sqlMetadataTable(driver, dialect)
  const jobs = postgresJobStore({
    driver,
    schema: installed.log?.schema ?? 'public',
    mayCreate: installed.log !== undefined && options.migrate !== 'safe',
    open: openOwn,
    leaseMs: limits.jobLeaseMs,
    renewed: changes.renewed?.bind(changes),
    now: options.now ?? Date.now,
  })
  const warnings = [
    ...(isPooled ? [pooledWarning(options)] : []),
    ...(isPooled && selfWritten.size > 0 ? [unlockedWarning] : []),
    ...(lock && !installed.log ? [unloggedWarning] : []),
    ...schemaWarnings(models, tables, postgresColumns),
    ...preparedWarnings,
  ]
  return { store, steps: installed.steps, unenforced: unenforced(models, tables), warnings, notes, jobs }
}

/** Before the database is altered: the library of the broker may be missing. */
async function brokerMaker(url: string) {
  const { Broker, loadBroker } = await import('./change-log/broker/broker.ts')
  const connect = await loadBroker(url)
  return ({ secret, ...parts }: Omit<BrokerParts, 'url' | 'secret'> & { secret: string | undefined }) =>
    secret === undefined ? undefined : new Broker({ ...parts, secret, url }, connect)
}

const pooledWarning = ({ broker, pollMs = defaultPollMs }: PostgresOptions): string =>
  `PostgreSQL is behind a pooler of transactions: every statement is planned each time, and notifications do not arrive. Changes of other processes are ${
    broker === undefined
      ? `found by a poll every ${pollMs / 1000} s; with a "broker" they are found at once`
      : 'found at once by the broker'
  }`

const unlockedWarning = `writers: 'self' keeps no answers behind a pooler of transactions: no connection can hold the lock of the only writer`

const unloggedWarning = `writers: 'self' without a change log: if another program writes all the same, that is not noticed`

type LogParts = Omit<ConstructorParameters<typeof PostgresChangeLog>[0], 'limitation'>

function logOf(
  { log, unlogged = '', uncaptured }: Installed,
  options: PostgresOptions,
  parts: (log: NonNullable<Installed['log']>) => LogParts,
): SqlChangeLog {
  if (log === undefined) return (options.fallbackLog ?? disabledChangeLog)(unlogged)
  const limitation =
    uncaptured.length === 0
      ? undefined
      : `Changes of ${uncaptured.join(', ')} are not captured: only tables can have triggers`
  return new PostgresChangeLog({ ...parts(log), limitation })
}

/** A view may be read whole for several keys, and a text or a decimal number may be equal to one in another spelling. */
const isFoundByKeys = (
  { type }: Attribute,
  table: PostgresTable | undefined,
  column: PostgresColumn | undefined,
): boolean =>
  table?.isTable === true &&
  table.key.length === 1 &&
  table.key[0] === column?.name &&
  type.storedAs === 'integer' &&
  column !== undefined &&
  isWhole(column.kind)

const byTable = (models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): ReadonlyMap<string, Model> =>
  new Map(models.map((model) => [tableKey(tables.get(model.table)?.schema ?? '', model.table), model]))

/** For log output, without user and password. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : '')

/** References of the models without a foreign key in the database. */
const unenforced = (models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): readonly Attribute[] =>
  models.flatMap((model) =>
    [...model.attributes.values()].filter(
      ({ column, references }) =>
        references &&
        !tables
          .get(model.table)
          ?.foreignKeys.some(
            ({ columns, table, isNotEnforced }) =>
              columns.length === 1 && columns[0] === column && table === references.table && !isNotEnforced,
          ),
    ),
  )

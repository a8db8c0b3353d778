import { allAttributes } from '../../../criteria/criteria.ts'
import { ConfigError } from '../../../model/config-error.ts'
import type { Model } from '../../../model/model.ts'
import { capturedColumns, captureTable, logTable, metaTable } from '../../capture.ts'
import { checkSchema, refuseUnconfiguredMigration } from '../../check-schema.ts'
import { refusedStep } from '../../refused-step.ts'
import type { MigrateMode } from '../../schema.ts'
import type { SchemaStep } from '../../schema-step.ts'
import { type PlannedStep, planSchema } from '../../sql-schema.ts'
import { unlogged } from '../../unlogged.ts'
import {
  captureStatements,
  functionName,
  type TableCapture,
  triggerNames,
  versionOf,
} from '../change-log/capture-triggers.ts'
import { captureColumns, captureOfRow, tableKey } from '../change-log/log-captures.ts'
import {
  beginAnew,
  horizonTable,
  identityOf,
  type LogTables,
  logTablesIn,
  prepareLog,
  readMeta,
} from '../change-log/log-tables.ts'
import type { Connection } from '../client/connection.ts'
import { arrayOf } from '../client/text-form.ts'
import { begin, commit, rollback } from '../client/transact.ts'
import { postgresDialect } from '../dialect.ts'
import { postgresColumns } from './column-check.ts'
import { inspect, type PostgresTable } from './inspect.ts'
import { type Run, refuseHidden, refuseNames } from './refuse-names.ts'

/** The state of the database when serving begins. */
export interface Installed {
  readonly tables: ReadonlyMap<string, PostgresTable>
  /** Undefined: there is no log, or it does not capture every change of every model. */
  readonly log: LogTables | undefined
  /** Why there is none that captures every change. */
  readonly unlogged?: string | undefined
  readonly secret: string | undefined
  readonly steps: readonly SchemaStep[]
  /** Tables of models whose changes cannot be captured. */
  readonly uncaptured: readonly string[]
}

const runOn =
  (connection: Connection): Run =>
  (text, values = []) =>
    connection.run({ text, values, how: 'anew' })

const ownTables = [logTable, metaTable, captureTable, horizonTable]

/** Updates the schema for the models in one transaction, one process at a time. */
export async function setUp(
  connection: Connection,
  models: readonly Model[],
  migrate: Exclude<MigrateMode, 'safe'> | undefined,
): Promise<Installed> {
  const run = runOn(connection)
  const names = [...models.map(({ table }) => table), ...ownTables]
  const identity = await identityOf(run)
  try {
    await connection.run(begin)
    await run(`select pg_advisory_xact_lock(hashtext('keelson'))`)
    const existing = await inspect(run, names)
    if (migrate !== 'drop') await refuseNames(run, models, existing)
    if (migrate === undefined)
      refuseUnconfiguredMigration(models, existing, postgresColumns, await servedBefore(run, existing))
    const unserved = await unservedTables(run, models, existing)
    const plan = planSchema(models, existing, postgresDialect(), migrate ?? 'add', unserved)
    for (const planned of plan) await perform(run, planned)
    const steps = plan.map(({ step }) => step)

    const own = ownTables.flatMap((name) => existing.get(name) ?? [])
    const log = logTablesIn(own[0]?.schema ?? (await currentSchema(run)))
    steps.push(...(await prepareLog(run, log, own.length === ownTables.length, identity)))
    if (migrate === 'drop') await beginAnew(run, log)
    const tables = await inspect(run, names)
    checkSchema(models, tables, postgresColumns, migrate === 'drop' ? undefined : existing)
    refusePolicies(models, tables)
    steps.push(...(await installCaptures(run, models, tables, log)))
    const secret = (await readMeta(run, log)).get('secret')
    await connection.run(commit)
    return { tables, log, secret, steps, uncaptured: uncapturedOf(models, tables) }
  } catch (error) {
    await connection.run(rollback).catch(() => {}) // the first error is more specific
    throw error
  }
}

/** A table keeps its triggers when it is renamed, and its record when it is made again. */
async function servedBefore(
  run: Run,
  existing: ReadonlyMap<string, PostgresTable>,
): Promise<(table: PostgresTable) => boolean> {
  const schema = existing.get(captureTable)?.schema
  const recorded = schema === undefined ? undefined : await recordedCaptures(run, logTablesIn(schema))
  return ({ schema, name, triggers }) => triggers.size > 0 || recorded?.has(tableKey(schema, name)) === true
}

/** Tables that were captured for models, and belong to none now. They are only of interest where a table is created. */
async function unservedTables(
  run: Run,
  models: readonly Model[],
  existing: ReadonlyMap<string, PostgresTable>,
): Promise<readonly PostgresTable[]> {
  const schema = existing.get(captureTable)?.schema
  if (schema === undefined || models.every(({ table }) => existing.has(table))) return []
  const recorded = await recordedCaptures(run, logTablesIn(schema))
  const served = new Set(models.map(({ table }) => table))
  const names = [...recorded.values()].map(({ table }) => table).filter((name) => !served.has(name))
  const found = await inspect(run, names)
  return [...found.values()].filter(({ schema, name }) => recorded.has(tableKey(schema, name)))
}

/** Throws a ConfigError where the role may not read all rows, whereas the change log contains all. */
function refusePolicies(models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): void {
  const problems = models.flatMap(({ name, table }) =>
    tables.get(table)?.isPoliced
      ? `${name}: row-level security of the table "${table}" applies to the role of the service, which would send events of rows that it may not read. Use a role to which it does not apply, and access rules; or migrate: 'safe', without events`
      : [],
  )
  if (problems.length > 0) throw new ConfigError(problems)
}

async function perform(run: Run, { step, statement }: PlannedStep): Promise<void> {
  await run(statement).catch((error: unknown) => {
    throw refusedStep(step, error)
  })
}

/** Inspects the database without changing it. */
export async function inspectOnly(connection: Connection, models: readonly Model[]): Promise<Installed> {
  const run = runOn(connection)
  const tables = await inspect(run, [...models.map(({ table }) => table), ...ownTables])
  await refuseNames(run, models, tables)
  await refuseHidden(run, models, tables)
  checkSchema(models, tables, postgresColumns)
  const schema = tables.get(logTable)?.schema
  const nothing = { tables, log: undefined, secret: undefined, steps: [], uncaptured: uncapturedOf(models, tables) }
  if (schema === undefined || !ownTables.every((name) => tables.has(name)))
    return { ...nothing, unlogged: unlogged.none }
  const log = logTablesIn(schema)
  const meta = await readMeta(run, log)
  const found = { ...nothing, secret: meta.get('secret') }
  if (meta.get('identity') !== (await identityOf(run))) return { ...found, unlogged: unlogged.copied }
  const policed = models.filter(({ table }) => tables.get(table)?.isPoliced)
  if (policed.length > 0) return { ...found, unlogged: unlogged.policed(policed.map(({ table }) => table)) }
  const recorded = await recordedCaptures(run, log)
  const lacking = models.filter((model) => {
    const table = tables.get(model.table)
    if (!table?.isTable) return false
    const capture = recorded.get(tableKey(table.schema, table.name))
    if (!capture || !triggerNames(capture.version).every((name) => table.triggers.get(name))) return true
    return !allAttributes(model).every(({ column }) => capture.columns.includes(column))
  })
  return lacking.length === 0
    ? { ...found, log }
    : { ...found, unlogged: unlogged.lacks(lacking.map(({ table }) => table)) }
}

async function currentSchema(run: Run): Promise<string> {
  const [row] = await run('select current_schema()')
  if (typeof row?.[0] !== 'string')
    throw new ConfigError(['database: its search path names no schema to make tables in'])
  return row[0]
}

/** The latest capture of each table. */
async function recordedCaptures(run: Run, log: LogTables): Promise<ReadonlyMap<string, TableCapture>> {
  const rows = await run(`select ${captureColumns} from ${log.capture} order by id`)
  return new Map(rows.map(captureOfRow).map((capture) => [tableKey(capture.schema, capture.table), capture]))
}

async function installCaptures(
  run: Run,
  models: readonly Model[],
  tables: ReadonlyMap<string, PostgresTable>,
  log: LogTables,
): Promise<readonly SchemaStep[]> {
  const steps: SchemaStep[] = []
  const recorded = await recordedCaptures(run, log)
  for (const model of models) {
    const table = tables.get(model.table)
    if (!table?.isTable) continue
    const previous = recorded.get(tableKey(table.schema, table.name))
    const columns = capturedColumns(model, previous?.columns ?? [], new Set(table.columns.keys()))
    const version = versionOf(table, columns)
    const isThere =
      previous?.version === version && triggerNames(version).every((trigger) => table.triggers.get(trigger))
    if (isThere) continue
    const [row] = await run(
      `insert into ${log.capture} (schema, "table", columns, version) values ($1, $2, $3::text[], $4) returning id`,
      [table.schema, table.name, arrayOf(columns), version],
    )
    const capture = { id: Number(row?.[0]), schema: table.schema, table: table.name, columns, version }
    for (const statement of captureStatements(capture, table, log.schema)) await run(statement)
    if (previous) await run(`drop function if exists ${functionName(previous.id, log.schema)}`)
    steps.push({ kind: 'captureChanges', table: table.name })
  }
  return steps
}

const uncapturedOf = (models: readonly Model[], tables: ReadonlyMap<string, PostgresTable>): readonly string[] =>
  models.map(({ table }) => table).filter((name) => tables.get(name)?.isTable === false)

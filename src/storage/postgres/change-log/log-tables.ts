import { randomBytes } from 'node:crypto'
import { captureTable, logTable, metaTable } from '../../capture.ts'
import { DatabaseError, type Driver, type Row } from '../../driver.ts'
import type { SchemaStep } from '../../schema-step.ts'
import { quoteName } from '../client/text-form.ts'

type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export const horizonTable = 'keelson_horizon'

/** The names of the log tables with their schema: the search path may differ between connections. */
export interface LogTables {
  readonly schema: string
  readonly log: string
  readonly meta: string
  readonly capture: string
  readonly horizon: string
}

export function logTablesIn(schema: string): LogTables {
  const name = (table: string): string => `${quoteName(schema)}.${quoteName(table)}`
  return {
    schema,
    log: name(logTable),
    meta: name(metaTable),
    capture: name(captureTable),
    horizon: name(horizonTable),
  }
}

/**
 * The sequence of `seq` has no cache, so that a row written later has a larger number in every session. There is no
 * primary key: rows are found by transaction, and each index makes every write slower.
 */
const definitions = ({ log, meta, capture, horizon }: LogTables): readonly string[] => [
  `create table if not exists ${meta} (name text primary key, value text not null)`,
  `create table if not exists ${capture} (id integer generated always as identity primary key, schema text not null, "table" text not null, columns text[] not null, version text not null)`,
  `create table if not exists ${log} (
    seq bigint generated always as identity,
    tx xid8 not null default pg_current_xact_id(),
    capture integer not null,
    verb "char" not null,
    before text[],
    after text[],
    at timestamptz not null default clock_timestamp(),
    origin text default nullif(current_setting('keelson.origin', true), '')
  )`,
  `create index if not exists keelson_log_tx on ${log} (tx)`,
  `create table if not exists ${horizon} (at timestamptz not null, oldest xid8 not null)`,
]

/** When the tables of a log were dropped, its functions remain, with triggers that make every write to their tables fail. */
async function dropFunctions(run: Run, { schema }: LogTables): Promise<void> {
  const found = await run(
    `select oid::regprocedure from pg_proc where proname like 'keelson\\_capture\\_%' and pronamespace = $1::regnamespace
     and prorettype = 'trigger'::regtype`,
    [quoteName(schema)],
  )
  for (const [name] of found) await run(`drop function ${name as string} cascade`)
}

/** The smallest transaction number. */
export const firstFloor = '3'

/** Creates the tables, or verifies that they belong to this database. Returns the steps. `isThere`: all of them exist. */
export async function prepareLog(
  run: Run,
  tables: LogTables,
  isThere: boolean,
  identity: string,
): Promise<readonly SchemaStep[]> {
  const steps: SchemaStep[] = []
  if (!isThere) {
    await dropFunctions(run, tables)
    for (const statement of definitions(tables)) await run(statement)
    steps.push({ kind: 'createLog', schema: tables.schema })
  }
  const meta = await readMeta(run, tables)
  await setMissing(run, tables, meta, 'secret', () => randomBytes(32).toString('hex'))
  if (!isThere || meta.get('identity') !== identity) {
    // A database restored from a dump has new transaction numbers: the log belongs to the original.
    if (isThere && meta.has('identity')) steps.push({ kind: 'restartLog' })
    await beginAnew(run, tables)
    await setMeta(run, tables, 'identity', identity)
  }
  return steps
}

/**
 * A service that runs on may be led to a database that was restored from a dump of another server, whose transaction
 * numbers its log contains: the log begins anew, as at a start, and the result is true. An empty identity is not known.
 */
export async function restartIfCopied(driver: Driver, tables: LogTables): Promise<boolean> {
  const run: Run = async (text, values = []) => driver.query(text, values)
  const identity = await identityOf(run)
  const recorded = (await readMeta(run, tables)).get('identity')
  if (!identity || !recorded || recorded === identity) return false
  await driver.transaction(async (query) => {
    await query(`select pg_advisory_xact_lock(hashtext('keelson'))`, [])
    await prepareLog(async (text, values = []) => query(text, values), tables, true, identity)
  }, undefined)
  return true
}

/** Deletes all changes and invalidates all positions. */
export async function beginAnew(run: Run, tables: LogTables): Promise<void> {
  await run(`delete from ${tables.log}`)
  await run(`delete from ${tables.horizon}`)
  await setMeta(run, tables, 'floor', firstFloor)
  await setMeta(run, tables, 'nonce', randomBytes(6).toString('hex'))
}

export const readMeta = async (run: Run, { meta }: LogTables): Promise<ReadonlyMap<string, string>> =>
  new Map((await run(`select name, value from ${meta}`)).map(([name, value]) => [name as string, value as string]))

async function setMissing(
  run: Run,
  tables: LogTables,
  meta: ReadonlyMap<string, string>,
  name: string,
  make: () => string,
): Promise<void> {
  if (!meta.has(name)) await setMeta(run, tables, name, make())
}

export const setMeta = async (run: Run, { meta }: LogTables, name: string, value: string): Promise<void> => {
  await run(`insert into ${meta} values ($1, $2) on conflict (name) do update set value = excluded.value`, [
    name,
    value,
  ])
}

/** Identifies the cluster and the database. Empty where the server does not allow the query. */
export async function identityOf(run: Run): Promise<string> {
  const rows = await quietly(
    run(`
    select c.system_identifier, d.oid from pg_control_system() c, pg_database d where d.datname = current_database()`),
  )
  return rows.map((row) => row.join('.')).join()
}

/**
 * Identifies the history of the server. Point-in-time recovery begins a new timeline. After a crash, numbers of aborted
 * transactions may be used again, which an earlier snapshot takes for finished: the reset time of the statistics, which
 * changes after a crash and not after a stop, detects it.
 */
export async function historyOf(run: Run): Promise<string> {
  const [timeline] = await quietly(
    run('select left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) where not pg_is_in_recovery()'),
  )
  const [recovered] = await quietly(run('select stats_reset from pg_stat_bgwriter'))
  return `${timeline?.[0] ?? ''} ${recovered?.[0] ?? ''}`
}

/** Hosted servers may not allow these functions. */
const quietly = (rows: Promise<readonly Row[]>): Promise<readonly Row[]> =>
  rows.catch((error) => {
    if (error instanceof DatabaseError && ['refused', 'missing', 'unknown'].includes(error.reason.kind)) return []
    throw error
  })

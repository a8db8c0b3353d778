import { setTimeout as delay } from 'node:timers/promises'
import { ConfigError } from '../../../model/config-error.ts'
import type { Model } from '../../../model/model.ts'
import { DatabaseError } from '../../driver.ts'
import { keyWarnings } from '../../key-warnings.ts'
import { requiredWarnings } from '../../required-warnings.ts'
import type { MigrateMode } from '../../schema.ts'
import type { Connect } from '../client/connect.ts'
import { quoteName } from '../client/text-form.ts'
import { postgresDialect } from '../dialect.ts'
import { isOverdue } from '../errors.ts'
import { type Installed, inspectOnly, setUp } from './set-up.ts'
import { statisticsWarnings } from './statistics-warnings.ts'

export interface Prepared {
  readonly installed: Installed
  readonly version: string
  readonly database: string
  /** Of tables that the role may not read, of rows without a key, and of tables without statistics. */
  readonly warnings: readonly string[]
}

/** The first version with 64-bit transaction numbers in snapshots. */
const oldestVersion = 130_000
/** The longest wait for the locks of a start. */
const setUpLockMs = 30_000
/** The longest part of it without a pause: every later statement on the table waits behind one that waits for a lock. */
const oneLockMs = 500
const lockPauseMs = 500

/** Updates the schema as far as `migrate` allows. */
export async function prepare(
  connect: Connect,
  models: readonly Model[],
  migrate: MigrateMode | undefined,
): Promise<Prepared> {
  const connection = await connect({ statementTimeoutMs: 0, lockTimeoutMs: oneLockMs })
  try {
    const text = `select current_setting('server_version_num'), split_part(current_setting('server_version'), ' ', 1), current_database(), current_user, current_setting('server_encoding')`
    const [[number, version, database, role, encoding] = []] = await connection.run({ text, values: [], how: 'anew' })
    if (Number(number) < oldestVersion)
      throw new ConfigError([`database: PostgreSQL ${version} is too old; 13 or newer is required`])
    const installed = await whileLocked(() =>
      migrate === 'safe' ? inspectOnly(connection, models) : setUp(connection, models, migrate),
    )
    const query = (text: string, values: readonly unknown[]) =>
      connection.run({ text, values, how: 'anew' }).catch(noneIfUnreadable)
    const warnings = [
      ...(encoding === 'SQL_ASCII' ? [withoutEncoding] : []),
      ...unreadable(models, installed, role as string),
      ...(await keyWarnings(models, installed.tables, postgresDialect(), query)),
      ...(await requiredWarnings(models, installed.tables, postgresDialect(), query)),
      ...(await statisticsWarnings(models, query)),
    ]
    return { installed, version: version as string, database: database as string, warnings }
  } catch (error) {
    throw refusedStart(error, migrate)
  } finally {
    await connection.close()
  }
}

const withoutEncoding =
  'The database has the encoding SQL_ASCII, which accepts any bytes: requests that read a text that is no UTF-8 get 503, and a change of one ends all events'

const unreadable = (models: readonly Model[], { tables }: Installed, role: string): readonly string[] =>
  models
    .filter(({ table }) => tables.get(table)?.isReadable === false)
    .map(
      ({ name, table }) =>
        `${name}: the role "${role}" may not read the table "${table}": every request for its records gets 503. The owner of the table grants the right: grant select on ${quoteName(table)} to ${quoteName(role)}`,
    )

/** A column or a view of the server may be one that the role may not read; and no start waits for a locked table to warn of its rows. */
function noneIfUnreadable(error: unknown): [] {
  if (isOverdue(error) || (error instanceof DatabaseError && error.reason.kind === 'refused')) return []
  throw error
}

async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + setUpLockMs; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isOverdue(error)) throw error
      if (Date.now() >= until)
        throw new DatabaseError(
          { kind: 'busy' },
          `Other sessions have locked tables of the models for ${setUpLockMs} ms, such as one that wrote to them and is idle in its transaction: see pg_stat_activity`,
        )
      await delay(lockPauseMs)
    }
  }
}

/** What the role may not do, with the remedy. */
function refusedStart(error: unknown, migrate: MigrateMode | undefined): unknown {
  if (!(error instanceof DatabaseError) || error.reason.kind !== 'refused') return error
  const isReadOnly = (error.cause as { readonly code?: unknown }).code === '25006'
  const remedy =
    migrate === 'safe'
      ? 'The role needs the rights to read and write the tables whose names begin with keelson_, which another role has created'
      : isReadOnly
        ? `The database can only be read: migrate: 'safe' changes nothing in it`
        : `The role must own the tables of the models, or have the right TRIGGER on them where nothing is missing, and may create tables in a schema of its search path, for the change log. Or migrate: 'safe' changes nothing in the database`
  return new ConfigError([`database: ${error.message}. ${remedy}`])
}

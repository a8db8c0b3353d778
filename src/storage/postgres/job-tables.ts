import { raw, sql } from '../../sql/sql.ts'
import type { Driver } from '../driver.ts'
import { type JobStore, jobEventIndex, jobEventTable, jobTable } from '../job-store.ts'
import { SqlJobStore, type SqlJobStoreParts } from '../sql-job-store.ts'
import type { Connection } from './client/connection.ts'
import { arrayOf, quoteName } from './client/text-form.ts'
import { postgresDialect } from './dialect.ts'
import { AdvisoryLocks, isLocked } from './job-locks.ts'

const definitions = (schema: string): readonly string[] => [
  // Two processes that create a table at once would both see that it is missing.
  `select pg_advisory_xact_lock(hashtext('keelson'))`,
  `create table if not exists ${schema}${jobTable} (
    name text primary key,
    position text not null,
    due_at bigint not null default 0,
    owner text,
    fence bigint not null default 0,
    lease_until bigint,
    revision bigint not null default 0,
    lost_at bigint
  )`,
  `create table if not exists ${schema}${jobEventTable} (
    id bigint generated always as identity primary key,
    job text not null,
    event_id text not null,
    record text not null,
    attempt integer not null,
    due_at bigint not null,
    event text not null,
    error text,
    dead smallint not null default 0,
    at bigint not null,
    unique (job, event_id)
  )`,
  `create index if not exists ${jobEventIndex} on ${schema}${jobEventTable} (job, dead, id)`,
]

/** The time of the server, because the clocks of the processes may differ. */
const leaseTime = raw('(extract(epoch from clock_timestamp()) * 1000)::bigint')

interface Parts {
  readonly driver: Driver
  /** The schema of the change log. */
  readonly schema: string
  /** Whether tables may be created. */
  readonly mayCreate: boolean
  /** Opens a connection that is not shared: the locks end with it. Undefined: none keeps locks, so there are leases. */
  readonly open: (() => Promise<Connection>) | undefined
  readonly leaseMs: number
  readonly renewed: SqlJobStoreParts['renewed']
  readonly now: () => number
}

export function postgresJobStore({ driver, schema, mayCreate, open, leaseMs, renewed, now }: Parts): JobStore {
  const prefix = `${quoteName(schema)}.`
  return new SqlJobStore({
    driver,
    renewed,
    dialect: postgresDialect(),
    schema: prefix,
    definitions: mayCreate ? definitions(prefix) : undefined,
    listOf: (ids) => sql`select unnest(${arrayOf(ids.map(String))}::bigint[])`,
    async has(name) {
      const [row] = await driver.query('select to_regclass($1)', [`${prefix}${name}`])
      return row?.[0] !== null
    },
    ...(open
      ? { locks: new AdvisoryLocks(open, schema) }
      : { isLocked: (query, name) => isLocked(query, schema, name) }),
    leaseMs,
    leaseTime,
    now,
  })
}

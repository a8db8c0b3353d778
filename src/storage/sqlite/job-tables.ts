import { sql } from '../../sql/sql.ts'
import type { Driver } from '../driver.ts'
import { type JobStore, jobEventIndex, jobEventTable, jobTable } from '../job-store.ts'
import { SqlJobStore } from '../sql-job-store.ts'
import { sqliteDialect } from './dialect.ts'

const definitions = [
  `create table if not exists ${jobTable} (
    name text primary key,
    position text not null,
    due_at integer not null default 0,
    owner text,
    fence integer not null default 0,
    lease_until integer,
    revision integer not null default 0,
    lost_at integer
  ) without rowid`,
  `create table if not exists ${jobEventTable} (
    id integer primary key autoincrement,
    job text not null,
    event_id text not null,
    record text not null,
    attempt integer not null,
    due_at integer not null,
    event text not null,
    error text,
    dead integer not null default 0,
    at integer not null,
    unique (job, event_id)
  )`,
  `create index if not exists ${jobEventIndex} on ${jobEventTable} (job, dead, id)`,
]

interface Parts {
  readonly driver: Driver
  /** Whether tables may be created. */
  readonly mayCreate: boolean
  readonly leaseMs: number
  readonly now: () => number
}

/** SQLite has no locks that end with a process, so that a holder has a lease. */
export const sqliteJobStore = ({ driver, mayCreate, leaseMs, now }: Parts): JobStore =>
  new SqlJobStore({
    driver,
    dialect: sqliteDialect,
    definitions: mayCreate ? definitions : undefined,
    listOf: (ids) => sql`select value from json_each(${JSON.stringify(ids)})`,
    async has(name) {
      const rows = await driver.query('select 1 from sqlite_schema where name = ?', [name])
      return rows.length > 0
    },
    leaseMs,
    now,
  })

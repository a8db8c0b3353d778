import { ConfigError } from '../model/config-error.ts'
import type { Models } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Limits } from '../support/limits.ts'
import type { Observe } from '../support/observation.ts'
import type { DatabaseDescription } from './database-description.ts'
import type { OpenedStore } from './opened-store.ts'
import type { MigrateMode } from './schema.ts'

export interface StoreOptions {
  readonly url: string
  readonly models: Models
  /** Undefined: as `add`, but no column is added to a table that another program has made. */
  readonly migrate: MigrateMode | undefined
  readonly limits: Limits
  readonly onError: (error: unknown) => void
  /** Receives statements and scans, when it is given. */
  readonly observe?: Observe | undefined
  /** The URL of a broker for messages between processes; only PostgreSQL uses it. */
  readonly broker?: string | undefined
  /** For so long, answers may miss what other programs have changed, where the database does not tell. */
  readonly maxStaleMs?: number | undefined
  /** The tables that only this process writes, as the configuration says; only PostgreSQL needs it. */
  readonly selfWritten?: ReadonlySet<string> | undefined
  /** The time, for the progress of jobs. */
  readonly now?: (() => number) | undefined
}

/** Databases by URL scheme. Each module is loaded on first use. */
const stores: Readonly<Record<string, (options: StoreOptions) => Promise<OpenedStore>>> = {
  sqlite: async ({ url, ...rest }) => (await import('./sqlite/open.ts')).openSqlite({ path: pathIn(url), ...rest }),
  postgres: async (options) => (await import('./postgres/open.ts')).openPostgres(options),
  memory: async (options) => (await import('./memory/open.ts')).openMemory(options),
}
const aliases: Readonly<Record<string, string>> = { postgresql: 'postgres', file: 'sqlite' }

export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  return storeFor(options.url)(options)
}

/** The function that opens the database of a URL. Throws a ConfigError if there is none. */
export function storeFor(url: string): (options: StoreOptions) => Promise<OpenedStore> {
  const scheme = schemeOf(url)
  const open = stores[aliases[scheme] ?? scheme]
  if (open) return open
  const known = Object.keys(stores)
    .map((name) => `${name}:`)
    .join(', ')
  throw new ConfigError([`database: "${scheme}:" is not a supported database (${known})`])
}

/** Reads the tables of an existing database without changing it. */
export async function describeDatabase(url: string): Promise<DatabaseDescription> {
  const scheme = schemeOf(url)
  switch (aliases[scheme] ?? scheme) {
    case 'sqlite':
      return (await import('./sqlite/schema/describe.ts')).describeSqlite(pathIn(url))
    case 'postgres':
      return (await import('./postgres/schema/describe.ts')).describePostgres(url)
    default:
      throw new ConfigError([`database: the tables of "${scheme}:" cannot be read (sqlite:, postgres:)`])
  }
}

/** How a database spells SQL, by what its URL says alone; undefined for one without SQL. */
export async function dialectOf(url: string): Promise<Dialect | undefined> {
  const scheme = schemeOf(url)
  switch (aliases[scheme] ?? scheme) {
    case 'sqlite':
      return (await import('./sqlite/dialect.ts')).sqliteDialect
    case 'postgres':
      return (await import('./postgres/dialect.ts')).postgresDialect()
    default:
      return undefined
  }
}

function schemeOf(url: string): string {
  const scheme = /^([a-z]+):/.exec(url)?.[1]
  if (scheme !== undefined) return scheme
  const bare = url.replace(/^["'\s]+|["'\s]+$/g, '')
  if (bare !== url)
    throw new ConfigError([`database: the URL begins with a quote or a space; write ${withoutUser(bare)}`])
  if (url.includes('://')) throw new ConfigError([`database: "${withoutUser(url)}" is not a supported database`])
  throw new ConfigError([`database: "${url}" has no scheme; a file is "sqlite:${url}"`])
}

/** Up to the last `@`, because a password may contain others. */
const withoutUser = (url: string): string => url.replace(/:\/\/.*@/s, '://…@')

function pathIn(url: string): string {
  const path = url.replace(/^[a-z]+:(\/\/)?/, '')
  const [name, parameters] = path.split('?')
  // Parameters of other programs' URLs must not become part of the file name.
  if (parameters !== undefined)
    throw new ConfigError([`database: "?${parameters}" is not supported; write "sqlite:${name}"`])
  if (path === '')
    throw new ConfigError([`database: "${url}" names no file; write "sqlite:data/app.db" or "sqlite::memory:"`])
  return path
}

import { ConfigError } from '../model/config-error.ts'
import type { Models } from '../model/model.ts'
import type { Limits } from '../support/limits.ts'
import type { OpenedStore } from './opened-store.ts'
import type { MigrateMode } from './schema.ts'

export interface StoreOptions {
  readonly url: string
  readonly models: Models
  readonly migrate: MigrateMode
  readonly limits: Limits
  readonly report: (error: unknown) => void
}

/** The databases we know, by the scheme of their address. Each is loaded when it is wanted. */
const stores: Readonly<Record<string, (options: StoreOptions) => Promise<OpenedStore>>> = {
  sqlite: async ({ url, ...rest }) => (await import('./sqlite/open.ts')).openSqlite({ path: pathIn(url), ...rest }),
  postgres: async (options) => (await import('./postgres/open.ts')).openPostgres(options),
  memory: async (options) => (await import('./memory/open.ts')).openMemory(options),
}
const aliases: Readonly<Record<string, string>> = { postgresql: 'postgres', file: 'sqlite' }

export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const scheme = /^([a-z]+):/.exec(options.url)?.[1]
  if (scheme === undefined) {
    throw new ConfigError([`database: "${options.url}" has no scheme; a file is "sqlite:${options.url}"`])
  }
  const open = stores[aliases[scheme] ?? scheme]
  if (!open) {
    const known = Object.keys(stores)
      .map((name) => `${name}:`)
      .join(', ')
    throw new ConfigError([`database: "${scheme}:" is no database that is known here (${known})`])
  }
  return open(options)
}

function pathIn(url: string): string {
  const path = url.replace(/^[a-z]+:(\/\/)?/, '')
  const [name, parameters] = path.split('?')
  // What other programs say behind the name of a file must not become a part of it.
  if (url.startsWith('file:') && parameters !== undefined)
    throw new ConfigError([`database: "?${parameters}" is not understood; write "sqlite:${name}"`])
  return path
}

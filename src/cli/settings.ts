import { basename, dirname, resolve } from 'node:path'
import type { AnyConfig } from '../service/config.ts'
import { UsageError } from './command.ts'
import { findConfig, loadConfig } from './load-config.ts'
import type { Given } from './option.ts'
import type { Program } from './program.ts'

/** What a command works with: the configuration, under what the environment says, under the command line. */
export interface Settings {
  readonly file: string
  /** For people: the folder the configuration stands in. */
  readonly name: string
  readonly config: AnyConfig
}

/** Throws a LoadError, or a UsageError for a setting from outside that makes no sense. */
export async function readSettings(given: Given, { env, cwd }: Program, files?: Set<string>): Promise<Settings> {
  const file = findConfig(given.config, cwd)
  // Before the configuration is run: it may take long, and the mistake is the caller's.
  const port = portOf(given.port, env.PORT)
  const config = await loadConfig(file, files)
  const folder = dirname(file)
  if (typeof config !== 'object' || config === null) return { file, name: basename(folder), config }
  const database = given.database ?? nonEmpty(env.DATABASE_URL)
  return {
    file,
    name: basename(folder),
    config: {
      ...config,
      ...(port !== undefined && { port }),
      ...(given.host !== undefined && { host: given.host }),
      ...databaseOf(database, cwd, config.database, folder),
      ...(typeof config.public === 'string' && { public: resolve(folder, config.public) }),
    },
  }
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

function portOf(flag: string | undefined, variable: string | undefined): number | undefined {
  const [said, text] = flag !== undefined ? ['--port', flag] : ['PORT', nonEmpty(variable)]
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`${said} must be a port number from 0 to 65535, and is "${text}"`)
}

/** The default stands here too: it is relative to the configuration as well. */
const defaultDatabase = 'sqlite:data/app.db'

function databaseOf(
  said: string | undefined,
  cwd: string,
  configured: unknown,
  folder: string,
): Pick<AnyConfig, 'database'> {
  if (said !== undefined) return { database: absolute(said, cwd) }
  if (configured === undefined) return { database: absolute(defaultDatabase, folder) }
  return { database: typeof configured === 'string' ? absolute(configured, folder) : (configured as string) }
}

/** A file of SQLite by its whole path: which one it is must not depend on where the command is run. */
export function absolute(url: string, folder: string): string {
  const [, scheme, path] = /^(sqlite|file):(?:\/\/)?(.*)$/.exec(url) ?? []
  if (path === undefined || path === '' || path === ':memory:') return url
  return `${scheme}:${resolve(folder, path)}`
}

import { basename, dirname, resolve } from 'node:path'
import { assertIsObject } from '../service/config/check-config.ts'
import type { AnyConfig } from '../service/config/config.ts'
import { UsageError } from './command.ts'
import type { CommandContext } from './command-context.ts'
import { findConfig, loadConfig } from './load-config.ts'
import type { OptionValues } from './option.ts'
import { requestLog, warningLog } from './request-log.ts'

/** Set for the workers of `keelson dev`, which print warnings without `--log`. */
export const devVariable = 'KEELSON_DEV'

/** The port of the previous worker of `keelson dev`: a free one is chosen once, so that the address stays the same across restarts. */
export const freePortVariable = 'KEELSON_DEV_PORT'

/** The effective configuration: command line over environment variables over configuration file. */
export interface Settings {
  readonly file: string
  /** The name of the folder that contains the configuration, for display. */
  readonly name: string
  readonly config: AnyConfig
}

/** Throws a LoadError, or a UsageError for an invalid port. */
export async function readSettings(
  options: OptionValues,
  { env, cwd, output }: CommandContext,
  files?: Set<string>,
): Promise<Settings> {
  const file = findConfig(options.config, cwd)
  // Checked first, because importing the configuration may take long. It may set PORT, by `process.loadEnvFile()`.
  portOf(options.port, env.PORT)
  const config = await loadConfig(file, files)
  const port = portOf(options.port, env.PORT)
  const folder = dirname(file)
  assertIsObject(config)
  const database = options.database ?? nonEmpty(env.DATABASE_URL)
  return {
    file,
    name: basename(folder),
    config: {
      ...config,
      ...(port !== undefined && { port }),
      ...((port ?? config.port) === 0 && env[freePortVariable] && { port: Number(env[freePortVariable]) }),
      ...(options.host !== undefined && { host: options.host }),
      ...(options.log && { logger: requestLog(output, config) }),
      ...(!options.log && env[devVariable] && { logger: warningLog(output, config) }),
      ...databaseOf(database, cwd, config, folder),
      ...(typeof config.public === 'string' && { public: resolve(folder, config.public) }),
    },
  }
}

/**
 * The configuration for commands that need no database: without `database` if it is not set, as by an environment variable
 * that exists on servers only, and then without `broker`, whose check needs the kind of the database.
 */
export function withoutUnsetDatabase(config: AnyConfig): AnyConfig {
  const { database, broker: _, ...rest } = config
  return database === undefined || database === '' ? rest : config
}

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

function portOf(flag: string | undefined, variable: string | undefined): number | undefined {
  const [source, text] = flag !== undefined ? ['--port', flag] : ['PORT', nonEmpty(variable)]
  if (text === undefined) return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`${source} must be a port number from 0 to 65535, not "${text}"`)
}

/** The default of the configuration, repeated here because it is relative to the folder of the configuration. */
const defaultDatabase = 'sqlite:data/app.db'

function databaseOf(
  override: string | undefined,
  cwd: string,
  config: AnyConfig,
  folder: string,
): Pick<AnyConfig, 'database'> {
  if (override !== undefined) return { database: absoluteUrl(override, cwd) }
  if (!Object.hasOwn(config, 'database')) return { database: absoluteUrl(defaultDatabase, folder) }
  // A value of another type, and undefined, are refused by the check of the configuration.
  return typeof config.database === 'string' ? { database: absoluteUrl(config.database, folder) } : {}
}

/** Resolves the path of a SQLite URL against a folder. Other URLs are returned unchanged. */
export function absoluteUrl(url: string, folder: string): string {
  const [, scheme, path] = /^(sqlite|file):(?:\/\/)?(.*)$/.exec(url) ?? []
  if (path === undefined || path === '' || path === ':memory:') return url
  return `${scheme}:${resolve(folder, path)}`
}

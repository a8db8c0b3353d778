import { existsSync } from 'node:fs'
import type { AnyConfig } from '../service/config/config.ts'
import { CommandError } from './command.ts'
import { displayPath } from './import-error.ts'

/** Throws a CommandError for a SQLite file that does not exist: a command that only reads would create it by opening it. */
export function assertDatabaseExists({ database }: AnyConfig): void {
  const [, path] = /^(?:sqlite|file):(.+)$/.exec(database ?? '') ?? []
  if (path === undefined || path === ':memory:' || existsSync(path)) return
  throw new CommandError(`Database not found: ${displayPath(path)}. keelson start creates it.`)
}

import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { describeDatabase } from '../../storage/stores.ts'
import { CommandError, UsageError } from '../command.ts'
import { displayPath } from '../import-error.ts'
import { absoluteUrl } from '../settings.ts'
import { didYouMean } from '../suggest.ts'
import { databaseConfigText } from './database-config.ts'
import { type DatabasePlan, modelsOfTables } from './models-of-tables.ts'

export interface DatabaseProject {
  readonly plan: DatabasePlan
  readonly configText: string
}

/** Reads the tables of an existing database, without changing it. `tables`: the only ones to serve, separated by commas. */
export async function databaseProject(
  given: string,
  tables: string | undefined,
  cwd: string,
): Promise<DatabaseProject> {
  const url = absoluteUrl(given.replace(/^file:/, 'sqlite:'), cwd)
  if (/^memory:|:memory:$/.test(url)) throw new UsageError(`--database ${given} names no existing database`)
  assertFileExists(url)
  const description = await describeDatabase(url)
  const plan = modelsOfTables(
    description,
    tables === undefined ? undefined : chosen(tables, [...description.tables.keys()]),
  )
  return { plan, configText: databaseConfigText(writtenUrl(url, cwd), plan) }
}

function chosen(tables: string, known: readonly string[]): readonly string[] {
  return tables.split(',').map((text) => {
    const name = text.trim()
    if (known.includes(name)) return name
    const advice = didYouMean(name, known, (name) => name, `Tables: ${known.join(', ')}`)
    throw new UsageError(`--tables: the database has no table "${name}"`, advice)
  })
}

/** Opening a SQLite file that does not exist would create it. */
function assertFileExists(url: string): void {
  const [, path] = /^sqlite:(.*)$/.exec(url) ?? []
  if (path !== undefined && !existsSync(path)) throw new CommandError(`Database not found: ${displayPath(path)}`)
}

/** A file is relative to the configuration, and a password is not written. */
function writtenUrl(url: string, cwd: string): string {
  const [, path] = /^sqlite:(.*)$/.exec(url) ?? []
  if (path === undefined) throw new CommandError('Only SQLite files can be read')
  return `sqlite:${relative(cwd, resolve(cwd, path)).replaceAll('\\', '/')}`
}

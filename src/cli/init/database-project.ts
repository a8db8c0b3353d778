import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { ConfigError } from '../../model/config-error.ts'
import type { DatabaseDescription } from '../../storage/database-description.ts'
import { describeDatabase } from '../../storage/stores.ts'
import { CommandError, UsageError } from '../command.ts'
import { displayPath } from '../import-error.ts'
import { absoluteUrl } from '../settings.ts'
import { didYouMean } from '../suggest.ts'
import { databaseConfigText } from './database-config.ts'
import { type DatabasePlan, modelsOfTables } from './models-of-tables.ts'

export interface DatabaseProject {
  readonly plan: DatabasePlan
  readonly isPostgres: boolean
  /** The URL contains a password, and the configuration does not. */
  readonly needsPassword: boolean
  readonly configText: string
}

/** Reads the tables of an existing database without changing it: those that `tables` names, separated by commas, or all. */
export async function databaseProject(
  given: string,
  tables: string | undefined,
  cwd: string,
): Promise<DatabaseProject> {
  const url = absoluteUrl(given.replace(/^file:/, 'sqlite:'), cwd)
  if (/^memory:|:memory:$/.test(url)) throw new UsageError(`--database ${given} names no existing database`)
  assertFileExists(url)
  const description = await describeDatabase(url).catch((error: unknown) => {
    throw error instanceof ConfigError ? wrongUrl(error) : error
  })
  const plan = modelsOfTables(description, tables === undefined ? undefined : chosen(tables, description))
  const path = pathOf(url)
  const written = path === undefined ? withoutPassword(url) : `sqlite:${relative(cwd, path).replaceAll('\\', '/')}`
  return {
    plan,
    configText: databaseConfigText(written, plan),
    isPostgres: path === undefined,
    needsPassword: path === undefined && url !== written,
  }
}

/** There is no configuration yet: the problems are those of the option. */
const wrongUrl = ({ problems }: ConfigError): UsageError =>
  new UsageError(problems.map((problem) => problem.replace(/^database: /, '--database: ')).join('\n'))

/** The names also of what no model can describe, which is left out with its reason. */
function chosen(tables: string, { tables: described, leftOut }: DatabaseDescription): readonly string[] {
  const existing = [...described.keys()]
  return tables.split(',').map((text) => {
    const name = text.trim()
    if (described.has(name) || leftOut.has(name)) return name
    const schema = name.replace(/\..*/, '.*')
    if (leftOut.has(schema)) return schema
    const advice = didYouMean(name, existing, (name) => name, `Tables: ${existing.join(', ')}`)
    throw new UsageError(`--tables: the database has no table "${name}"`, advice)
  })
}

/** Opening a SQLite file that does not exist would create it. */
function assertFileExists(url: string): void {
  const path = pathOf(url)
  if (path !== undefined && !existsSync(path)) throw new CommandError(`Database not found: ${displayPath(path)}`)
}

/** The file of a SQLite URL whose path is absolute. */
const pathOf = (url: string): string | undefined => /^sqlite:(.*)$/.exec(url)?.[1]

/** Parameters that are neither a password nor the file of a key. */
const plainParameters = new Set(['host', 'port', 'sslmode', 'application_name', 'options'])

function withoutPassword(text: string): string {
  if (!URL.canParse(text)) throw new CommandError('--database is not a URL, such as postgres://user@host:5432/name')
  const url = new URL(text)
  if (url.password === '' && [...url.searchParams.keys()].every((name) => plainParameters.has(name))) return text
  url.password = ''
  for (const name of [...url.searchParams.keys()]) if (!plainParameters.has(name)) url.searchParams.delete(name)
  return url.href
}

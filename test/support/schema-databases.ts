import { DatabaseSync } from 'node:sqlite'
import { ConfigError } from '../../src/model/config-error.ts'
import { defineModels } from '../../src/model/define.ts'
import type { AttributeDefinitions, ModelDefinitions } from '../../src/model/definition.ts'
import type { OpenedStore } from '../../src/storage/opened-store.ts'
import type { MigrateMode } from '../../src/storage/schema.ts'
import { describeStep } from '../../src/storage/schema-step.ts'
import { openStore } from '../../src/storage/stores.ts'
import { defaultLimits } from '../../src/support/limits.ts'
import { freshDatabase, missingPostgres, postgresForTests, type TestPostgres } from './postgres.ts'
import { newFile } from './sqlite.ts'

/** An empty database whose schema tests change and read as another program. */
export interface SchemaDatabase extends AsyncDisposable {
  readonly url: string
  execute(statement: string): Promise<void>
  /** The definitions of the indexes of a table, without those of its primary key, sorted. */
  indexes(table: string): Promise<readonly string[]>
}

async function sqlite(): Promise<SchemaDatabase> {
  const path = newFile()
  const database = new DatabaseSync(path)
  return {
    url: `sqlite:${path}`,
    execute: async (statement) => database.exec(statement),
    async indexes(table) {
      const rows = database.prepare('select sql from sqlite_schema where type = ? and tbl_name = ? and sql is not null')
      return rows
        .all('index', table)
        .map(({ sql }) => String(sql))
        .sort()
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

let server: Promise<TestPostgres> | undefined

async function postgres(): Promise<SchemaDatabase> {
  server ??= postgresForTests()
  const database = await freshDatabase((await server).url)
  return {
    url: database.url,
    async execute(statement) {
      await database.query(statement)
    },
    async indexes(table) {
      const text = `select indexdef from pg_indexes where tablename = $1 and indexname not like '%pkey' order by 1`
      return (await database.query(text, [table])).map(([definition]) => definition as string)
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** The databases with a schema. */
export const schemaDatabases = [
  { name: 'sqlite', missing: undefined, open: sqlite },
  { name: 'postgres', missing: missingPostgres, open: postgres },
] as const

type Migrate = MigrateMode | 'not configured'

/** Opens a store as a service does; models have no timestamps. */
export const openWith = (url: string, definitions: ModelDefinitions, mode: Migrate = 'add'): Promise<OpenedStore> => {
  const migrate = mode === 'not configured' ? undefined : mode
  const models = defineModels(definitions, { createdAt: false, updatedAt: false })
  const onError = (error: unknown) => console.error(error)
  return openStore({ url, models, migrate, limits: defaultLimits, onError })
}

/** The changes made to the schema by one start, without those that every database makes for its log. */
export async function start(url: string, definitions: ModelDefinitions, migrate?: Migrate): Promise<readonly string[]> {
  const { store, steps } = await openWith(url, definitions, migrate)
  await store[Symbol.asyncDispose]()
  return steps.filter(({ kind }) => kind !== 'createLog' && kind !== 'captureChanges').map(describeStep)
}

/** The definitions of one model, `pet`. */
export const pets = (attributes: AttributeDefinitions): ModelDefinitions => ({ pet: { attributes } })

/** What a start finds wrong with the database's tables. */
export async function problemsOf(
  url: string,
  definitions: ModelDefinitions,
  migrate?: Migrate,
): Promise<readonly string[]> {
  const opened = await openWith(url, definitions, migrate).catch((error: unknown) => error)
  if (opened instanceof ConfigError) return opened.problems
  if (opened instanceof Error) throw opened
  await (opened as Awaited<ReturnType<typeof openWith>>).store[Symbol.asyncDispose]()
  return []
}

import { plainColumnType } from '../../../model/column-type.ts'
import type { AttributeDefinition } from '../../../model/definition.ts'
import { schemaProblems } from '../../check-schema.ts'
import { type DatabaseDescription, freeKeyName } from '../../database-description.ts'
import type { Row } from '../../driver.ts'
import type { ExistingTable } from '../../schema.ts'
import { planSchema } from '../../sql-schema.ts'
import { connector } from '../client/connect.ts'
import { quoteName } from '../client/text-form.ts'
import { postgresDialect } from '../dialect.ts'
import { postgresError } from '../errors.ts'
import { incomparable, postgresColumns } from './column-check.ts'
import { inspect, type PostgresColumn } from './inspect.ts'
import type { Run } from './refuse-names.ts'

/** Whatever the search path finds, without temporary tables, and whether the role may read it. */
const tablesQuery = `
select c.relname, c.relkind, c.relispartition, has_table_privilege(c.oid, 'select'),
  (select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
   where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid) and c.relpersistence <> 't'
  and n.nspname not in ('pg_catalog', 'information_schema')
order by c.oid`

const isHidden = `c.relkind in ('r', 'p') and not c.relispartition and not pg_table_is_visible(c.oid)
  and n.nspname not like 'pg\\_%' and n.nspname <> 'information_schema'`

/** Schemas of tables beyond the search path. */
const hiddenQuery = `
select distinct n.nspname, current_user, current_database(), current_setting('search_path')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where ${isHidden} and n.nspname <> all(current_schemas(false)) and has_schema_privilege(n.oid, 'usage')
order by n.nspname`

/** Schemas of tables that the role cannot name, which its search path passes over. */
const refusedQuery = `
select distinct n.nspname, current_user from pg_class c join pg_namespace n on n.oid = c.relnamespace
where ${isHidden} and not has_schema_privilege(n.oid, 'usage')
order by n.nspname`

/** Tables of the search path behind others of the same name. */
const shadowedQuery = `
select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where ${isHidden} and n.nspname = any(current_schemas(false))
order by c.oid`

const labelsQuery = `
select format_type(t.oid, null), json_agg(e.enumlabel order by e.enumsortorder)
from pg_type t join pg_enum e on e.enumtypid = t.oid group by t.oid`

/** Reads the tables of a database without changing it. */
export async function describePostgres(url: string): Promise<DatabaseDescription> {
  const connect = await connector(url, (error) => postgresError(error))
  const connection = await connect()
  try {
    const run: Run = (text, values = []) => connection.run({ text, values, how: 'anew' })
    await run('begin isolation level repeatable read read only')
    return await describe(run)
  } finally {
    await connection.close()
  }
}

async function describe(run: Run): Promise<DatabaseDescription> {
  const leftOut = new Map<string, string>()
  const names: string[] = []
  for (const row of await run(tablesQuery)) {
    const [name] = row as [string]
    const reason = leftOutReason(row)
    if (reason === undefined) names.push(name)
    else leftOut.set(name, reason)
  }
  const hidden = await run(hiddenQuery)
  for (const [schema] of hidden)
    leftOut.set(`${schema}.*`, `the schema is not in the search path. To serve its tables: ${searchPathOf(hidden)}`)
  for (const [schema, role] of await run(refusedQuery))
    leftOut.set(
      `${schema}.*`,
      `the role has no right to the schema: grant usage on schema ${quoteName(schema as string)} to ${quoteName(role as string)}`,
    )
  for (const [schema, name] of await run(shadowedQuery))
    leftOut.set(
      `${schema}.${name}`,
      `another table of this name comes first in the search path. To serve it, rename it, or serve it with a role whose search path begins with ${quoteName(schema as string)}`,
    )
  const labels = new Map(
    (await run(labelsQuery)).map(([type, list]) => [type as string, JSON.parse(list as string) as string[]]),
  )
  const found = await inspect(run, names)
  const tables = new Map(names.flatMap((name) => found.get(name) ?? []).map((table) => [table.name, table]))
  return {
    tables,
    leftOut,
    attributeFor: (column: PostgresColumn) => attributeFor(column, labels),
    isCounted: ({ sequence }: PostgresColumn) => sequence !== undefined,
    unservedReason: ({ isAlwaysGenerated }: PostgresColumn) =>
      isAlwaysGenerated ? 'the database generates it always' : undefined,
    addKey: addKeyTo,
    problemsOf: (model) => schemaProblems(model, tables, postgresColumns),
    stepsOf: (models) => planSchema(models, tables, postgresDialect(), 'add').map(({ step }) => step),
  }
}

/** A unique index of a partitioned table contains the columns of its partitions, so that no column of it can be declared unique. */
const addKeyTo = (table: ExistingTable): string =>
  table.canBeUnique
    ? `add a column with unique values: alter table ${quoteName(table.name)} add column ${freeKeyName(table)} bigint generated by default as identity unique`
    : 'write a model with the primaryKey that names one of its rows'

/** One statement for all schemas, because each replaces the last. What is found today stays first, and has the new tables. */
function searchPathOf(hidden: readonly Row[]): string {
  const [[, role, database, path] = []] = hidden
  const schemas = [...(path ? [path] : []), ...hidden.map(([schema]) => quoteName(schema as string))]
  return `alter role ${quoteName(role as string)} in database ${quoteName(database as string)} set search_path = ${schemas.join(', ')}`
}

function leftOutReason([, kind, isPartition, isReadable, extension]: Row): string | undefined {
  if (kind === 'v' || kind === 'm')
    return 'a view: write a model with the primaryKey that names one of its rows; it has no events'
  if (isPartition === 't') return 'a partition, whose rows are those of its table'
  if (extension !== null) return `it belongs to the extension ${extension}`
  return isReadable === 't' ? undefined : 'the role may not read it'
}

/** Types whose values are numbers, times and others; of all types that are not listed, the text is stored. */
const byType: Readonly<Record<string, AttributeDefinition>> = {
  int2: { type: 'number', isInteger: true },
  int4: { type: 'number', isInteger: true },
  int8: { type: 'bigint' },
  float4: { type: 'number' },
  float8: { type: 'number' },
  bool: { type: 'boolean' },
  json: { type: 'json' },
  jsonb: { type: 'json' },
  timestamptz: { type: 'datetime' },
  timestamp: { type: 'datetime', columnType: 'timestamp' },
  date: { type: 'datetime', columnType: 'date' },
  uuid: { type: 'string', isUUID: true },
  bytea: { type: 'binary' },
}

function attributeFor(
  { type, kind }: PostgresColumn,
  labels: ReadonlyMap<string, readonly string[]>,
): AttributeDefinition | undefined {
  if (incomparable.includes(kind.name)) return byType[kind.name]
  const columnType = plainColumnType(type)
  if (kind.name === 'numeric') return { type: 'number', ...(columnType?.startsWith('numeric(') && { columnType }) }
  const isIn = labels.get(kind.written)
  if (isIn) return { type: 'string', isIn }
  const [, length] = /^character(?: varying)?\((\d+)\)$/.exec(type) ?? []
  return byType[kind.name] ?? { type: 'string', ...(length !== undefined && { maxLength: Number(length) }) }
}

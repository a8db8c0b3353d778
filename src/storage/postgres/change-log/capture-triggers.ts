import { createHash } from 'node:crypto'
import { logTable } from '../../capture.ts'
import type { Query } from '../../driver.ts'
import { arrayOf, literalOf, quoteName } from '../client/text-form.ts'
import type { PostgresTable } from '../schema/inspect.ts'

/** Changes with the text of the triggers. */
const format = 'postgres-3'

/** The capture of one version of a table. Log rows name it, so that they can be decoded after the table has changed. */
export interface TableCapture {
  readonly id: number
  readonly schema: string
  readonly table: string
  /** In the order of the values in an image. */
  readonly columns: readonly string[]
  readonly version: string
}

/** Depends only on the definition, so that all processes agree. */
export function versionOf(table: PostgresTable, columns: readonly string[]): string {
  const types = columns.map((name) => {
    const column = table.columns.get(name)
    return column?.expression === undefined ? [name, column?.type] : [name, column.type, column.expression]
  })
  const definition = JSON.stringify([format, table.schema, table.name, types])
  return createHash('sha1').update(definition).digest('hex').slice(0, 10)
}

/**
 * PostgreSQL fires triggers in the order of their names. These are the first: when a trigger of another program changes the row
 * again, that change is the later one in the log.
 */
export const triggerNames = (version: string): readonly [row: string, truncate: string] => [
  `!keelson_${version}`,
  `!keelson_${version}_truncate`,
]

/**
 * The statements that replace the previous capture. The function runs in the session of every writer: it must not fail,
 * must not need privileges that the writer lacks, and must not depend on the settings of the session.
 */
export function captureStatements(capture: TableCapture, table: PostgresTable, logSchema: string): readonly string[] {
  const name = `${quoteName(capture.schema)}.${quoteName(capture.table)}`
  const routine = functionName(capture.id, logSchema)
  const [row, truncate] = triggerNames(capture.version).map(quoteName) as [string, string]
  return [
    ...[...table.triggers.keys()].map((trigger) => `drop trigger ${quoteName(trigger)} on ${name}`),
    `create function ${routine} returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp ${settingsOf(capture.columns, table)} as ${literalOf(functionBody(capture, table, logSchema))}`,
    `revoke all on function ${routine} from public`,
    `create trigger ${row} after insert or update or delete on ${name} for each row execute function ${routine}`,
    `create trigger ${truncate} after truncate on ${name} for each statement execute function ${routine}`,
    // Also for replication, and for sessions that disable triggers.
    ...(table.isOurs ? [row, truncate].map((trigger) => `alter table ${name} enable always trigger ${trigger}`) : []),
  ]
}

const uncapturedQuery = `
select k.name from unnest($1::text[], $2::text[]) k (schema, name)
where 2 > (
  select count(*) from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = k.schema and c.relname = k.name and t.tgenabled <> 'D' and ltrim(t.tgname, '!') like 'keelson\\_%'
)`

/** The tables that lack a trigger of the log now, or have one that is disabled. */
export async function uncapturedTables(query: Query, tables: readonly PostgresTable[]): Promise<readonly string[]> {
  const rows = await query(
    uncapturedQuery,
    [tables.map(({ schema }) => schema), tables.map(({ name }) => name)].map(arrayOf),
  )
  return rows.map(([name]) => name as string)
}

export const functionName = (id: number, logSchema: string): string =>
  `${quoteName(logSchema)}.${quoteName(`keelson_capture_${id}`)}()`

/** The verbs in the log; the last two cause a `reset`. */
export const verbLetters = { created: 'c', updated: 'u', destroyed: 'd', truncated: 't', unreadable: '?' } as const

/**
 * A renamed or dropped column must not make writes fail, so an image that cannot be made is omitted. After a column has got
 * another type, a session that has written before refuses the expressions that it has planned, but not new ones.
 */
function functionBody({ id, columns }: TableCapture, table: PostgresTable, logSchema: string): string {
  const image = (row: string) => `array[${columns.map((column) => textOf(row, column, table)).join(', ')}]::text[]`
  const replanned = literalOf(`select ${image('($1)')}`)
  const { created, updated, destroyed, truncated, unreadable } = verbLetters
  return `
declare
  k_verb "char" := case tg_op when 'INSERT' then '${created}' when 'UPDATE' then '${updated}' when 'DELETE' then '${destroyed}' else '${truncated}' end;
  k_before text[];
  k_after text[];
begin
  begin
    if tg_op = 'UPDATE' or tg_op = 'DELETE' then k_before := ${image('old')}; end if;
    if tg_op = 'UPDATE' or tg_op = 'INSERT' then k_after := ${image('new')}; end if;
  exception when others then
    begin
      if tg_op = 'UPDATE' or tg_op = 'DELETE' then execute ${replanned} into k_before using old; end if;
      if tg_op = 'UPDATE' or tg_op = 'INSERT' then execute ${replanned} into k_after using new; end if;
    exception when others then
      k_verb := '${unreadable}'; k_before := null; k_after := null;
    end;
  end;
  insert into ${quoteName(logSchema)}.${quoteName(logTable)} (capture, verb, before, after) values (${id}, k_verb, k_before, k_after);
  return null;
end`
}

/** The settings of a session that the text of a value depends on. Setting one costs a tenth of the trigger. */
const settings = {
  timezone: `set timezone = 'UTC'`,
  datestyle: `set datestyle = 'ISO, MDY'`,
  intervalstyle: `set intervalstyle = 'postgres'`,
  bytea: `set bytea_output = 'hex'`,
  float: 'set extra_float_digits = 1',
} as const
type Setting = keyof typeof settings

/** The settings that the text of a value depends on, by type; that of another type may depend on each. */
const settingsOfType: ReadonlyMap<string, readonly Setting[]> = new Map<string, readonly Setting[]>([
  ...'bool int2 int4 int8 numeric text varchar bpchar uuid json jsonb'.split(' ').map((name) => [name, []] as const),
  ['float4', ['float']],
  ['float8', ['float']],
  ['date', ['datestyle']],
  ['timestamp', ['datestyle']],
  ['timestamptz', ['datestyle', 'timezone']],
  ['bytea', ['bytea']],
])

function settingsOf(columns: readonly string[], table: PostgresTable): string {
  const every = Object.keys(settings) as Setting[]
  const needed = new Set(
    columns.flatMap((column) => settingsOfType.get(table.columns.get(column)?.kind.name ?? '') ?? every),
  )
  return every.flatMap((name) => (needed.has(name) ? [settings[name]] : [])).join(' ')
}

/** Types whose cast to text equals the output of a select, or is decoded alike. */
const castable = new Set(
  'bool int2 int4 int8 float4 float8 numeric text varchar timestamptz timestamp date uuid json jsonb bytea'.split(' '),
)

function textOf(row: string, column: string, table: PostgresTable): string {
  const expression = table.columns.get(column)?.expression
  // A trigger is given null for a column that is computed when it is read.
  const value =
    expression === undefined ? `${row}.${quoteName(column)}` : `(select ${expression} from (select ${row}.*) k_row)`
  if (castable.has(table.columns.get(column)?.kind.name ?? '')) return `${value}::text`
  // A cast would trim a `char` and add the netmask to an `inet`.
  return `case when ${value} is null then null else format('%s', ${value}) end`
}

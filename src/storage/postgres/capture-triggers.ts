import { createHash } from 'node:crypto'
import { logTable } from '../capture.ts'
import type { PostgresTable } from './inspect.ts'
import { literalOf, quoteName } from './text-form.ts'

/** Changes when the text of the triggers does. */
const format = 'postgres-1'

/** How one version of a table gets into the log. Rows of the log name it, so that they can be read when it is past. */
export interface TableCapture {
  readonly id: number
  readonly schema: string
  readonly table: string
  /** In the order of the values in an image. */
  readonly columns: readonly string[]
  readonly version: string
}

/** Says the same of the same definition, whichever process asks. */
export function versionOf(table: PostgresTable, columns: readonly string[]): string {
  const types = columns.map((column) => [column, table.columns.get(column)?.type])
  const definition = JSON.stringify([format, table.schema, table.name, types])
  return createHash('sha1').update(definition).digest('hex').slice(0, 10)
}

export const triggerNames = (version: string): readonly [row: string, truncate: string] => [
  `keelson_${version}`,
  `keelson_${version}_truncate`,
]

/**
 * The statements that put a capture in the place of whatever was there. Whoever writes to the table runs this function:
 * it must neither fail, nor need a right that the writer has not, nor print values as the writer's session would.
 */
export function captureStatements(capture: TableCapture, table: PostgresTable, logSchema: string): readonly string[] {
  const name = `${quoteName(capture.schema)}.${quoteName(capture.table)}`
  const routine = functionName(capture.id, logSchema)
  const [row, truncate] = triggerNames(capture.version).map(quoteName) as [string, string]
  return [
    ...[...table.triggers.keys()].map((trigger) => `drop trigger ${quoteName(trigger)} on ${name}`),
    `create function ${routine} returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set datestyle = 'ISO, MDY' set intervalstyle = 'postgres'
set bytea_output = 'hex' set extra_float_digits = 1 as ${literalOf(functionBody(capture, table, logSchema))}`,
    `revoke all on function ${routine} from public`,
    `create trigger ${row} after insert or update or delete on ${name} for each row execute function ${routine}`,
    `create trigger ${truncate} after truncate on ${name} for each statement execute function ${routine}`,
    // Or what comes by replication, and what is loaded with triggers switched off for the session, would not be seen.
    ...(table.isOurs ? [row, truncate].map((trigger) => `alter table ${name} enable always trigger ${trigger}`) : []),
  ]
}

export const functionName = (id: number, logSchema: string): string =>
  `${quoteName(logSchema)}.${quoteName(`keelson_capture_${id}`)}()`

/** The letters in the log for what happened to a row; the last two make readers start afresh. */
export const verbLetters = { created: 'c', updated: 'u', destroyed: 'd', truncated: 't', unreadable: '?' } as const

/** A column that was renamed or dropped since must not stop whoever writes, so an image that fails is left out. */
function functionBody({ id, columns }: TableCapture, table: PostgresTable, logSchema: string): string {
  const image = (row: 'old' | 'new') =>
    `array[${columns.map((column) => textOf(row, column, table)).join(', ')}]::text[]`
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
    k_verb := '${unreadable}'; k_before := null; k_after := null;
  end;
  insert into ${quoteName(logSchema)}.${quoteName(logTable)} (capture, verb, before, after) values (${id}, k_verb, k_before, k_after);
  return null;
end`
}

/** Types of which a cast to text gives what a select prints, or what the decoder takes for it. */
const castable = new Set(
  'bool int2 int4 int8 float4 float8 numeric text varchar timestamptz timestamp date uuid json jsonb bytea'.split(' '),
)

function textOf(row: 'old' | 'new', column: string, table: PostgresTable): string {
  const value = `${row}.${quoteName(column)}`
  if (castable.has(table.columns.get(column)?.kind.name ?? '')) return `${value}::text`
  // A cast takes the blanks from the end of a `char`, and adds the mask to an address.
  return `case when ${value} is null then null else format('%s', ${value}) end`
}

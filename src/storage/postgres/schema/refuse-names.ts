import { ConfigError } from '../../../model/config-error.ts'
import type { Model } from '../../../model/model.ts'
import { folded } from '../../../model/names.ts'
import type { Row } from '../../driver.ts'
import { arrayOf, quoteName } from '../client/text-form.ts'
import type { PostgresTable } from './inspect.ts'

export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** In UTF-8. PostgreSQL cuts off the rest of a name. */
const maxNameBytes = 63

/**
 * Throws a ConfigError for tables and columns that would be created beside those that are meant: for names such as `shop.pet`,
 * for names that exist in another letter case only, and for those that are too long.
 */
export async function refuseNames(
  run: Run,
  models: readonly Model[],
  existing: ReadonlyMap<string, PostgresTable>,
): Promise<void> {
  const missing = models.filter(({ table }) => !existing.has(table))
  const problems = [
    ...(await schemaProblems(run, missing)),
    ...(await tableProblems(run, missing, models)),
    ...models.flatMap((model) => columnProblems(model, existing.get(model.table))),
    ...models.flatMap(lengthProblems),
  ]
  if (problems.length > 0) throw new ConfigError(problems)
}

/** Throws a ConfigError for tables that are in schemas where the role does not find them: others of their names may be created. */
export async function refuseHidden(
  run: Run,
  models: readonly Model[],
  existing: ReadonlyMap<string, PostgresTable>,
): Promise<void> {
  const missing = models.filter(({ table }) => !existing.has(table))
  if (missing.length === 0) return
  const rows = await run(
    `select c.relname, n.nspname, has_schema_privilege(n.oid, 'usage'), current_user
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname = any($1::text[]) and n.nspname !~ '^(pg_|information_schema$)'
     order by n.nspname = 'public' desc, n.nspname`,
    [arrayOf(missing.map(({ table }) => table))],
  )
  const problems = missing.flatMap(({ name, table }) => {
    const [, schema, isUsable, role] = rows.find(([found]) => found === table) ?? []
    if (schema === undefined) return []
    const [quoted, user] = [quoteName(schema as string), quoteName(role as string)]
    return isUsable === 't'
      ? `${name}: the table "${table}" is in the schema "${schema}", which is not in the search path of the role: alter role ${user} set search_path = ${quoted}, public`
      : `${name}: the role has no right to the schema "${schema}" of the table "${table}": grant usage on schema ${quoted} to ${user}`
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

async function schemaProblems(run: Run, missing: readonly Model[]): Promise<readonly string[]> {
  const named = missing.filter(({ table }) => table.includes('.'))
  if (named.length === 0) return []
  const schemas = new Set((await run('select nspname from pg_namespace')).map(([name]) => name as string))
  return named.flatMap(({ name, table }) => {
    const [schema = '', rest] = table.split('.')
    if (!schemas.has(schema)) return []
    return `${name}: there is no table "${table}". For a table of the schema "${schema}", write tableName: '${rest}', and add the schema to the search path of the role: alter role … set search_path = ${quoteName(schema)}, public`
  })
}

async function tableProblems(
  run: Run,
  missing: readonly Model[],
  models: readonly Model[],
): Promise<readonly string[]> {
  if (missing.length === 0) return []
  const rows = await run(
    `select relname from pg_class where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(oid) and lower(relname) = any($1::text[])`,
    [arrayOf(missing.map(({ table }) => folded(table)))],
  )
  const used = new Set(models.map(({ table }) => table))
  const others = new Map(rows.map(([name]) => [folded(name as string), name as string]))
  return missing.flatMap(({ name, table }) => {
    const other = others.get(folded(table))
    return other === undefined || used.has(other)
      ? []
      : `${name}: the table is named "${other}"; write tableName: '${other}'`
  })
}

function columnProblems({ name: model, attributes }: Model, table: PostgresTable | undefined): readonly string[] {
  if (!table) return []
  const used = new Set([...attributes.values()].map(({ column }) => column))
  const others = new Map([...table.columns.keys()].map((column) => [folded(column), column]))
  return [...attributes.values()].flatMap(({ name, column }) => {
    const other = table.columns.has(column) ? undefined : others.get(folded(column))
    return other === undefined || used.has(other)
      ? []
      : `${model}.${name}: the column is named "${other}"; write columnName: '${other}'`
  })
}

const isTooLong = (name: string): boolean => Buffer.byteLength(name) > maxNameBytes

function lengthProblems({ name: model, table, attributes, isJunction }: Model): readonly string[] {
  const tooLong = `longer than the ${maxNameBytes} bytes of a name in PostgreSQL`
  const columns = [...attributes.values()].filter(({ column }) => isTooLong(column))
  if (isJunction) {
    const names = [table, ...columns.map(({ column }) => column)].filter(isTooLong)
    return names.map(
      (name) =>
        `the many-to-many association of the table "${table}": "${name}" is ${tooLong}; write through: { tableName, from, to } on both sides`,
    )
  }
  const problems = columns.map(
    ({ name, column }) => `${model}.${name}: the column "${column}" is ${tooLong}; write a shorter columnName`,
  )
  return isTooLong(table)
    ? [`${model}: the table "${table}" is ${tooLong}; write a shorter tableName`, ...problems]
    : problems
}

import type { Attribute, Model } from '../../model/model.ts'
import type { Row } from '../driver.ts'
import type { ExistingColumn, ExistingTable } from '../schema.ts'
import { type ColumnType, type ColumnTypes, isJson } from './column-type.ts'
import type { UniqueColumns } from './errors.ts'
import { arrayOf } from './text-form.ts'

export interface PostgresColumn extends ExistingColumn {
  readonly kind: ColumnType
  /** Of a column that the database counts up, quoted. */
  readonly sequence: string | undefined
}

export interface PostgresTable extends ExistingTable {
  readonly schema: string
  readonly columns: ReadonlyMap<string, PostgresColumn>
  /** Triggers can stand on it: it is neither a view nor the table of another server. */
  readonly isTable: boolean
  /** We may alter it. */
  readonly isOurs: boolean
  /** Names of the unique indexes; the server names one when a value is taken. */
  readonly uniqueNames: UniqueColumns
  /** Our triggers on it, by name, and whether they are switched on. */
  readonly triggers: ReadonlyMap<string, boolean>
}

/** The tables of these names, as the search path finds them. Parameters: their names. */
const catalogQuery = `
select c.relname, n.nspname, c.relkind in ('r', 'p'), pg_has_role(c.relowner, 'usage'),
  (select json_agg(json_build_array(
      a.attname, format_type(a.atttypid, a.atttypmod), not a.attnotnull,
      base.typname, format_type(base.oid, null), pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)
    ) order by a.attnum)
   from pg_attribute a
   join pg_type declared on declared.oid = a.atttypid
   join pg_type base on base.oid = coalesce(nullif(declared.typbasetype, 0), declared.oid)
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
  (select json_agg(json_build_array(
      i.relname, x.indisprimary, x.indisunique and x.indisvalid and x.indpred is null and x.indexprs is null,
      (select json_agg(a.attname order by k.place) from unnest(x.indkey::int2[]) with ordinality k (number, place)
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number where k.place <= x.indnkeyatts)
    ))
   from pg_index x join pg_class i on i.oid = x.indexrelid where x.indrelid = c.oid),
  (select json_agg(json_build_array(
      (select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality k (number, place)
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number),
      (select target.relname from pg_class target where target.oid = f.confrelid)
    ))
   from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'),
  (select json_agg(json_build_array(t.tgname, t.tgenabled <> 'D')) from pg_trigger t
   where t.tgrelid = c.oid and t.tgname like 'keelson\\_%')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid) and c.relname = any($1::text[])`

type ColumnRow = [name: string, type: string, nullable: boolean, base: string, written: string, sequence: string | null]
type IndexRow = [name: string, isPrimary: boolean, isUnique: boolean, columns: string[] | null]
type ForeignKeyRow = [columns: string[], table: string]

/** What the database holds already of the tables with these names. */
export async function inspect(
  query: (text: string, values: readonly unknown[]) => Promise<readonly Row[]>,
  names: readonly string[],
): Promise<ReadonlyMap<string, PostgresTable>> {
  const rows = await query(catalogQuery, [arrayOf(names)])
  return new Map(rows.map((row) => [row[0] as string, tableOf(row)]))
}

function tableOf([name, schema, isTable, isOurs, columns, indexes, foreignKeys, triggers]: Row): PostgresTable {
  const found = listOf<IndexRow>(indexes)
  const uniques = found.flatMap(([name, , isUnique, names]) => (isUnique && names ? [[name, names] as const] : []))
  return {
    name: name as string,
    schema: schema as string,
    isTable: isTable === 't',
    isOurs: isOurs === 't',
    columns: new Map(listOf<ColumnRow>(columns).map((column) => [column[0], columnOf(column)])),
    key: found.find(([, isPrimary]) => isPrimary)?.[3] ?? [],
    uniques: uniques.map(([, names]) => names),
    uniqueNames: new Map(uniques),
    indexes: new Set(found.map(([name]) => name)),
    orders: [], // how they collate and where nulls stand would have to be known
    foreignKeys: listOf<ForeignKeyRow>(foreignKeys).map(([columns, table]) => ({ columns, table })),
    triggers: new Map(listOf<[string, boolean]>(triggers)),
  }
}

function columnOf([name, type, nullable, base, written, sequence]: ColumnRow): PostgresColumn {
  const kind = { name: base, written }
  return { name, type, nullable, holdsJson: isJson(kind), kind, sequence: sequence ?? undefined }
}

const listOf = <T>(text: unknown): readonly T[] => (text === null ? [] : JSON.parse(text as string))

/** The columns of the models, as they really are. */
export function columnsOf(
  models: readonly Model[],
  tables: ReadonlyMap<string, PostgresTable>,
): ReadonlyMap<Attribute, PostgresColumn> {
  const columns = new Map<Attribute, PostgresColumn>()
  for (const model of models) {
    for (const attribute of model.attributes.values()) {
      const column = tables.get(model.table)?.columns.get(attribute.column)
      if (column) columns.set(attribute, column)
    }
  }
  return columns
}

export const typesOf =
  (columns: ReadonlyMap<Attribute, PostgresColumn>): ColumnTypes =>
  (attribute) =>
    columns.get(attribute)?.kind

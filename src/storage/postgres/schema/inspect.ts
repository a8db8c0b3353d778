import type { Attribute, Model, StoredColumn } from '../../../model/model.ts'
import type { Row } from '../../driver.ts'
import type { ExistingColumn, ExistingTable } from '../../schema.ts'
import { arrayOf, quoteName } from '../client/text-form.ts'
import type { UniqueColumns } from '../errors.ts'
import { type ColumnType, type ColumnTypes, isJson } from './column-type.ts'

export interface PostgresColumn extends ExistingColumn {
  readonly kind: ColumnType
  /** The quoted sequence of a generated column. */
  readonly sequence: string | undefined
  /** An identity that refuses given values. */
  readonly isAlwaysGenerated: boolean
  /** The expression of a column that is computed when it is read. */
  readonly expression: string | undefined
}

export interface PostgresTable extends ExistingTable {
  readonly schema: string
  readonly columns: ReadonlyMap<string, PostgresColumn>
  /** Owned by the role of the service, which may alter it. */
  readonly isOurs: boolean
  /** The role of the service may read it, or some of its columns. */
  readonly isReadable: boolean
  /** Its policies apply to the role of the service. */
  readonly isPoliced: boolean
  /** Columns by the name of the unique index, which the server reports for a duplicate value. */
  readonly uniqueNames: UniqueColumns
  /** The capture triggers by name, and whether they are enabled. */
  readonly triggers: ReadonlyMap<string, boolean>
}

/**
 * The tables of these names, as the search path finds them. Parameters: their names. `tgtype & 7 = 7` is a trigger before the
 * insertion of a row, which may set a column that must have a value. The format of a type without a length is `bpchar` and `"bit"`
 * by -1, and otherwise `character` and `bit`, which a statement takes for one character.
 */
const catalogQuery = `
select c.relname, n.nspname, c.relkind in ('r', 'p'), c.relkind = 'r', pg_has_role(c.relowner, 'usage'), row_security_active(c.oid),
  (select json_agg(json_build_array(
      a.attname, format_type(a.atttypid, a.atttypmod), not a.attnotnull and not declared.typnotnull,
      a.attgenerated <> '' or a.attidentity <> '' or given.has_default
        or exists (select 1 from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype & 7 = 7),
      a.attgenerated <> '',
      base.typname, format_type(base.oid, -1), pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname),
      base.typname in ('citext', 'bpchar') or exists (select 1 from pg_collation l where l.oid = a.attcollation and not l.collisdeterministic),
      -- A word of an enumeration and a date have one text each, a UUID one that is ordered as its value.
      case when base.typname = 'uuid' then 'none'
        when base.typtype = 'e' or base.typname = 'date' then 'order'
        when base.typname not in ('text', 'varchar', 'bpchar', 'citext', 'name', 'char') then 'equality'
        -- The order of code points is that of these locales, and of all of the provider \`b\` (builtin).
        when exists (select 1 from pg_collation l, pg_database d,
            lateral (select case l.collprovider when 'd' then coalesce(to_jsonb(d) ->> 'datlocprovider', 'c') else l.collprovider::text end,
              case l.collprovider when 'd' then d.datcollate else l.collcollate end) as used (provider, locale)
          where l.oid = a.attcollation and d.datname = current_database() and used.provider <> 'b'
            and (used.provider <> 'c' or lower(used.locale) not in ('c', 'posix', 'c.utf8', 'c.utf-8'))) then 'order'
        else 'none' end,
      base.typname in ('timestamp', 'timestamptz') and greatest(a.atttypmod, declared.typtypmod) not between 0 and 3,
      given.has_default, base.typtype = 'c', base.typtype = 'e' and declared.typtype = 'd', given.expression, a.attidentity = 'a', a.attgenerated = 'v',
      -- Of enums, ranges, rows and arrays the operators are those of their pseudo-types. \`hstore\` has a default order by other operators.
      base.typtype = 'b' and base.typelem = 0 and not exists (select 1 from pg_operator o where o.oprname = '<' and o.oprleft = o.oprright
        and (o.oprleft = base.oid or exists (select 1 from pg_cast k where k.castsource = base.oid and k.casttarget = o.oprleft and k.castmethod = 'b')))
    ) order by a.attnum)
   from pg_attribute a
   left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
   join pg_type declared on declared.oid = a.atttypid
   join lateral (
     with recursive bases as (
       select declared.oid, declared.typname, declared.typtype, declared.typelem, declared.typbasetype
       union all select t.oid, t.typname, t.typtype, t.typelem, t.typbasetype from bases join pg_type t on t.oid = bases.typbasetype
     ) select oid, typname, typtype, typelem from bases where typbasetype = 0
   ) base on true
   -- Of a generated column, the expression that computes it. \`varchar(9) default null\` is \`NULL::character varying\`.
   cross join lateral (select expression, a.attgenerated = '' and coalesce(expression not like 'NULL::%', false) as has_default
     from (select coalesce(pg_get_expr(d.adbin, d.adrelid), declared.typdefault) as expression) e) given
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
  (select json_agg(json_build_array(
      i.relname, x.indisprimary, x.indisunique and x.indisvalid, x.indpred is null,
      (select json_agg(json_build_array(a.attname, k.flags, k.collated = a.attcollation and o.opcdefault) order by k.place)
       from unnest(x.indkey::int2[], x.indoption::int2[], x.indcollation::oid[], x.indclass::oid[])
         with ordinality k (number, flags, collated, opclass, place)
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
       join pg_opclass o on o.oid = k.opclass
       where k.place <= x.indnkeyatts),
      x.indexprs is null and m.amname = 'btree', exists (select 1 from pg_constraint u where u.conindid = i.oid and u.contype = 'u')
    ))
   from pg_index x join pg_class i on i.oid = x.indexrelid join pg_am m on m.oid = i.relam where x.indrelid = c.oid),
  (select json_agg(json_build_array(
      (select json_agg(a.attname order by k.place) from unnest(f.conkey) with ordinality k (number, place)
       join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number),
      (select case when pg_table_is_visible(target.oid) then target.relname else n.nspname || '.' || target.relname end
       from pg_class target join pg_namespace n on n.oid = target.relnamespace where target.oid = f.confrelid), f.confdeltype = 'c',
      f.confdeltype in ('a', 'r'),
      (select json_agg(a.attname order by k.place) from unnest(f.confkey) with ordinality k (number, place)
       join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.number),
      -- Since PostgreSQL 18, where pg_constraint has the column.
      to_jsonb(f) ->> 'conenforced' = 'false'
    ))
   from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
     -- One to a partitioned table has others to its partitions.
     and not exists (select 1 from pg_constraint whole where whole.oid = f.conparentid and whole.conrelid = c.oid)),
  (select json_agg(json_build_array(t.tgname, t.tgenabled <> 'D')) from pg_trigger t
   where t.tgrelid = c.oid and ltrim(t.tgname, '!') like 'keelson\\_%'),
  has_any_column_privilege(c.oid, 'select')
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(c.oid) and c.relname = any($1::text[])`

type ColumnRow = [
  name: string,
  type: string,
  nullable: boolean,
  hasDefault: boolean,
  isComputed: boolean,
  base: string,
  written: string,
  sequence: string | null,
  foldsText: boolean,
  ownComparison: StoredColumn['ownComparison'],
  hasFractions: boolean,
  declaresDefault: boolean,
  isComposite: boolean,
  isEnumDomain: boolean,
  defaultText: string | null,
  isAlwaysGenerated: boolean,
  isVirtual: boolean,
  isUnordered: boolean,
]
/** `flags`: 1 is descending, 2 is nulls first. */
type IndexColumn = [name: string, flags: number, isDefaultOrder: boolean]
type IndexRow = [
  name: string,
  isPrimary: boolean,
  isUnique: boolean,
  isComplete: boolean,
  columns: IndexColumn[] | null,
  isPlain: boolean,
  isConstraint: boolean,
]
type ForeignKeyRow = [
  columns: string[],
  table: string,
  cascades: boolean,
  restricts: boolean,
  targets: string[],
  isNotEnforced: boolean | null,
]

/** The existing tables with these names. */
export async function inspect(
  query: (text: string, values: readonly unknown[]) => Promise<readonly Row[]>,
  names: readonly string[],
): Promise<ReadonlyMap<string, PostgresTable>> {
  const rows = await query(catalogQuery, [arrayOf(names)])
  return new Map(rows.map((row) => [row[0] as string, tableOf(row)]))
}

function tableOf([
  name,
  schema,
  isTable,
  canBeUnique,
  isOurs,
  isPoliced,
  columns,
  indexes,
  foreignKeys,
  triggers,
  isReadable,
]: Row): PostgresTable {
  const indexed = listOf<IndexRow>(indexes).map(indexOf)
  const uniques = indexed.filter(({ isUnique }) => isUnique)
  return {
    name: name as string,
    schema: schema as string,
    isTable: isTable === 't',
    canBeUnique: canBeUnique === 't',
    isOurs: isOurs === 't',
    isPoliced: isPoliced === 't',
    isReadable: isReadable === 't',
    columns: new Map(listOf<ColumnRow>(columns).map((column) => [column[0], columnOf(column)])),
    key: indexed.find(({ isPrimary }) => isPrimary)?.columns ?? [],
    uniques: uniques.filter(({ isComplete }) => isComplete).map(({ columns }) => columns),
    uniqueNames: new Map(uniques.map(({ name, columns }) => [name, columns])),
    indexes: new Set(indexed.map(({ name }) => name)),
    uniqueConstraints: new Set(indexed.filter(({ isConstraint }) => isConstraint).map(({ name }) => name)),
    orders: indexed.filter(({ isComplete }) => isComplete).map(({ terms }) => terms),
    foreignKeys: listOf<ForeignKeyRow>(foreignKeys).map(
      ([columns, table, cascades, restricts, targets, isNotEnforced]) => ({
        columns,
        table,
        targets,
        cascades,
        restricts,
        isNotEnforced: isNotEnforced === true,
      }),
    ),
    triggers: new Map(listOf<[string, boolean]>(triggers)),
  }
}

function indexOf([name, isPrimary, isUnique, isComplete, columns, isPlain, isConstraint]: IndexRow) {
  const other = (columns ?? []).findIndex(([, , isDefaultOrder]) => !isDefaultOrder)
  const sorted = isPlain ? (columns ?? []).slice(0, other === -1 ? undefined : other) : []
  return {
    name,
    isPrimary,
    isUnique: isUnique && isPlain,
    isComplete,
    isConstraint,
    columns: (columns ?? []).map(([column]) => column),
    terms: sorted.map(termOf),
  }
}

/** As the dialect writes it: `nulls last` is the default ascending, `nulls first` descending. */
const termOf = ([name, flags]: IndexColumn): string =>
  quoteName(name) + ['', ' desc nulls last', ' nulls first', ' desc'][flags & 3]

function columnOf([
  name,
  type,
  nullable,
  hasDefault,
  isComputed,
  base,
  written,
  sequence,
  foldsText,
  ownComparison,
  hasFractions,
  declaresDefault,
  isComposite,
  isEnumDomain,
  defaultText,
  isAlwaysGenerated,
  isVirtual,
  isUnordered,
]: ColumnRow): PostgresColumn {
  const kind = { name: base, written, isComposite, isEnumDomain }
  return {
    name,
    type,
    nullable,
    mustBeGiven: !nullable && !hasDefault,
    becomesNull: nullable && !hasDefault,
    hasDefault: declaresDefault,
    defaultText: declaresDefault ? (defaultText ?? undefined) : undefined,
    isComputed,
    foldsText,
    ownComparison,
    hasFractions,
    isUnordered,
    holdsJson: isJson(kind),
    kind,
    sequence: sequence ?? undefined,
    isAlwaysGenerated,
    expression: isVirtual ? (defaultText ?? undefined) : undefined,
  }
}

const listOf = <T>(text: unknown): readonly T[] => (text === null ? [] : JSON.parse(text as string))

/** The existing columns of the models. */
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

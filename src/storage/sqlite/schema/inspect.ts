import { ConfigError } from '../../../model/config-error.ts'
import type { Model } from '../../../model/model.ts'
import { folded } from '../../../model/names.ts'
import type { Row } from '../../driver.ts'
import type { ExistingColumn, ExistingTable } from '../../schema.ts'
import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'
import { jsonCheck, jsonCheckWithoutNull } from './json-check.ts'

const { identifier } = sqliteDialect

export interface SqliteTable extends ExistingTable {
  /** It has JSON checks of an earlier version. */
  readonly isOutdated: boolean
  readonly columns: ReadonlyMap<string, SqliteColumn>
}

export interface SqliteColumn extends ExistingColumn {
  /** The table refuses values of other types. */
  readonly isStrict: boolean
  /** The row id, which refuses what is not an integer. */
  readonly isRowId: boolean
  /** Its values cannot be compared: the end of a sentence. */
  readonly collationProblem: string | undefined
}

/** In `sql` of `sqlite_schema`. Such a table is not read: its module may be one of another program. */
const isVirtual = `sql like 'create virtual table %'`

/** The existing tables, as far as the schema plan needs them. */
export function inspect(connection: Connection): ReadonlyMap<string, SqliteTable> {
  const tables = connection.all(
    `select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' and not ${isVirtual}`,
    [],
  )
  return new Map(tables.map(([name, sql]) => [name as string, tableOf(connection, name as string, sql as string)]))
}

/**
 * Throws a ConfigError for tables that are views or virtual, for names in another letter case, which SQLite would not create, and
 * for columns in a collation that it does not have.
 */
export function refuseNames(connection: Connection, models: readonly Model[]): void {
  const rows = connection.all(
    `select name, case when type = 'view' then 'a view' when ${isVirtual} then 'a virtual table' end, sql
     from sqlite_schema where type in ('table', 'view')`,
    [],
  )
  const existing = new Map(
    rows.map(([name, other, sql]) => [folded(name as string), { name: name as string, other, sql: sql as string }]),
  )
  const problems = models.flatMap((model) => {
    const found = existing.get(folded(model.table))
    if (!found) return []
    if (found.other !== null)
      return `${model.name}: "${model.table}" is ${found.other}; on SQLite only ordinary tables are served`
    if (found.name !== model.table)
      return `${model.name}: the table is named "${found.name}"; write tableName: '${found.name}'`
    const columns = connection
      .all('select name from pragma_table_info(?)', [model.table])
      .map(([name]) => name as string)
    return [...model.attributes.values()].flatMap(({ name, column }) => {
      if (columns.includes(column)) {
        const { collationProblem } = collationOf(connection, model.table, column, found.sql)
        return collationProblem === undefined
          ? []
          : `${model.name}.${name}: the column "${column}" ${collationProblem}. Leave the attribute out`
      }
      const other = columns.find((known) => folded(known) === folded(column))
      return other === undefined
        ? []
        : `${model.name}.${name}: the column is named "${other}"; write columnName: '${other}'`
    })
  })
  if (problems.length > 0) throw new ConfigError(problems)
}

function tableOf(connection: Connection, name: string, definition: string): SqliteTable {
  const info = connection.all(
    // Hidden: 1 is a column of a virtual table, 2 and 3 are computed columns.
    'select name, type, "notnull", pk, dflt_value, hidden from pragma_table_xinfo(?) where hidden <> 1 order by cid',
    [name],
  )
  const key = info.filter(([, , , place]) => place !== 0).sort((a, b) => Number(a[3]) - Number(b[3]))
  const keyColumns = key.map(([column]) => column as string)
  const indexes = connection.all('select name, "unique", partial, origin from pragma_index_list(?)', [name])
  const rowId = isRowId(key) && indexes.every(([, , , origin]) => origin !== 'pk') ? keyColumns : []
  const [[strict] = []] = connection.all('select strict from pragma_table_list(?)', [name])
  const columns = info.map(
    ([column, type, notNull, , defaultValue, hidden]): SqliteColumn => ({
      name: column as string,
      type: type as string,
      isStrict: strict === 1,
      isRowId: rowId.includes(column as string),
      nullable: notNull === 0,
      mustBeGiven: notNull === 1 && hidden === 0 && isNull(defaultValue) && !rowId.includes(column as string),
      becomesNull: notNull === 0 && hidden === 0 && isNull(defaultValue) && !rowId.includes(column as string),
      hasDefault: hidden === 0 && !isNull(defaultValue),
      defaultText: isNull(defaultValue) ? undefined : String(defaultValue),
      isComputed: hidden !== 0,
      // Numbers in it equal no text, and come before all.
      ownComparison: type === '' ? 'equality' : 'none',
      ...collationOf(connection, name, column as string, definition),
      holdsJson: [jsonCheck, jsonCheckWithoutNull].some((check) =>
        definition.includes(check(identifier(column as string))),
      ),
    }),
  )
  const columnsOf = (index: unknown) =>
    connection.all('select name from pragma_index_info(?) order by seqno', [index]).map(([column]) => column as string)
  const links = connection.all(
    // A foreign key may name its table in another letter case.
    `select id, "from", coalesce((select name from sqlite_schema where type = 'table' and name = "table" collate nocase), "table"),
       on_delete, "to" from pragma_foreign_key_list(?) order by id, seq`,
    [name],
  )
  const byLink = Map.groupBy(links, ([id]) => id)
  return {
    name,
    isTable: true,
    canBeUnique: true,
    isOutdated: columns.some((column) => definition.includes(jsonCheckWithoutNull(identifier(column.name)))),
    columns: new Map(columns.map((column) => [column.name, column])),
    key: keyColumns,
    uniques: [
      ...(keyColumns.length > 0 ? [keyColumns] : []),
      ...indexes.filter(([, unique, partial]) => unique === 1 && partial === 0).map(([index]) => columnsOf(index)),
    ],
    orders: indexes.filter(([, , partial]) => partial === 0).map(([index]) => orderOf(connection, index, rowId)),
    indexes: new Set(indexes.map(([index]) => index as string)),
    foreignKeys: [...byLink.values()].map((rows) => ({
      columns: rows.map(([, from]) => from as string),
      table: rows[0]?.[2] as string,
      targets: rows.flatMap(([, , , , to]) => (to === null ? [] : [to as string])),
      cascades: rows[0]?.[3] === 'CASCADE',
      restricts: ['NO ACTION', 'RESTRICT'].includes(rows[0]?.[3] as string),
    })),
  }
}

/** A column of a compound select has the collation of its first part. */
function collationOf(
  connection: Connection,
  table: string,
  column: string,
  definition: string,
): Pick<SqliteColumn, 'foldsText' | 'collationProblem'> {
  const collationProblem = undefined
  if (!/\bcollate\b/i.test(definition)) return { foldsText: false, collationProblem }
  const texts = `select ${identifier(column)} as x from ${identifier(table)} where 0 union all select 'a'`
  try {
    const found = connection.all(`select 1 from (${texts}) where x in ('A', 'a ')`, [])
    return { foldsText: found.length > 0, collationProblem }
  } catch (error) {
    const problem = collationProblemOf(error)
    if (problem === undefined) throw error
    return { foldsText: true, collationProblem: problem }
  }
}

function collationProblemOf(error: unknown): string | undefined {
  const { message } = error as Error
  // Of a table without row ids that has such a key.
  if (message === 'no query solution') return 'is in a table that a collation of another program sorts'
  const [, name] = /^no such collation sequence: (.*)$/.exec(message) ?? []
  return name === undefined ? undefined : `has the collation "${name}", which another program defines`
}

/** The terms of an index as the dialect writes them; every index ends in the row id. */
function orderOf(connection: Connection, index: unknown, row: readonly string[]): readonly string[] {
  const columns = connection.all('select name, "desc", coll from pragma_index_xinfo(?) where key = 1 order by seqno', [
    index,
  ])
  const other = columns.findIndex(([name, , collation]) => name === null || collation !== 'BINARY')
  const known = other === -1 ? [...columns, ...row.map((name) => [name, 0])] : columns.slice(0, other)
  return known.map(([name, isDescending]) => identifier(name as string) + (isDescending === 1 ? ' desc' : ''))
}

/** `default null` is none. */
const isNull = (defaultValue: unknown): boolean => defaultValue === null || /^null$/i.test(String(defaultValue))

/** An INTEGER PRIMARY KEY is the row id, unless it has an index: in a table without row ids, and where it is descending. */
const isRowId = (key: readonly Row[]): boolean => key.length === 1 && String(key[0]?.[1]).toUpperCase() === 'INTEGER'

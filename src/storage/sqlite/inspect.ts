import type { Row } from '../driver.ts'
import type { ExistingColumn, ExistingTable } from '../schema.ts'
import type { Connection } from './connection.ts'

/** What the database holds, as far as planning its schema goes. */
export function inspect(connection: Connection): ReadonlyMap<string, ExistingTable> {
  const tables = connection.all(
    `select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
    [],
  )
  return new Map(tables.map(([name, sql]) => [name as string, tableOf(connection, name as string, sql as string)]))
}

function tableOf(connection: Connection, name: string, definition: string): ExistingTable {
  const info = connection.all('select name, type, "notnull", pk from pragma_table_info(?) order by cid', [name])
  const columns = info.map(
    ([column, type, notNull]): ExistingColumn => ({
      name: column as string,
      type: type as string,
      nullable: notNull === 0,
      holdsJson: definition.includes(`check (json_valid("${column as string}"))`),
    }),
  )
  const key = info.filter(([, , , place]) => place !== 0).sort((a, b) => Number(a[3]) - Number(b[3]))
  const indexes = connection.all('select name, "unique", partial from pragma_index_list(?)', [name])
  const columnsOf = (index: unknown) =>
    connection.all('select name from pragma_index_info(?) order by seqno', [index]).map(([column]) => column as string)
  const links = connection.all('select id, "from", "table" from pragma_foreign_key_list(?) order by id, seq', [name])
  const byLink = Map.groupBy(links, ([id]) => id)
  const keyColumns = key.map(([column]) => column as string)
  return {
    name,
    columns: new Map(columns.map((column) => [column.name, column])),
    key: keyColumns,
    uniques: [
      ...(keyColumns.length > 0 ? [keyColumns] : []),
      ...indexes.filter(([, unique, partial]) => unique === 1 && partial === 0).map(([index]) => columnsOf(index)),
    ],
    orders: indexes
      .filter(([, , partial]) => partial === 0)
      .map(([index]) => orderOf(connection, index, isRowId(key) ? keyColumns : [])),
    indexes: new Set(indexes.map(([index]) => index as string)),
    foreignKeys: [...byLink.values()].map((rows) => ({
      columns: rows.map(([, from]) => from as string),
      table: rows[0]?.[2] as string,
    })),
  }
}

/** By which columns an index orders as we do; every one ends in the row. */
function orderOf(connection: Connection, index: unknown, row: readonly string[]): readonly string[] {
  const columns = connection.all('select name, "desc", coll from pragma_index_xinfo(?) where key = 1 order by seqno', [
    index,
  ])
  const other = columns.findIndex(
    ([name, isDescending, collation]) => name === null || isDescending === 1 || collation !== 'BINARY',
  )
  const names = columns.map(([name]) => name as string)
  return other === -1 ? [...names, ...row] : names.slice(0, other)
}

/** An integer key is the number of the row, in which every index ends. */
const isRowId = (key: readonly Row[]): boolean => key.length === 1 && String(key[0]?.[1]).toUpperCase() === 'INTEGER'

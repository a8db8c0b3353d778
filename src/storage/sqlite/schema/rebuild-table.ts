import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'
import { jsonCheck, jsonCheckWithoutNull } from './json-check.ts'

const { identifier } = sqliteDialect
const rebuiltTable = 'keelson_rebuilt'
/** Everything before the columns; a name is quoted in any of four ways. */
const head = /^create table (?:"(?:[^"]|"")*"|'(?:[^']|'')*'|\[[^\]]*\]|`[^`]*`|[^\s(]+)/i

/**
 * Replaces the JSON checks of earlier versions. SQLite cannot change a check without a name, so the table is copied as in
 * https://sqlite.org/lang_altertable.html#otheralter, with its key sequence, indexes and triggers. Requires a transaction, and
 * foreign keys that are switched off.
 */
export function rebuildTable(connection: Connection, table: string): void {
  const run = (text: string, ...values: readonly unknown[]) => connection.all(text, values)
  const [[definition] = []] = run(`select sql from sqlite_schema where type = 'table' and name = ?`, table)
  const dependents = run(
    `select sql from sqlite_schema where tbl_name = ? and type <> 'table' and sql is not null`,
    table,
  )
  const stored = run('select name from pragma_table_xinfo(?) where hidden = 0', table).map(([name]) => name as string)
  const columns = stored.map(identifier).join(', ')

  run(
    stored.reduce(
      withCurrentCheck,
      (definition as string).replace(head, () => `create table ${rebuiltTable}`),
    ),
  )
  run(`insert into ${rebuiltTable} (${columns}) select ${columns} from ${identifier(table)}`)
  if (run(`select 1 from sqlite_schema where name = 'sqlite_sequence'`).length > 0) {
    run('delete from sqlite_sequence where name = ?', rebuiltTable)
    run(
      'insert into sqlite_sequence (name, seq) select ?, seq from sqlite_sequence where name = ?',
      rebuiltTable,
      table,
    )
  }
  run(`drop table ${identifier(table)}`)
  run('pragma legacy_alter_table = on') // otherwise a view that reads the dropped table prevents the renaming
  try {
    run(`alter table ${rebuiltTable} rename to ${identifier(table)}`)
  } finally {
    run('pragma legacy_alter_table = off')
  }
  for (const [statement] of dependents) run(statement as string)
}

const withCurrentCheck = (definition: string, column: string): string =>
  definition.replaceAll(jsonCheckWithoutNull(identifier(column)), () => jsonCheck(identifier(column)))

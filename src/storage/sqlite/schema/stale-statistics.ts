import type { Model } from '../../../model/model.ts'
import type { Connection } from '../client/connection.ts'
import { retryWhileBusy } from '../client/retry-while-busy.ts'
import { sqliteDialect } from '../dialect.ts'

const { identifier } = sqliteDialect

/** The planner takes more rows than these for a large table, and then its plans seldom change with the number. */
const fewRows = 10_000
/** As in `pragma optimize`, which would also count all rows of tables without an index, the log among them. */
const growth = 10
/** Of a smaller table, every plan is fast. */
const smallTableRows = 1000
/** The rows that are read of each index. The number of all rows is counted: 8 ms for a million. */
const analysisLimit = 1000

/**
 * The tables that have grown since another program ran `analyze`. The planner reads a table as a whole where its statistics
 * promise a few rows, for each record into which its rows are embedded. Without statistics it uses the indexes.
 */
export function staleStatistics(connection: Connection, models: readonly Model[]): readonly string[] {
  if (connection.all(`select 1 from sqlite_schema where name = 'sqlite_stat1'`, []).length === 0) return []
  // The first number of an entry: those of indexes that contain a part of the rows are lower.
  const rows = connection.all(
    'select lower(tbl), max(cast(stat as integer)) from sqlite_stat1 where idx is not null group by 1',
    [],
  )
  const analyzed = new Map(rows.map(([table, count]) => [table, Number(count)]))
  const tables = new Set(models.map(({ table }) => table))
  return [...tables].filter((table) => {
    const count = analyzed.get(table.toLowerCase())
    return (
      count !== undefined && count < fewRows && hasMoreThan(connection, table, Math.max(count * growth, smallTableRows))
    )
  })
}

function hasMoreThan(connection: Connection, table: string, rows: number): boolean {
  const [[count] = []] = connection.all(
    `select count(*) from (select 1 from ${identifier(table)} limit ${rows + 1})`,
    [],
  )
  return Number(count) > rows
}

/** Called before the other connections have read the statistics, which they do once. */
export async function renewStatistics(
  connection: Connection,
  models: readonly Model[],
  busyTimeoutMs: number,
): Promise<void> {
  try {
    connection.exec(`pragma analysis_limit = ${analysisLimit}`)
    for (const table of staleStatistics(connection, models))
      await retryWhileBusy(() => connection.exec(`analyze main.${identifier(table)}`), busyTimeoutMs)
  } catch {
    // Locked for long, or read-only: everything is served, and `statisticsWarnings` names the tables.
  }
}

export function statisticsWarnings(connection: Connection, models: readonly Model[]): readonly string[] {
  const tables = staleStatistics(connection, models).map(identifier)
  return tables.map(
    (table) =>
      `SQLite has statistics of ${table} from when it had less than a tenth of its rows, and queries may take a hundred times as long as without them: analyze ${table}`,
  )
}

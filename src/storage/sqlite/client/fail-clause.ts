import type { Connection } from './connection.ts'

/**
 * A trigger or constraint with FAIL keeps the rows that the statement changed before it failed. Only schemas that use
 * it need a savepoint for single statements.
 */
export const hasFailClause = (connection: Connection): boolean =>
  connection.all(`select 1 from sqlite_schema where sql like '%fail%' limit 1`, []).length > 0

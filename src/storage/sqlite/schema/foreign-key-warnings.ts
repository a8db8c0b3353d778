import type { Model } from '../../../model/model.ts'
import { DatabaseError } from '../../driver.ts'
import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'
import { sqliteError } from '../errors.ts'

const { identifier } = sqliteDialect

/**
 * The tables of a program that does not enforce foreign keys may have one to a table that does not exist, or to a column that is
 * not unique. SQLite reports it where it compiles a write of a table that the foreign key concerns.
 */
export const foreignKeyWarnings = (connection: Connection, models: readonly Model[]): readonly string[] =>
  models.flatMap(({ name, table }) => {
    const problem =
      problemOf(connection, `insert into ${identifier(table)} default values`) ??
      problemOf(connection, `delete from ${identifier(table)}`)
    return problem === undefined
      ? []
      : `${name}: SQLite refuses writes of the table "${table}", because of a foreign key: ${problem}`
  })

function problemOf(connection: Connection, statement: string): string | undefined {
  try {
    connection.prepare(statement)
    return undefined
  } catch (error) {
    const known = sqliteError(error)
    if (known instanceof DatabaseError && ['missing', 'unknown'].includes(known.reason.kind)) return known.message
    throw error
  }
}

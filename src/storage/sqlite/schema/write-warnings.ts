import type { Model } from '../../../model/model.ts'
import { DatabaseError } from '../../driver.ts'
import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'
import { sqliteError } from '../errors.ts'

const { identifier } = sqliteDialect

/**
 * The tables of a program that does not enforce foreign keys may have one to a table that does not exist, or to a column that is
 * not unique, and their triggers may call functions that this program defines. SQLite reports both where it compiles a write of
 * a table that they concern.
 */
export const writeWarnings = (connection: Connection, models: readonly Model[]): readonly string[] =>
  models.flatMap(({ name, table }) => {
    const problem =
      problemOf(connection, `insert into ${identifier(table)} default values`) ??
      problemOf(connection, `delete from ${identifier(table)}`)
    return problem === undefined
      ? []
      : `${name}: SQLite refuses writes of the table "${table}", because of a ${causeOf(connection, table, problem)}: ${problem}`
  })

function causeOf(connection: Connection, table: string, problem: string): string {
  const targets = connection.all('select "table" from pragma_foreign_key_list(?)', [table])
  const isForeignKey =
    problem.startsWith('foreign key mismatch') ||
    targets.some(([target]) => problem === `no such table: main.${target}`)
  return isForeignKey ? 'foreign key' : 'trigger'
}

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

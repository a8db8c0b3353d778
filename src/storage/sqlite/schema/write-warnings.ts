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
  models.flatMap((model) => {
    const { name, table } = model
    const statements = [
      `insert into ${identifier(table)} default values`,
      ...updatesOf(model),
      `delete from ${identifier(table)}`,
    ]
    const problem = statements.map((statement) => problemOf(connection, statement)).find((found) => found !== undefined)
    return problem === undefined
      ? []
      : `${name}: SQLite refuses writes of the table "${table}", because of ${causeOf(connection, table, problem)}: ${problem}`
  })

/** Of every column that the service writes: a trigger may be one of certain columns. */
function updatesOf({ table, attributes }: Model): readonly string[] {
  const written = [...attributes.values()].filter(({ isPrimaryKey, stored }) => !isPrimaryKey && !stored.isComputed)
  const values = written.map(({ column }) => `${identifier(column)} = null`)
  return values.length === 0 ? [] : [`update ${identifier(table)} set ${values.join(', ')}`]
}

function causeOf(connection: Connection, table: string, problem: string): string {
  const targets = connection.all('select "table" from pragma_foreign_key_list(?)', [table])
  const isForeignKey =
    problem.startsWith('foreign key mismatch') ||
    targets.some(([target]) => problem === `no such table: main.${target}`)
  if (isForeignKey) return 'a foreign key'
  // SQLite says so of an index, a check, a default or a computed column, and of a function in a trigger otherwise.
  if (problem.startsWith('unknown function: ')) return 'an expression in its definition'
  return problem.startsWith('no such collation sequence: ') ? 'a collation' : 'a trigger'
}

function problemOf(connection: Connection, statement: string): string | undefined {
  try {
    connection.prepare(statement)
    return undefined
  } catch (error) {
    const known = sqliteError(error)
    if (known instanceof DatabaseError && ['missing', 'refused', 'unknown'].includes(known.reason.kind))
      return known.message
    throw error
  }
}

import type { Model } from '../../../model/model.ts'
import type { ExistingTable } from '../../schema.ts'
import type { Connection } from '../client/connection.ts'
import { sqliteDialect } from '../dialect.ts'

const { identifier } = sqliteDialect

/** A foreign key without an index: for each record that is destroyed, SQLite reads the whole table that has it. */
export interface UnindexedReference {
  readonly model: Model
  readonly table: string
  readonly columns: readonly string[]
}

export function unindexedReferences(
  connection: Connection,
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): readonly UnindexedReference[] {
  return [...tables.values()].flatMap((table) =>
    table.foreignKeys.flatMap((foreignKey) => {
      const referred = models.filter((model) => model.table === foreignKey.table)
      if (referred.length === 0 || isFoundByIndex(connection, table, foreignKey, tables)) return []
      return referred.map((model) => ({ model, table: table.name, columns: foreignKey.columns }))
    }),
  )
}

/**
 * Asked of SQLite, as it looks for the rows that refer to a record: an index may be one of the rows with a reference alone, and one
 * with another collation than that of the column that is referred to does not serve.
 */
function isFoundByIndex(
  connection: Connection,
  { name }: ExistingTable,
  { columns, table, targets }: ExistingTable['foreignKeys'][number],
  tables: ReadonlyMap<string, ExistingTable>,
): boolean {
  const keys = targets.length > 0 ? targets : (tables.get(table)?.key ?? [])
  if (keys.length !== columns.length) return true // no record can be destroyed
  const compared = columns.map((column, at) => `p.${identifier(keys[at] as string)} = c.${identifier(column)}`)
  try {
    const steps = connection.all(
      `explain query plan select 1 from ${identifier(table)} p cross join ${identifier(name)} c where ${compared.join(' and ')}`,
      [],
    )
    return steps.some(([, , , step]) => /^SEARCH c (?!USING AUTOMATIC)/.test(String(step)))
  } catch {
    return true // it names a column that does not exist, or a collation of another program
  }
}

/** The rows of a table that are read in a few milliseconds. */
const fewRows = 10_000

/** Small tables are not reported. */
export const referenceWarnings = (
  connection: Connection,
  references: readonly UnindexedReference[],
): readonly string[] =>
  references
    .filter(({ table }) => {
      const [row] = connection.all(`select count(*) from (select 1 from ${identifier(table)} limit ${fewRows + 1})`, [])
      return Number(row?.[0]) > fewRows
    })
    .map(({ model, table, columns }) => {
      const index = identifier([table, ...columns].join('_'))
      const statement = `create index ${index} on ${identifier(table)} (${columns.map(identifier).join(', ')})`
      return `${model.name}: for each record that is destroyed, SQLite reads the whole table "${table}", because its foreign key has no index: ${statement}`
    })

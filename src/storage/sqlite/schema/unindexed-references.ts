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
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
): readonly UnindexedReference[] {
  return [...tables.values()].flatMap((table) =>
    table.foreignKeys
      .filter(({ columns }) => !hasIndexOf(columns, table))
      .flatMap(({ table: target, columns }) =>
        models.filter((model) => model.table === target).map((model) => ({ model, table: table.name, columns })),
      ),
  )
}

/** Any of the columns bounds the rows that are read. */
const hasIndexOf = (columns: readonly string[], { key: [first], orders }: ExistingTable): boolean =>
  columns.some(
    (column) =>
      column === first || orders.some(([term]) => term === identifier(column) || term === `${identifier(column)} desc`),
  )

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

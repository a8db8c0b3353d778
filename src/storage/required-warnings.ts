import type { Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Query } from './driver.ts'
import { ifReadable } from './if-readable.ts'
import type { ExistingTable } from './schema.ts'

/**
 * No large table is read at a start. Rows from before the attribute was required are among the oldest, which a table usually
 * has first.
 */
const rowsRead = 1_000

/** Warnings of rows without a value of a required attribute, as after it was added to a table with rows, or was not required before. */
export async function requiredWarnings(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
  { identifier }: Pick<Dialect, 'identifier'>,
  query: Query,
): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const { name, table, attributes, isJunction } of models) {
    const existing = tables.get(table)
    if (isJunction || !existing?.isTable) continue
    const nullable = [...attributes.values()].filter(
      ({ required, isPrimaryKey, column }) => required && !isPrimaryKey && existing.columns.get(column)?.nullable,
    )
    if (nullable.length === 0) continue
    const columns = nullable.map(({ column }) => identifier(column))
    const hasNull = columns.map((column) => `max(case when ${column} is null then 1 else 0 end)`).join(', ')
    const first = `select ${columns.join(', ')} from ${identifier(table)} limit ${rowsRead}`
    const [found = []] = await ifReadable(() => query(`select ${hasNull} from (${first}) as first_rows`, []))
    for (const [index, attribute] of nullable.entries())
      if (Number(found[index]) === 1)
        warnings.push(
          `${name}.${attribute.name}: the table "${table}" contains rows without a value of this required attribute, which are answered with null. Give each a value: update ${identifier(table)} set ${columns[index]} = … where ${columns[index]} is null`,
        )
  }
  return warnings
}

import type { Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Query } from './driver.ts'
import type { ExistingTable } from './schema.ts'

/** Tables of other programs may contain rows without a key: a text key of SQLite accepts null, and so does a unique column. */
export async function nullKeyWarnings(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
  { identifier }: Pick<Dialect, 'identifier'>,
  query: Query,
): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const { name, table, primaryKey, isJunction } of models) {
    const existing = tables.get(table)
    if (isJunction || !existing?.isTable || !existing.columns.get(primaryKey.column)?.nullable) continue
    const rows = `from ${identifier(table)} where ${identifier(primaryKey.column)} is null`
    const [found] = await query(`select 1 ${rows} limit 1`, [])
    if (found)
      warnings.push(
        `${name}: the table "${table}" contains rows without a value of its key "${primaryKey.column}": no request reads or changes one of them alone, and pages and live queries may leave them out. Give each a value, or delete them: delete ${rows}`,
      )
  }
  return warnings
}

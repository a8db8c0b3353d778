import type { Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Query } from './driver.ts'
import { ifReadable } from './if-readable.ts'
import type { ExistingTable } from './schema.ts'

/** Warnings of rows whose keys no request can name: other programs may have stored null, or an integer that a number rounds. */
export async function keyWarnings(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
  { identifier }: Pick<Dialect, 'identifier'>,
  query: Query,
): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const { name, table, primaryKey, isJunction } of models) {
    const existing = tables.get(table)
    if (isJunction || !existing) continue
    const key = identifier(primaryKey.column)
    const from = `from ${identifier(table)}`
    // A text key of SQLite accepts null, and so does a unique column.
    if (existing.isTable && existing.columns.get(primaryKey.column)?.nullable) {
      const rows = `${from} where ${key} is null`
      const [found] = await ifReadable(() => query(`select 1 ${rows} limit 1`, []))
      if (found)
        warnings.push(
          `${name}: the table "${table}" contains rows without a value of its key "${primaryKey.column}": no request reads or changes one of them alone, and pages and live queries may leave them out. Give each a value, or delete them: delete ${rows}`,
        )
    }
    if (existing.canBeUnique && ['integer', 'real'].includes(primaryKey.type.storedAs)) {
      // The least and the greatest are the ends of an index, also where the planner knows nothing of the table.
      const end = (side: 'max' | 'min'): string => `select cast(${side}(${key}) as text) ${from}`
      const ends = await ifReadable(() => query(`${end('max')} union all ${end('min')}`, []))
      if (ends.some(([value]) => Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER))
        warnings.push(
          `${name}: the table "${table}" contains rows whose key "${primaryKey.column}" is beyond 2^53, which a number does not hold: no request reads or changes one of them alone, and associations do not find them. Declare the key as { type: 'bigint' }`,
        )
    }
  }
  return warnings
}

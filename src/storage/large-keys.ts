import type { Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { DatabaseError, type Query, type Row } from './driver.ts'
import type { ExistingTable } from './schema.ts'

/** Tables of other programs may contain integers as keys that a number rounds. */
export async function largeKeyWarnings(
  models: readonly Model[],
  tables: ReadonlyMap<string, ExistingTable>,
  { identifier }: Pick<Dialect, 'identifier'>,
  query: Query,
): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const { name, table, primaryKey, isJunction } of models) {
    const isNumber = ['integer', 'real'].includes(primaryKey.type.storedAs)
    if (isJunction || !isNumber || !tables.get(table)?.canBeUnique) continue
    // The least and the greatest are the ends of an index, also where the planner knows nothing of the table.
    const end = (side: 'max' | 'min'): string =>
      `select cast(${side}(${identifier(primaryKey.column)}) as text) from ${identifier(table)}`
    const ends = await keysOf(() => query(`${end('max')} union all ${end('min')}`, []))
    if (ends.some(([key]) => Math.abs(Number(key)) > Number.MAX_SAFE_INTEGER))
      warnings.push(
        `${name}: the table "${table}" contains rows whose key "${primaryKey.column}" is beyond 2^53, which a number does not hold: no request reads or changes one of them alone, and associations do not find them. Declare the key as { type: 'bigint' }`,
      )
  }
  return warnings
}

/** Of a damaged table none: requests that need it are refused, and others are not. */
async function keysOf(read: () => ReturnType<Query>): Promise<readonly Row[]> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof DatabaseError && error.reason.kind === 'damaged') return []
    throw error
  }
}

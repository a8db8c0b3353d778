import type { Query } from '../driver.ts'

/** What a table takes on the disk with its indexes, and with rows that were deleted until the server has used their space again. */
export async function relationSize(query: Query, table: string): Promise<number> {
  const [row] = await query('select pg_total_relation_size($1)', [table])
  return Number(row?.[0])
}

/** The same, asked for only when `writes` tells that this process has written since. */
export function sizeAfterWrites(query: Query, table: string, writes: () => number): () => Promise<number> {
  let [seen, size] = [0, 0]
  return async () => {
    const now = writes()
    if (now !== seen) [seen, size] = [now, await relationSize(query, table)]
    return size
  }
}

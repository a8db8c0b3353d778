import type { Model } from '../../../model/model.ts'
import type { Query } from '../../driver.ts'
import { arrayOf, quoteName } from '../client/text-form.ts'

/** Of a smaller table, every plan is fast. */
const fewBytes = 1_000_000

/** `pg_stats` hides the columns that the role may not read, and those of tables whose policies apply to it. */
const unanalyzed = `
select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
where c.relname = any($1::text[]) and c.relkind in ('r', 'p', 'm') and pg_table_is_visible(c.oid)
  and has_any_column_privilege(c.oid, 'select') and not row_security_active(c.oid)
  and pg_relation_size(c.oid) + (select coalesce(sum(pg_relation_size(relid)), 0) from pg_partition_tree(c.oid)) > ${fewBytes}
  and not exists (select 1 from pg_stats s where s.schemaname = n.nspname and s.tablename = c.relname)
order by c.relname`

/** Autovacuum analyzes a table about a minute after rows were written, but no partitioned one, and none where it is off. */
export async function statisticsWarnings(models: readonly Model[], query: Query): Promise<readonly string[]> {
  const rows = await query(unanalyzed, [arrayOf(models.map(({ table }) => table))])
  if (rows.length === 0) return []
  const names = rows.map(([name]) => quoteName(name as string)).join(', ')
  return [
    `PostgreSQL has no statistics of ${names}, and queries may take a hundred times as long as with them: analyze ${names}`,
  ]
}

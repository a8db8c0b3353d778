import type { Model } from '../../../model/model.ts'
import type { Query } from '../../driver.ts'
import { arrayOf, quoteName } from '../client/text-form.ts'

/** Of a smaller table, every plan is fast. */
const fewBytes = 1_000_000

/**
 * `pg_stats` hides the columns that the role may not read, and those of tables whose policies apply to it. The size of a table that
 * another program has locked, or is about to, would be known when the lock is released: it counts as none.
 */
const unanalyzed = `
with recursive unanalyzed as materialized (
  select c.oid, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relname = any($1::text[]) and c.relkind in ('r', 'p', 'm') and pg_table_is_visible(c.oid)
    and has_any_column_privilege(c.oid, 'select') and not row_security_active(c.oid)
    and not exists (select 1 from pg_stats s where s.schemaname = n.nspname and s.tablename = c.relname)
), parts (whole, part) as (
  select oid, oid from unanalyzed
  union all select whole, c.oid from parts join pg_inherits on inhparent = part join pg_class c on c.oid = inhrelid and c.relispartition
), locked as materialized (
  select distinct relation from pg_locks
  where mode = 'AccessExclusiveLock' and database = (select oid from pg_database where datname = current_database())
)
select relname from unanalyzed join parts on whole = oid left join locked on relation = part
group by relname having sum(case when relation is null then pg_relation_size(part) end) > ${fewBytes} order by relname`

/** Autovacuum analyzes a table about a minute after rows were written, but no partitioned one, and none where it is off. */
export async function statisticsWarnings(models: readonly Model[], query: Query): Promise<readonly string[]> {
  const rows = await query(unanalyzed, [arrayOf(models.map(({ table }) => table))])
  if (rows.length === 0) return []
  const names = rows.map(([name]) => quoteName(name as string)).join(', ')
  return [
    `PostgreSQL has no statistics of ${names}, and queries may take a hundred times as long as with them: analyze ${names}`,
  ]
}

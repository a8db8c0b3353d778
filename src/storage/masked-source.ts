import { type Criteria, matchAll, type Sort } from '../criteria/criteria.ts'
import { columnOf, guarded, sortedBy, toSql, valuesAmong } from '../criteria/to-sql.ts'
import type { Attribute, BelongsTo, Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import { derivedColumns } from './raw-sources.ts'

/** Where a statement selects from, and the criteria that remain to be said of it. */
export interface Source {
  readonly from: Sql
  readonly criteria: Criteria
}

/** Whether some values depend on the record: then they are null before anything is compared with them or sorted by them. */
export const isMasked = ({ masks, sort }: Criteria): boolean =>
  masks !== undefined || sort.some(({ mask, throughMask }) => mask !== undefined || throughMask !== undefined)

/**
 * The table, or a derived table of the same name in which masked values are null. The condition is part of it, because
 * rules ask about the values themselves. Databases flatten such a select, so that the indexes of other columns serve.
 */
export function sourceOf(
  model: Model,
  criteria: Criteria,
  dialect: Dialect,
  within?: Sql,
  among = valuesAmong(model, criteria.where, dialect),
): Source {
  const table = dialect.identifier(model.table)
  if (!isMasked(criteria)) return { from: raw(table), criteria }
  const { masks, sort, where } = criteria
  const columns = [...model.attributes.values()].map((attribute) => {
    const column = dialect.identifier(attribute.column)
    const mask = masks?.get(attribute) ?? sort.find((item) => item.attribute === attribute && !item.through)?.mask
    return mask ? maskedColumn(column, toSql(mask, model, dialect, among), column) : raw(column)
  })
  const sorted = sort.map((item, index) => sortColumn(item, index, model, dialect))
  const derived = derivedColumns(model, criteria.select, masks, dialect)
  const selected = join([...columns, ...derived, ...sorted.flatMap(({ column }) => (column ? [column] : []))], ', ')
  const conditions = [
    ...(within ? [within] : []),
    ...(where === matchAll ? [] : [sql`(${toSql(where, model, dialect, among)})`]),
  ]
  const condition =
    conditions.length === 0 ? raw('') : sql` where ${guarded(join(conditions, ' and '), model, where, dialect)}`
  return {
    from: sql`${raw('(select ')}${selected}${raw(` from ${table}`)}${condition}${raw(`) ${table}`)}`,
    criteria: { ...criteria, where: matchAll, sort: sorted.map(({ sort }) => sort) },
  }
}

const maskedColumn = (column: string, mask: Sql, name: string): Sql =>
  sql`${raw('case when ')}${mask}${raw(` then ${column} end as ${name}`)}`

/** A sort term over the derived table. The value of a related record becomes a column of it. */
function sortColumn(
  item: Sort,
  index: number,
  model: Model,
  dialect: Dialect,
): { readonly sort: Sort; readonly column?: Sql } {
  const { attribute, through, mask, direction } = item
  const { computed, ...stored } = attribute
  const nullable: Attribute = { ...stored, nullable: true }
  if (!through && !computed) return { sort: { attribute: mask ? nullable : attribute, direction } }
  const name = `keelson_t${index}`
  const value = through ? relatedValue(item, through, model, dialect) : raw(columnOf(attribute, dialect))
  const shown = mask
    ? sql`${raw('case when ')}${toSql(mask, model, dialect)}${raw(' then ')}${value}${raw(' end')}`
    : value
  return { sort: { attribute: { ...nullable, column: name }, direction }, column: sql`${shown}${raw(` as ${name}`)}` }
}

/** The value of the record that a to-one association refers to. */
function relatedValue(
  { attribute, direction, throughMask }: Sort,
  through: BelongsTo,
  model: Model,
  dialect: Dialect,
): Sql {
  if (!throughMask) return raw(sortedBy({ attribute, through, direction }, model, dialect))
  const { target, foreignKey } = through
  const column = attribute.computed ? 'keelson_c' : dialect.identifier(attribute.column)
  const selected = attribute.computed ? `${columnOf(attribute, dialect)} as ${column}` : column
  const key = dialect.identifier(target.primaryKey.column)
  const own = `${dialect.identifier(model.table)}.${dialect.identifier(foreignKey.column)}`
  const readable = sql` where (${toSql(throughMask, target, dialect)})`
  return sql`${raw(`(select keelson_s.${column} from (select ${key === column ? key : `${key}, ${selected}`} from ${dialect.identifier(target.table)}`)}${readable}${raw(`) keelson_s where keelson_s.${key} = ${own})`)}`
}

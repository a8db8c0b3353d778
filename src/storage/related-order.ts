import type { Criteria } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import type { Association } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import type { Row } from './driver.ts'
import { isMasked } from './masked-source.ts'

/**
 * Whether the statement for related records leaves their order to the database: it returns them by the number of their key,
 * and those of one key by their own, unless the planner chooses another way.
 */
export function comesInOrder({ kind, target }: Association, criteria: Criteria, { capabilities }: Dialect): boolean {
  if (!capabilities.joinsInOrder || isMasked(criteria)) return false
  if (kind === 'belongsTo') return true
  const { sort, select } = criteria
  const [first] = sort
  const isByKey =
    sort.length === 1 && first?.attribute === target.primaryKey && !first.through && first.direction === 'asc'
  return isByKey && target.primaryKey.type.storedAs === 'integer' && storedSelection(select).includes(target.primaryKey)
}

/** The rows in that order, sorted where the planner has chosen another way. */
export function inOrder(
  rows: readonly Row[],
  association: Association,
  criteria: Criteria,
  dialect: Dialect,
): readonly Row[] {
  if (!comesInOrder(association, criteria, dialect)) return rows
  const { kind, target } = association
  const stored = storedSelection(criteria.select)
  const group = stored.length
  const key = kind === 'belongsTo' ? group : stored.indexOf(target.primaryKey)
  const compare = (a: Row, b: Row): number => Number(a[group]) - Number(b[group]) || Number(a[key]) - Number(b[key])
  for (let index = 1; index < rows.length; index++)
    if (compare(rows[index - 1] as Row, rows[index] as Row) > 0) return rows.toSorted(compare)
  return rows
}

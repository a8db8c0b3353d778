import { type Comparison, type Condition, isMatchAll, type Sort } from '../criteria/criteria.ts'
import type { QueryShape } from './driver.ts'

const ranges: readonly string[] = ['<', '<=', '>', '>=', 'startsWith']

/**
 * The columns of an index that would bound the rows that a query reads, as `indexes` of a model declares them: attributes
 * that are compared for equality, then the order or a range. Undefined where no index can. `keyEnds` tells that the database ends
 * each index of the model with its key.
 */
export function adviseIndex({ model, where, sort }: QueryShape, keyEnds: boolean): readonly string[] | undefined {
  const comparisons = required(where)
  const equal = named(comparisons, ['=', 'in'])
  const [range] = named(comparisons, ranges).filter((name) => !equal.includes(name))
  const order = orderOf(sort, model.primaryKey.name, equal, keyEnds)
  // Without equality, an order bounds the rows only if every row of it is wanted.
  const isWanted = equal.length > 0 || comparisons.length === 0 || order[0]?.split(' ')[0] === range
  const rest = order.length > 0 && isWanted ? order : range === undefined ? [] : [range]
  const columns = [...equal, ...rest]
  return columns.length === 0 || (comparisons.length === 0 && !isMatchAll(where)) ? undefined : columns
}

/** The comparisons that every record of the result fulfils. */
function required(where: Condition): readonly Comparison[] {
  if (where.kind === 'compare') return where.attribute.computed ? [] : [where]
  return where.kind === 'and' ? where.conditions.flatMap(required) : []
}

const named = (comparisons: readonly Comparison[], operators: readonly string[]): readonly string[] => [
  ...new Set(
    comparisons.filter(({ operator }) => operators.includes(operator.name)).map(({ attribute }) => attribute.name),
  ),
]

/** The key breaks ties; an attribute of a related record is not in the table. */
function orderOf(
  sort: readonly Sort[],
  primaryKey: string,
  equal: readonly string[],
  keyEnds: boolean,
): readonly string[] {
  const asked = sort.filter(({ attribute }) => !equal.includes(attribute.name))
  if (asked.some(({ through, attribute }) => through || attribute.computed)) return []
  const own = asked.filter(({ attribute }) => attribute.name !== primaryKey)
  if (own.length === 0) return []
  return (keyEnds ? own : asked).map(({ attribute, direction }) =>
    direction === 'desc' ? `${attribute.name} DESC` : attribute.name,
  )
}

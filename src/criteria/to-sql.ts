import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import type { Condition, Sort } from './criteria.ts'

/**
 * How a database says a condition. A comparison with null is null there, which a WHERE takes for false; only under
 * `not` does the difference show, and only there is it settled: `is not true` would keep an index from being used.
 */
export function toSql(condition: Condition, dialect: Dialect): Sql {
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const { kind, conditions } = condition
      if (conditions.length === 0) return raw(kind === 'and' ? '1 = 1' : '1 = 0')
      return join(conditions.map((part) => nested(part, dialect)), ` ${kind} `)
    }
    case 'not':
      return sql`(${toSql(condition.condition, dialect)}) is not true`
    case 'compare': {
      const { attribute, modifier, operand } = condition
      return modifier.sql(dialect.identifier(attribute.column), operand, attribute, dialect)
    }
  }
}

/** Every part of a combination stands in brackets, so that no operator's rank has to be remembered. */
function nested(condition: Condition, dialect: Dialect): Sql {
  return condition.kind === 'compare' ? toSql(condition, dialect) : sql`(${toSql(condition, dialect)})`
}

export const orderBy = (sorts: readonly Sort[], dialect: Dialect): string =>
  sorts
    .map(({ attribute, direction }) => dialect.order(attribute, dialect.identifier(attribute.column), direction))
    .join(', ')

import type { Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import type { Condition, Related, Sort } from './criteria.ts'

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
      return join(
        conditions.map((part) => nested(part, dialect)),
        ` ${kind} `,
      )
    }
    case 'not':
      return sql`(${toSql(condition.condition, dialect)}) is not true`
    case 'related':
      return related(condition, dialect)
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

/**
 * A list of keys that the other side gives. It never speaks of the outer row, so the names of columns need no table in
 * front, and a planner may begin at either end.
 */
function related({ association, condition }: Related, dialect: Dialect): Sql {
  const quote = dialect.identifier
  const { target } = association
  const owner = (column: string) => raw(quote(column))
  switch (association.kind) {
    case 'belongsTo':
      return sql`${owner(association.foreignKey.column)} in (${keysOf(target, target.primaryKey.column, condition, dialect)})`
    case 'hasMany': {
      const key = association.via.references?.primaryKey.column as string
      return sql`${owner(key)} in (${keysOf(target, association.via.column, condition, dialect)})`
    }
    case 'manyToMany': {
      const { junction, near, far } = association
      const pairs = raw(`select ${quote(near.column)} from ${quote(junction.table)}`)
      const key = near.references?.primaryKey.column as string
      const members = keysOf(target, target.primaryKey.column, condition, dialect)
      return sql`${owner(key)} in (${pairs} where ${raw(quote(far.column))} in (${members}))`
    }
  }
}

const keysOf = (model: Model, column: string, condition: Condition, dialect: Dialect): Sql =>
  sql`${raw(`select ${dialect.identifier(column)} from ${dialect.identifier(model.table)} where `)}${toSql(condition, dialect)}`

/** What a record of `model` is sorted by, as SQL: a column, or that of the one it points to. */
export function sortedBy({ attribute, through }: Sort, model: Model, dialect: Dialect): string {
  const quote = dialect.identifier
  const column = quote(attribute.column)
  if (!through) return column
  const { target, foreignKey } = through
  const own = `${quote(model.table)}.${quote(foreignKey.column)}`
  return `(select r.${column} from ${quote(target.table)} r where r.${quote(target.primaryKey.column)} = ${own})`
}

export const orderBy = (sorts: readonly Sort[], model: Model, dialect: Dialect): string =>
  sorts.map((sort) => dialect.order(orderable(sort), sortedBy(sort, model, dialect), sort.direction)).join(', ')

/** Whoever points to nobody has no value there, even where those pointed to must have one. */
export const orderable = ({ attribute, through }: Sort): Sort['attribute'] =>
  through && !attribute.nullable ? { ...attribute, nullable: true } : attribute

import { expressionOf } from '../model/computed.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import type { Condition, Related, Sort } from './criteria.ts'

/**
 * Compiles a condition to SQL. In SQL a comparison with null is null, which WHERE treats as false; only `not` makes a
 * difference, so `is not true` is emitted only there: it prevents the use of an index.
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
      const { attribute, operator, operand, slot } = condition
      const compared = operator.sql(columnOf(attribute, dialect), operand, attribute, dialect)
      return slot === undefined ? compared : withSlots(compared, slot)
    }
  }
}

/** Stands in a compiled template for one of the values that a comparison binds. */
export class Slot {
  readonly comparison: number
  readonly value: number

  constructor(comparison: number, value: number) {
    this.comparison = comparison
    this.value = value
  }
}

const withSlots = ({ parts, values }: Sql, slot: number): Sql => ({
  parts,
  values: values.map((_, index) => new Slot(slot, index)),
})

/** Every part of a combination is parenthesized, so that operator precedence does not matter. */
function nested(condition: Condition, dialect: Dialect): Sql {
  return condition.kind === 'compare' ? toSql(condition, dialect) : sql`(${toSql(condition, dialect)})`
}

/**
 * `key in (select …)` over the related table. The subquery is not correlated: column names need no qualifier, and the
 * planner may start at either side.
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
      const members = sql`${raw(quote(far.column))} in (${keysOf(target, target.primaryKey.column, condition, dialect)})`
      return sql`${owner(key)} in (${pairs} where ${guarded(members, junction, condition, dialect)})`
    }
  }
}

function keysOf(model: Model, column: string, condition: Condition, dialect: Dialect): Sql {
  const head = raw(`select ${dialect.identifier(column)} from ${dialect.identifier(model.table)}`)
  return sql`${head} where ${guarded(toSql(condition, dialect), model, condition, dialect)}`
}

/**
 * The `where` of a select over the table of `model`, behind the term that can stop the statement: terms are evaluated
 * in order, and a row that fails one is not counted by the next. `condition` tells how expensive a row may be.
 */
export function guarded(where: Sql, model: Model, condition: Condition, dialect: Dialect): Sql {
  const guard = dialect.rowGuard?.(model, searchesText(condition))
  return guard === undefined ? where : sql`${raw(guard)} and (${where})`
}

/** Whether a value of any length is searched for each row. */
function searchesText(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(searchesText)
    case 'not':
    case 'related':
      return searchesText(condition.condition)
    case 'compare':
      return condition.operator.isTextSearch === true
  }
}

/** The quoted column of an attribute, or the expression of a computed one. `table` qualifies the columns in it. */
export const columnOf = (attribute: Attribute, dialect: Dialect, table = ''): string =>
  attribute.computed
    ? dialect.expression(
        attribute,
        expressionOf(attribute, dialect.name, (source) =>
          dialect.compared(source, `${table}${dialect.identifier(source.column)}`),
        ),
      )
    : `${table}${dialect.identifier(attribute.column)}`

/** The SQL expression of a sort term of `model`: a column, or a column of the record that a to-one refers to. */
export function sortedBy({ attribute, through }: Sort, model: Model, dialect: Dialect): string {
  if (!through) return columnOf(attribute, dialect)
  const quote = dialect.identifier
  const { target, foreignKey } = through
  const own = `${quote(model.table)}.${quote(foreignKey.column)}`
  return `(select ${columnOf(attribute, dialect, 'r.')} from ${quote(target.table)} r where r.${quote(target.primaryKey.column)} = ${own})`
}

export const orderBy = (sorts: readonly Sort[], model: Model, dialect: Dialect): string =>
  sorts.map((sort) => dialect.order(orderable(sort), sortedBy(sort, model, dialect), sort.direction)).join(', ')

/** A to-one may be null, so the sorted attribute is nullable even if it is required in the related model. */
export const orderable = ({ attribute, through }: Sort): Sort['attribute'] =>
  through && !attribute.nullable ? { ...attribute, nullable: true } : attribute

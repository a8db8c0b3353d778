import { expressionOf } from '../model/computed.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import { type Condition, leavesOf, matchAll, type Related, type Sort } from './criteria.ts'
import { keysIn } from './named-keys.ts'
import { isIn as isOneOf } from './operators/in.ts'

/** Selects the values of a column in the records that a statement is about. */
export type ValuesAmong = (column: string) => Sql

/** For the records whose keys `where` names. Undefined if it names none, and for databases that correlate subqueries. */
export function valuesAmong(model: Model, where: Condition, dialect: Dialect): ValuesAmong | undefined {
  const keys = dialect.capabilities.correlates ? undefined : keysIn(where)
  return keys && ((column) => selectOf(column, model, toSql(keys, model, dialect), dialect))
}

/** As `valuesAmong`, for the records that `where` selects. */
export const valuesWhere = (model: Model, where: Sql, dialect: Dialect): ValuesAmong | undefined =>
  dialect.capabilities.correlates ? undefined : (column) => selectOf(column, model, where, dialect)

/**
 * Compiles a condition on the records of a model to SQL, for a select from its table. `among`: the records for which the
 * condition is evaluated, where their keys are known. `isOfMembers`: it is required of the members of one record.
 */
export const toSql = (
  condition: Condition,
  model: Model,
  dialect: Dialect,
  among?: ValuesAmong,
  isOfMembers = false,
): Sql => compile(condition, { dialect, among, table: dialect.identifier(model.table), depth: 0, isOfMembers })

interface Scope {
  readonly dialect: Dialect
  readonly among?: ValuesAmong | undefined
  /** The name of the table in the select, quoted. */
  readonly table: string
  /** The number of selects that this one is nested in. */
  readonly depth: number
  /** Members are found by the record that they belong to: together they are no more than the table has. */
  readonly isOfMembers?: boolean
}

/**
 * In SQL a comparison with null is null, which WHERE treats as false; only `not` makes a difference, so `is not true` is
 * emitted only there: it prevents the use of an index.
 */
function compile(condition: Condition, scope: Scope): Sql {
  const { dialect } = scope
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const { kind, conditions } = condition
      if (conditions.length === 0) return raw(kind === 'and' ? '1 = 1' : '1 = 0')
      const keys = dialect.unindexed && keysIn(condition)
      const inner = kind === 'and' ? scope : { ...scope, isOfMembers: false }
      const isFilter = (part: Condition) => keys?.operator === isOneOf && keysIn(part) !== keys
      return join(
        conditions.map((part) => (isFilter(part) ? dialect.unindexed!(compile(part, inner)) : nested(part, inner))),
        ` ${kind} `,
      )
    }
    case 'not':
      return sql`(${compile(condition.condition, { ...scope, isOfMembers: false })}) is not true`
    case 'related':
      return dialect.capabilities.correlates ? exists(condition, scope) : related(condition, scope)
    case 'compare': {
      const { attribute, operator, operand, slot } = condition
      const compared = operator.sql(columnOf(attribute, dialect), operand, attribute, dialect)
      const bound = slot === undefined ? compared : withSlots(compared, slot)
      return scope.isOfMembers && dialect.frequent ? dialect.frequent(bound) : bound
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
const nested = (condition: Condition, scope: Scope): Sql =>
  condition.kind === 'compare' ? compile(condition, scope) : sql`(${compile(condition, scope)})`

/**
 * `exists (select …)` over the related table, with the key of the record. A planner joins it where it has to be true; elsewhere, as
 * below `or`, it chooses for how many records the related table is read whole. With `in` it has that choice only where it joins.
 */
function exists({ association, condition }: Related, { dialect, table, depth }: Scope): Sql {
  const { target } = association
  const name = dialect.identifier(`keelson_r${depth + 1}`)
  const column = (of: string, { column }: Attribute): string => `${of}.${dialect.identifier(column)}`
  const related = (model: Model, key: string, value: string, matches: Sql): Sql =>
    sql`${raw(`exists (select 1 from ${dialect.identifier(model.table)} ${name} where ${key} = ${value} and (`)}${matches}${raw('))')}`
  const matches = (): Sql => compile(condition, { dialect, table: name, depth: depth + 1 })
  switch (association.kind) {
    case 'belongsTo':
      return related(target, column(name, target.primaryKey), column(table, association.foreignKey), matches())
    case 'hasMany': {
      const { via } = association
      return related(target, column(name, via), column(table, via.references?.primaryKey as Attribute), matches())
    }
    case 'manyToMany': {
      const { junction, near, far } = association
      const toTarget = { kind: 'belongsTo', name: far.name, target, foreignKey: far } as const
      const isMember = compile(
        { kind: 'related', association: toTarget, condition },
        { dialect, table: name, depth: depth + 1 },
      )
      return related(junction, column(name, near), column(table, near.references?.primaryKey as Attribute), isMember)
    }
  }
}

/**
 * `key in (select …)` over the related table. The subquery is not correlated: column names need no qualification, and the
 * planner may start at either side. Where the keys of the records are known, it selects only what these refer to: a database
 * that evaluates it first, whole, would read the related table for a single record.
 */
function related({ association, condition }: Related, { dialect, among }: Scope): Sql {
  const { target } = association
  switch (association.kind) {
    case 'belongsTo': {
      const { column } = association.foreignKey
      return isIn(column, keysOf(target, target.primaryKey.column, condition, dialect, among?.(column)), dialect)
    }
    case 'hasMany': {
      const key = association.via.references?.primaryKey.column as string
      return isIn(key, keysOf(target, association.via.column, condition, dialect, among?.(key)), dialect)
    }
    case 'manyToMany': {
      const { junction, near, far } = association
      const key = near.references?.primaryKey.column as string
      const own = among && isIn(near.column, among(key), dialect)
      const others = own && selectOf(far.column, junction, own, dialect)
      const members = isIn(far.column, keysOf(target, target.primaryKey.column, condition, dialect, others), dialect)
      const pairs = own ? sql`${own} and ${members}` : members
      return isIn(key, selectOf(near.column, junction, pairs, dialect, condition), dialect)
    }
  }
}

/** The values of a column in the records that match. `values` selects those that are asked for; default all. */
function keysOf(model: Model, column: string, condition: Condition, dialect: Dialect, values?: Sql): Sql {
  const isAskedFor = values && isIn(column, values, dialect)
  const among = isAskedFor
    ? (other: string) => selectOf(other, model, isAskedFor, dialect)
    : valuesAmong(model, condition, dialect)
  const matches = toSql(condition, model, dialect, among)
  const where = isAskedFor ? sql`${isAskedFor} and (${matches})` : matches
  return selectOf(column, model, where, dialect, condition)
}

const isIn = (column: string, select: Sql, { identifier }: Dialect): Sql =>
  sql`${raw(identifier(column))} in (${select})`

/** `condition`: what `where` compares, unless it compares keys alone. A few keys may have any number of related records. */
const selectOf = (column: string, model: Model, where: Sql, dialect: Dialect, condition = matchAll): Sql =>
  sql`${raw(`select ${dialect.identifier(column)} from ${dialect.identifier(model.table)} where `)}${guarded(where, model, condition, dialect)}`

/** The time that a row takes grows with its values where the condition reads them whole; less so where they are sorted with the row. */
const rowsPerCheck = (condition: Condition, isSorted: boolean): number =>
  readsWholeValues(condition) ? 1 : isSorted ? sortedRowsPerCheck : 16
/** A check takes 0.15 µs. One for each row would be a tenth of the statement of an ordinary page that an index sorts. */
export const sortedRowsPerCheck = 4

/**
 * The `where` of a select over the table of `model`, behind the term that can stop the statement: terms are evaluated
 * in order, and a row that fails one is not counted by the next.
 */
export function guarded(where: Sql, model: Model, condition: Condition, dialect: Dialect, isSorted = false): Sql {
  const guard = dialect.rowGuard?.(model, rowsPerCheck(condition, isSorted))
  return guard === undefined ? where : sql`${raw(guard)} and (${where})`
}

/** Whether a value of any length is read for each row. */
const readsWholeValues = (condition: Condition): boolean =>
  leavesOf(condition).some((leaf) =>
    leaf.kind === 'related' ? readsWholeValues(leaf.condition) : leaf.operator.readsWholeValue === true,
  )

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
  const key = `keelson_s.${quote(target.primaryKey.column)}`
  return `(select ${columnOf(attribute, dialect, 'keelson_s.')} from ${quote(target.table)} keelson_s where ${key} = ${own})`
}

export const orderBy = (sorts: readonly Sort[], model: Model, dialect: Dialect): string =>
  sorts.map((sort) => dialect.order(orderable(sort), sortedBy(sort, model, dialect), sort.direction)).join(', ')

/** A to-one may be null, so the sorted attribute is nullable even if it is required in the related model. */
export const orderable = ({ attribute, through }: Sort): Sort['attribute'] =>
  through && !attribute.nullable ? { ...attribute, nullable: true } : attribute

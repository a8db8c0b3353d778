import {
  allAttributes,
  and,
  type Condition,
  type Criteria,
  idIn,
  isMatchAll,
  matchAll,
  type Selection,
  type Sort,
} from '../criteria/criteria.ts'
import { equals } from '../criteria/operators/equals.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import {
  guarded,
  orderable,
  orderBy,
  sortedBy,
  sortedRowsPerCheck,
  toSql,
  valuesAmong,
  valuesWhere,
} from '../criteria/to-sql.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, HasMany, ManyToMany, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import { isMasked, sourceOf } from './masked-source.ts'
import { comesInOrder } from './related-order.ts'
import type { SelectLists } from './select-lists.ts'

/** The select list of a find: the attributes, followed by sort columns that are not among them. */
export interface Columns {
  readonly list: string
  /** The index in a row of each sort value. */
  readonly sortedAt: readonly number[]
}

/** Stands in a statement for the keys of the records whose related ones it selects. */
export const relatedKeys = Symbol('relatedKeys')

/** Compiles criteria to selects. Pure, and common to all SQL databases. */
export class SqlSelects {
  readonly #dialect: Dialect
  readonly #lists: SelectLists

  constructor(dialect: Dialect, lists: SelectLists) {
    this.#dialect = dialect
    this.#lists = lists
  }

  /** The key is the first value; those of the rule follow. */
  lookup(model: Model, select: Selection, id: Json, lock: boolean, rule?: Condition): Sql {
    const { primaryKey } = model
    const condition = equals.sql(this.#quote(primaryKey.column), id, primaryKey, this.#dialect)
    const allowed = rule ? sql` and (${toSql(rule, model, this.#dialect)})` : raw('')
    return sql`${raw(`select ${this.#lists.of(select)} from ${this.#quote(model.table)} where `)}${condition}${allowed}${raw(lock ? this.#dialect.lock : '')}`
  }

  /** As `lookup`, for the keys of a list, which is the first value. The key stands behind the attributes of each row. */
  lookups(model: Model, select: Selection, rule?: Condition): { readonly statement: Sql; readonly keyAt: number } {
    const key = this.#quote(model.primaryKey.column)
    const isOne = this.#dialect.isOneOf(model.primaryKey, key, [])
    const list = raw(`select ${this.#lists.of(select)}, ${key} from ${this.#quote(model.table)} where `)
    const statement = rule ? sql`${list}${isOne} and (${toSql(rule, model, this.#dialect)})` : sql`${list}${isOne}`
    return { statement, keyAt: storedSelection(select).length }
  }

  /** Selects one row more than the page, which tells whether another page follows. */
  find(model: Model, given: Criteria, columns: Columns): Sql {
    const { from, criteria } = sourceOf(model, given, this.#dialect)
    const { sort, limit, skip, after } = criteria
    const where = (arm?: Sql) => this.#where(model, criteria.where, arm, undefined, isSortedBy(sort, model))
    const table = this.#quote(model.table)
    const head = sql`${raw(`select ${columns.list} from `)}${from}`
    const order = raw(sort.length === 0 ? '' : ` order by ${orderBy(sort, model, this.#dialect)}`)
    const page = this.#dialect.page(limit + 1, skip)
    const lock = raw(criteria.lock ? this.#dialect.lock : '')
    if (after === undefined) return sql`${head}${where()}${order}${page}${lock}`
    const whole = this.#dialect.capabilities.seeksRows ? this.#followsAsRow(model, sort, after) : undefined
    const arms = whole ? [whole] : this.#arms(model, sort, after)
    if (arms.length === 0) return sql`${head} where 1 = 0`
    if (arms.length === 1) return sql`${head}${where(arms[0])}${order}${page}`
    // One condition with `or` would scan all earlier rows; each arm is a range that an index finds.
    if (this.#dialect.capabilities.mergesSelects) {
      const selects = arms.map((arm) => sql`${head}${where(arm)}`)
      const places = sort.map(({ direction }, index) => `${(columns.sortedAt[index] as number) + 1} ${direction}`)
      return sql`${join(selects, ' union all ')}${raw(` order by ${places.join(', ')}`)}${page}`
    }
    const key = this.#quote(model.primaryKey.column)
    const most = this.#dialect.page(limit + 1 + skip, 0)
    const selected = arms.map((arm, index) => {
      const rows = sql`${raw(`select ${key} as keelson_id from `)}${from}${where(arm)}${order}${most}`
      return sql`${raw('select keelson_id from (')}${rows}${raw(`) keelson_${index}`)}`
    })
    const joined = sql`${raw(') keelson_k join ')}${from}${raw(` on ${table}.${key} = keelson_k.keelson_id`)}`
    return sql`${raw(`select ${columns.list} from (`)}${join(selected, ' union all ')}${joined}${order}${page}`
  }

  columns(model: Model, criteria: Criteria): Columns {
    const { select, sort } = sourceOf(model, criteria, this.#dialect).criteria
    const stored = storedSelection(select)
    const list = [this.#lists.of(select)]
    const sortedAt = sort.map((item, index) => {
      const column = this.#compared(item, model)
      const at = item.through ? -1 : stored.indexOf(item.attribute)
      if (at >= 0 && this.#lists.selected(item.attribute) === column) return at
      // Under a name of its own, or `order by` would not know which of two columns is meant.
      return stored.length + list.push(`${column} as keelson_s${index}`) - 2
    })
    return { list: list.join(', '), sortedAt }
  }

  /** One row comparison; undefined when directions differ or nulls can follow. */
  #followsAsRow(model: Model, sort: readonly Sort[], after: readonly unknown[]): Sql | undefined {
    const direction = sort[0]?.direction
    const isPlain = sort.every(
      (item, index) =>
        item.direction === direction && after[index] !== null && (direction === 'asc' || !orderable(item).nullable),
    )
    if (!isPlain) return undefined
    const columns = sort.map((item) => this.#compared(item, model)).join(', ')
    const values = sort.map((item, index) => this.#dialect.bound(item.attribute, after[index]))
    return sql`${raw(`(${columns}) ${direction === 'asc' ? '>' : '<'} (`)}${join(values, ', ')}${raw(')')}`
  }

  /** The rows after a position in the order: greater in the last key, or in the key before it, and so on. */
  #arms(model: Model, sort: readonly Sort[], after: readonly unknown[]): readonly Sql[] {
    return sort.flatMap((item, last) => {
      const equal = sort.slice(0, last).map((earlier, index) => this.#equals(earlier, after[index], model))
      return this.#follows(item, after[last], model).map((behind) => join([...equal, behind], ' and '))
    })
  }

  #equals(sort: Sort, value: unknown, model: Model): Sql {
    const column = this.#compared(sort, model)
    if (value === null) return raw(this.#dialect.isNull(sort.attribute, column))
    return sql`${raw(column)} = ${this.#dialect.bound(sort.attribute, value)}`
  }

  /** Nulls come first ascending and last descending. */
  #follows(sort: Sort, value: unknown, model: Model): readonly Sql[] {
    const { attribute, direction } = sort
    const text = this.#compared(sort, model)
    const column = raw(text)
    if (value === null) return direction === 'asc' ? [raw(this.#dialect.isNotNull(attribute, text))] : []
    const bound = this.#dialect.bound(attribute, value)
    if (direction === 'asc') return [sql`${column} > ${bound}`]
    return [
      sql`${column} < ${bound}`,
      ...(orderable(sort).nullable ? [raw(this.#dialect.isNull(attribute, text))] : []),
    ]
  }

  #compared(sort: Sort, model: Model): string {
    return this.#dialect.compared(sort.attribute, sortedBy(sort, model, this.#dialect))
  }

  /** All keys as one bound value. */
  boundKeys(association: Association, keys: readonly Json[]): unknown {
    return this.#dialect.keys(keyOf(association), keys).values[0]
  }

  /** `relatedKeys` stands for the keys, so that the statement can be cached. */
  related(association: Association, criteria: Criteria): Sql {
    const { target } = association
    const { select, maxRows } = criteria
    const members = sourceOf(target, { ...criteria, where: matchAll }, this.#dialect)
    const { sort } = members.criteria
    const table = this.#quote(target.table)
    const key = this.#quote(target.primaryKey.column)
    const comes = comesInOrder(association, criteria, this.#dialect)
    const order = raw(comes ? '' : ` order by keelson_n, ${orderBy(sort, target, this.#dialect)}`)
    const end = maxRows === undefined ? order : sql`${order}${this.#dialect.page(maxRows, 0, true)}`
    const head = raw(`select ${this.#lists.of(select)}, keelson_n from `)
    const from = { ...this.#dialect.keys(keyOf(association), []), values: [relatedKeys] }
    if (association.kind === 'belongsTo') {
      const isAsked = sql`${raw(`${key} in (select keelson_key from `)}${from})`
      const among = valuesWhere(target, isAsked, this.#dialect)
      const one = sourceOf(target, criteria, this.#dialect, undefined, among)
      const where = this.#where(target, one.criteria.where, raw(`${table}.${key} = keelson_key`), among)
      return sql`${head}${from}${raw(' cross join ')}${one.from}${where}${end}`
    }
    const page = this.#dialect.page(criteria.limit, criteria.skip)
    const ids =
      association.kind === 'hasMany'
        ? this.#children(association, criteria, page)
        : this.#members(association, criteria, page)
    const guard = comes ? undefined : this.#dialect.rowGuard?.(target, sortedRowsPerCheck)
    // A term without a column would be evaluated for each key, and not for each of its records.
    const where = raw(guard === undefined ? '' : ` where (${table}.${key} & 0 or ${guard})`)
    return sql`${head}${from}${this.#dialect.seek(members.from, `${table}.${key}`, ids)}${where}${end}`
  }

  #children({ target, via }: HasMany, given: Criteria, page: Sql): Sql {
    const isChild = raw(`${this.#quote(via.column)} = keelson_key`)
    const { from, criteria } = sourceOf(target, given, this.#dialect, isChild)
    const rest = isMasked(given)
      ? raw('')
      : this.#where(target, criteria.where, isChild, undefined, isSortedBy(criteria.sort, target), true)
    const order = raw(` order by ${orderBy(criteria.sort, target, this.#dialect)}`)
    return sql`${raw(`select ${this.#quote(target.primaryKey.column)} from `)}${from}${rest}${order}${page}`
  }

  #members({ junction, near, far, target }: ManyToMany, given: Criteria, page: Sql): Sql {
    const { from, criteria } = sourceOf(target, given, this.#dialect)
    const { where, sort } = criteria
    const column = this.#quote(far.column)
    const distinct = junction.isJunction ? '' : 'distinct '
    // A page of keys must not count a row of a model that refers to no record.
    const isFar = far.nullable ? ` and ${column} is not null` : ''
    const isMember = raw(`${this.#quote(near.column)} = keelson_key${isFar}`)
    const condition = this.#where(junction, given.junction ?? matchAll, isMember)
    const pairs = sql`${raw(`select ${distinct}${column} from ${this.#quote(junction.table)}`)}${condition}`
    const byKeyOnly =
      !isMasked(given) && sort.length === 1 && sort[0]?.attribute === target.primaryKey && !sort[0].through
    // Sorted by key, the junction's index has the members in order, and only one page of it is read.
    if (byKeyOnly && isMatchAll(where))
      return sql`${pairs}${raw(` order by ${column}${sort[0]?.direction === 'desc' ? ' desc' : ''}`)}${page}`
    const key = this.#quote(target.primaryKey.column)
    const head = sql`${raw(`select ${key} from `)}${from}`
    const isPair = sql`${raw(key)} in (${pairs})`
    const rest = this.#where(target, where, isPair, undefined, isSortedBy(sort, target), true)
    return sql`${head}${rest}${raw(` order by ${orderBy(sort, target, this.#dialect)}`)}${page}`
  }

  count(model: Model, where: Condition): Sql {
    return sql`${raw(`select count(*) from ${this.#quote(model.table)}`)}${this.#where(model, where)}`
  }

  /** The number of records that match, at most `limit`. */
  sizeUpTo(model: Model, where: Condition, limit: number): Sql {
    const size = this.#sizeOf(storedSelection(allAttributes(model)))
    const rows = sql`${raw(`select ${size} as bytes from ${this.#quote(model.table)}`)}${this.#where(model, where)}`
    return sql`select count(*), coalesce(sum(bytes), 0) from (${rows}${this.#dialect.page(limit, 0)}) keelson_c`
  }

  /** The bytes of the largest record that matches, without the values of these assignments. */
  largestOf(model: Model, where: Condition, assignments: readonly Assignment[]): Sql {
    const assigned = new Set(assignments.map(({ attribute }) => attribute))
    const size = this.#sizeOf(storedSelection(allAttributes(model)).filter((attribute) => !assigned.has(attribute)))
    return sql`${raw(`select max(${size}) from ${this.#quote(model.table)}`)}${this.#where(model, where)}`
  }

  #sizeOf(attributes: readonly Attribute[]): string {
    const sizes = attributes
      .filter(({ type: { storedAs } }) => storedAs === 'text' || storedAs === 'json' || storedAs === 'binary')
      .map((attribute) => `coalesce(${this.#dialect.octets(attribute, this.#quote(attribute.column))}, 0)`)
    return sizes.join(' + ') || '0'
  }

  /** The keys of at most `limit` records that match. */
  keys(model: Model, where: Condition, limit: number): Sql {
    const key = model.key.map((attribute) => this.#lists.selected(attribute)).join(', ')
    const head = raw(`select ${key} from ${this.#quote(model.table)}`)
    return sql`${head}${this.#where(model, where)}${this.#dialect.page(limit, 0)}`
  }

  /** The number of each condition, with the keys of the records that fulfil it. */
  matching(model: Model, ids: readonly Json[], conditions: readonly Condition[]): Sql {
    const selected = this.#lists.selected(model.primaryKey)
    const arms = conditions.map((condition, number) => {
      const head = raw(`select ${number}, ${selected} from ${this.#quote(model.table)}`)
      return sql`${head}${this.#where(model, and(condition, idIn(model, ids)))}`
    })
    return join(arms, ' union all ')
  }

  /** A condition, and a term that is compiled already. `isSorted`: all rows may be read before the first is returned, with any values. */
  #where(
    model: Model,
    condition: Condition,
    term?: Sql,
    among = valuesAmong(model, condition, this.#dialect),
    isSorted = false,
    isOfMembers = false,
  ): Sql {
    const terms = isMatchAll(condition) ? [] : [sql`(${toSql(condition, model, this.#dialect, among, isOfMembers)})`]
    if (term) terms.push(term)
    const where = terms.length > 0 ? join(terms, ' and ') : undefined
    if (where) return sql` where ${guarded(where, model, condition, this.#dialect, isSorted)}`
    const guard = isSorted ? this.#dialect.rowGuard?.(model, sortedRowsPerCheck) : undefined
    return raw(guard === undefined ? '' : ` where ${guard}`)
  }

  #quote(name: string): string {
    return this.#dialect.identifier(name)
  }
}

/** By more than the primary key. */
const isSortedBy = (sort: readonly Sort[], { primaryKey }: Model): boolean =>
  sort.some(({ attribute, through }) => through !== undefined || attribute !== primaryKey)

/** The attribute whose values are the keys of `related`. */
function keyOf(association: Association): Attribute {
  switch (association.kind) {
    case 'belongsTo':
      return association.target.primaryKey
    case 'hasMany':
      return association.via
    case 'manyToMany':
      return association.near
  }
}

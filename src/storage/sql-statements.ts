import {
  allOf,
  type Comparison,
  type Condition,
  type Criteria,
  isEverything,
  type Selection,
  type Sort,
} from '../criteria/criteria.ts'
import { equals } from '../criteria/modifiers/equals.ts'
import { orderable, orderBy, sortedBy, toSql } from '../criteria/to-sql.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, ManyToMany, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql } from '../sql/sql.ts'
import { entry } from '../support/entry.ts'
import { Lru } from '../support/lru.ts'

/** Shapes of writes past this number are made again. */
const keptShapes = 200

/** What a find selects: the attributes, and behind them what else the order of the records needs. */
export interface Columns {
  readonly list: string
  /** Where in a row each value stands that the records are sorted by. */
  readonly sortedAt: readonly number[]
}

/** Criteria and values as statements. Pure, and the same for every SQL database. */
export class SqlStatements {
  readonly #dialect: Dialect
  readonly #sound: (attribute: Attribute) => boolean
  readonly #lists = new WeakMap<Selection, string>()
  readonly #shapes = new WeakMap<Model, Lru<string, readonly string[]>>()

  constructor(dialect: Dialect, sound: (attribute: Attribute) => boolean) {
    this.#dialect = dialect
    this.#sound = sound
  }

  lookup(model: Model, select: Selection, { operand }: Comparison, lock: boolean): Sql {
    const { primaryKey } = model
    const condition = equals.sql(this.#quote(primaryKey.column), operand, primaryKey, this.#dialect)
    return sql`${raw(`select ${this.#list(select)} from ${this.#quote(model.table)} where `)}${condition}${raw(lock ? this.#dialect.lock : '')}`
  }

  /** One more than the page, so that it is known whether there is another. */
  find(model: Model, criteria: Criteria, columns: Columns): Sql {
    const { where, sort, limit, skip, after } = criteria
    const table = this.#quote(model.table)
    const head = raw(`select ${columns.list} from ${table}`)
    const order = raw(sort.length === 0 ? '' : ` order by ${orderBy(sort, model, this.#dialect)}`)
    const page = this.#dialect.page(limit + 1, skip)
    if (after === undefined) return sql`${head}${this.#where(where)}${order}${page}`
    const whole = this.#dialect.seeksRows ? this.#rowsBehind(model, sort, after) : undefined
    const arms = whole ? [whole] : this.#arms(model, sort, after)
    if (arms.length === 0) return sql`${head} where 1 = 0`
    if (arms.length === 1) return sql`${head}${this.#where(both(where, this.#dialect, arms[0] as Sql))}${order}${page}`
    // One condition with `or` would walk over all that came before; each arm is a range of its own that an index finds.
    if (this.#dialect.mergesSelects) {
      const selects = arms.map((arm) => sql`${head}${this.#where(both(where, this.#dialect, arm))}`)
      const places = sort.map(({ direction }, index) => `${(columns.sortedAt[index] as number) + 1} ${direction}`)
      return sql`${join(selects, ' union all ')}${raw(` order by ${places.join(', ')}`)}${page}`
    }
    const key = this.#quote(model.primaryKey.column)
    const selected = arms.map((arm, index) => {
      const rows = sql`${raw(`select ${key} as keelson_id from ${table}`)}${this.#where(both(where, this.#dialect, arm))}${order}${page}`
      return sql`${raw('select keelson_id from (')}${rows}${raw(`) keelson_${index}`)}`
    })
    const joined = raw(`) keelson_k join ${table} on ${table}.${key} = keelson_k.keelson_id`)
    return sql`${raw(`select ${columns.list} from (`)}${join(selected, ' union all ')}${joined}${order}${page}`
  }

  columns(model: Model, { select, sort }: Criteria): Columns {
    const list = [this.#list(select)]
    const sortedAt = sort.map((item, index) => {
      const column = this.#compared(item, model)
      const at = item.through ? -1 : select.indexOf(item.attribute)
      if (at >= 0 && this.#selected(item.attribute) === column) return at
      // Under a name of its own, or `order by` would not know which of two columns is meant.
      return select.length + list.push(`${column} as keelson_s${index}`) - 2
    })
    return { list: list.join(', '), sortedAt }
  }

  /** One comparison, where the order goes one way in all its keys and has no nulls behind the place. */
  #rowsBehind(model: Model, sort: readonly Sort[], after: readonly unknown[]): Sql | undefined {
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

  /** Behind a place in the order: further in the last key, or in the one before it, and so on. */
  #arms(model: Model, sort: readonly Sort[], after: readonly unknown[]): readonly Sql[] {
    return sort.flatMap((item, last) => {
      const equal = sort.slice(0, last).map((earlier, index) => this.#sameAs(earlier, after[index], model))
      return this.#behind(item, after[last], model).map((behind) => join([...equal, behind], ' and '))
    })
  }

  #sameAs(sort: Sort, value: unknown, model: Model): Sql {
    const column = raw(this.#compared(sort, model))
    return value === null ? sql`${column} is null` : sql`${column} = ${this.#dialect.bound(sort.attribute, value)}`
  }

  /** Nulls come first ascending and last descending. */
  #behind(sort: Sort, value: unknown, model: Model): readonly Sql[] {
    const column = raw(this.#compared(sort, model))
    if (value === null) return sort.direction === 'asc' ? [sql`${column} is not null`] : []
    const bound = this.#dialect.bound(sort.attribute, value)
    if (sort.direction === 'asc') return [sql`${column} > ${bound}`]
    return [sql`${column} < ${bound}`, ...(orderable(sort).nullable ? [sql`${column} is null`] : [])]
  }

  #compared(sort: Sort, model: Model): string {
    return this.#dialect.compared(sort.attribute, sortedBy(sort, model, this.#dialect))
  }

  /** How keys are bound: one value, however many they are. */
  boundKeys(association: Association, keys: readonly Json[]): unknown {
    return this.#dialect.keys(keyOf(association), keys).values[0]
  }

  /** The keys come first among the values, so that the rest can be kept. */
  related(association: Association, keys: readonly Json[], criteria: Criteria): Sql {
    const { target } = association
    const { where, sort, select } = criteria
    const table = this.#quote(target.table)
    const key = this.#quote(target.primaryKey.column)
    const order = raw(` order by keelson_n, ${orderBy(sort, target, this.#dialect)}`)
    const head = raw(`select ${this.#list(select)}, keelson_n from `)
    const from = this.#dialect.keys(keyOf(association), keys)
    if (association.kind === 'belongsTo') {
      const joined = raw(` cross join ${table} where ${table}.${key} = keelson_key`)
      return sql`${head}${from}${joined}${this.#and(where)}${order}`
    }
    const page = this.#dialect.page(criteria.limit, criteria.skip)
    const ids =
      association.kind === 'hasMany'
        ? sql`${raw(`select ${key} from ${table} where ${this.#quote(association.via.column)} = keelson_key`)}${this.#and(where)}${raw(` order by ${orderBy(sort, target, this.#dialect)}`)}${page}`
        : this.#members(association, criteria, page)
    return sql`${head}${from}${this.#dialect.seek(table, key, ids)}${order}`
  }

  #members({ junction, near, far, target }: ManyToMany, { where, sort }: Criteria, page: Sql): Sql {
    const column = this.#quote(far.column)
    const distinct = junction.isJunction ? '' : 'distinct '
    const pairs = `select ${distinct}${column} from ${this.#quote(junction.table)} where ${this.#quote(near.column)} = keelson_key`
    const byKeyOnly = sort.length === 1 && sort[0]?.attribute === target.primaryKey && !sort[0].through
    // In the order of their keys the pairs' own index has them, and a page of them is all that is read.
    if (byKeyOnly && isEverything(where))
      return sql`${raw(`${pairs} order by ${column}${sort[0]?.direction === 'desc' ? ' desc' : ''}`)}${page}`
    const key = this.#quote(target.primaryKey.column)
    const head = raw(`select ${key} from ${this.#quote(target.table)} where ${key} in (${pairs})`)
    return sql`${head}${this.#and(where)}${raw(` order by ${orderBy(sort, target, this.#dialect)}`)}${page}`
  }

  count(model: Model, where: Condition): Sql {
    return sql`${raw(`select count(*) from ${this.#quote(model.table)}`)}${this.#whereOf(where)}`
  }

  insert(model: Model, assignments: readonly Assignment[], ifMissing: boolean): Sql {
    const parts = this.#shape(model, ifMissing ? 'insert missing' : 'insert', assignments, () =>
      this.#insertParts(model, assignments, ifMissing),
    )
    return { parts, values: assignments.map((assignment) => this.#value(assignment)) }
  }

  #insertParts(model: Model, assignments: readonly Assignment[], ifMissing: boolean): readonly string[] {
    const head = `insert into ${this.#quote(model.table)}`
    const tail = `${ifMissing ? this.#dialect.ifMissing : ''} returning ${this.#list(allOf(model))}`
    if (assignments.length === 0) return [`${head} ${this.#dialect.insertDefaults(model)}${tail}`]
    const columns = assignments.map(({ attribute }) => this.#quote(attribute.column)).join(', ')
    return [`${head} (${columns}) values (`, ...assignments.slice(1).map(() => ', '), `)${tail}`]
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[]): Sql {
    const parts = this.#shape(model, 'update', assignments, () => this.#updateParts(model, assignments))
    const sets = { parts, values: assignments.map((assignment) => this.#value(assignment)) }
    return sql`${sets}${this.#whereOf(where)}${raw(` returning ${this.#list(allOf(model))}`)}`
  }

  #updateParts(model: Model, assignments: readonly Assignment[]): readonly string[] {
    const head = `update ${this.#quote(model.table)} set `
    const columns = assignments.map(({ attribute }) => this.#quote(attribute.column))
    // An update of nothing still answers the row, and its triggers still say so.
    const key = this.#quote(model.primaryKey.column)
    if (columns.length === 0) return [`${head}${key} = ${key}`]
    return [`${head}${columns[0]} = `, ...columns.slice(1).map((column) => `, ${column} = `), '']
  }

  /** The text of a write depends on which attributes get a value, and hardly ever on more. */
  #shape(
    model: Model,
    kind: string,
    assignments: readonly Assignment[],
    make: () => readonly string[],
  ): readonly string[] {
    const shapes = entry(this.#shapes, model, () => new Lru<string, readonly string[]>(keptShapes))
    let key = kind
    for (const { attribute } of assignments) key += `,${attribute.name}`
    return entry(shapes, key, make)
  }

  delete(model: Model, where: Condition): Sql {
    const head = raw(`delete from ${this.#quote(model.table)}`)
    return sql`${head}${this.#whereOf(where)}${raw(` returning ${this.#list(allOf(model))}`)}`
  }

  #value({ attribute, value }: Assignment): unknown {
    return value === null ? null : this.#dialect.encode(attribute, value)
  }

  #whereOf(condition: Condition): Sql {
    return isEverything(condition) ? raw('') : this.#where(toSql(condition, this.#dialect))
  }

  #where(condition: Sql | Condition): Sql {
    return 'parts' in condition ? sql` where ${condition}` : this.#whereOf(condition)
  }

  #and(condition: Condition): Sql {
    return isEverything(condition) ? raw('') : sql` and (${toSql(condition, this.#dialect)})`
  }

  #list(select: Selection): string {
    return entry(this.#lists, select, () => select.map((attribute) => this.#selected(attribute)).join(', '))
  }

  #selected(attribute: Attribute): string {
    return this.#dialect.selected(attribute, this.#quote(attribute.column), this.#sound(attribute))
  }

  #quote(name: string): string {
    return this.#dialect.identifier(name)
  }
}

const both = (condition: Condition, dialect: Dialect, arm: Sql): Sql =>
  isEverything(condition) ? arm : sql`(${toSql(condition, dialect)}) and ${arm}`

/** Whose keys `related` is given. */
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

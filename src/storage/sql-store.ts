import { allOf, type Comparison, type Condition, type Criteria, type Selection } from '../criteria/criteria.ts'
import { equals } from '../criteria/modifiers/equals.ts'
import { orderBy, toSql } from '../criteria/to-sql.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql, textOf } from '../sql/sql.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import type { ChangeLog } from './change-log.ts'
import type { Driver, Query, Row, Weight } from './driver.ts'
import { compileEncoder, type Encoder } from './encoder.ts'
import { explain } from './explain.ts'
import { SqlRecords } from './sql-records.ts'
import type { Records, Store, Transaction, WriteContext } from './store.ts'

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly weight: Weight
}

export interface SqlStoreParts {
  readonly driver: Driver
  readonly dialect: Dialect
  readonly changes: ChangeLog
  readonly description: string
  /** The database itself keeps anything out of the attribute's column that is not of its form. */
  readonly sound: (attribute: Attribute) => boolean
}

/** Everything about keeping records that is the same on every SQL database. */
export class SqlStore implements Store {
  readonly #driver: Driver
  readonly #dialect: Dialect
  readonly #encoders = new WeakMap<Selection, Encoder>()
  /** Statements by criteria: a plan that is kept is compiled once. */
  readonly #compiled = new WeakMap<Criteria, Statement>()
  /** The commonest shape of all, by what it selects. */
  readonly #lookups = new WeakMap<Selection, Map<Model, string>>()
  readonly #listOf = new WeakMap<Selection, string>()
  readonly #sound: (attribute: Attribute) => boolean
  readonly changes: ChangeLog
  readonly description: string

  constructor(parts: SqlStoreParts) {
    this.#driver = parts.driver
    this.#dialect = parts.dialect
    this.#sound = parts.sound
    this.changes = parts.changes
    this.description = parts.description
  }

  find(model: Model, criteria: Criteria): Maybe<Records> {
    const { text, values, weight } = this.#findStatement(model, criteria)
    return this.#answer(this.#guard(model, [], () => this.#driver.read(text, values, weight)), criteria.select)
  }

  count(model: Model, where: Condition): Maybe<number> {
    const { text, values } = this.#countStatement(model, where)
    return chain(this.#guard(model, [], () => this.#driver.read(text, values, 'long')), numberOf)
  }

  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    return this.#write(model, assignments, this.#insertStatement(model, assignments), context)
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    return this.#write(model, assignments, this.#updateStatement(model, where, assignments), context)
  }

  delete(model: Model, where: Condition, context?: WriteContext): Promise<Records> {
    return this.#write(model, [], this.#deleteStatement(model, where), context)
  }

  async #write(
    model: Model,
    assignments: readonly Assignment[],
    statement: Sql,
    context: WriteContext | undefined,
  ): Promise<Records> {
    const select = allOf(model)
    const text = textOf(statement, this.#dialect.placeholder)
    try {
      const rows = await this.#driver.write(text, statement.values, context?.origin)
      return new SqlRecords(rows, select, this.#encoder(select))
    } catch (error) {
      throw await explain(error, model, assignments, this)
    }
  }

  transaction<T>(work: (transaction: Transaction) => Maybe<T>, context?: WriteContext): Promise<T> {
    return this.#driver.transaction((query) => work(this.#bind(query)), context?.origin)
  }

  #bind(query: Query): Transaction {
    const run = (statement: Sql) => query(textOf(statement, this.#dialect.placeholder), statement.values)
    const write = (model: Model, assignments: readonly Assignment[], statement: Sql): Maybe<Records> =>
      this.#answer(this.#guard(model, assignments, () => run(statement)), allOf(model))
    return {
      find: (model, criteria) => {
        const { text, values } = this.#findStatement(model, criteria)
        return this.#answer(query(text, values), criteria.select)
      },
      count: (model, where) => {
        const { text, values } = this.#countStatement(model, where)
        return chain(query(text, values), numberOf)
      },
      insert: (model, assignments) => write(model, assignments, this.#insertStatement(model, assignments)),
      update: (model, where, assignments) => write(model, assignments, this.#updateStatement(model, where, assignments)),
      delete: (model, where) => write(model, [], this.#deleteStatement(model, where)),
    }
  }

  /** What the database complains of, in the words of the model. */
  #guard<T>(model: Model, assignments: readonly Assignment[], run: () => Maybe<T>): Maybe<T> {
    const fail = async (error: unknown): Promise<never> => {
      throw await explain(error, model, assignments, this)
    }
    try {
      const result = run()
      return result instanceof Promise ? result.catch(fail) : result
    } catch (error) {
      return fail(error)
    }
  }

  #answer(rows: Maybe<readonly Row[]>, select: Selection): Maybe<Records> {
    return chain(rows, (rows) => new SqlRecords(rows, select, this.#encoder(select)))
  }

  #encoder(selection: Selection): Encoder {
    let encoder = this.#encoders.get(selection)
    if (!encoder) {
      encoder = compileEncoder(selection, this.#dialect)
      this.#encoders.set(selection, encoder)
    }
    return encoder
  }

  #findStatement(model: Model, criteria: Criteria): Statement {
    const { where } = criteria
    if (isLookup(criteria, where)) {
      return { text: this.#lookup(model, criteria.select), values: [this.#encode(where)], weight: 'short' }
    }
    let statement = this.#compiled.get(criteria)
    if (!statement) {
      const page = this.#dialect.page(criteria.limit, criteria.skip)
      const order = criteria.sort.length === 0 ? '' : ` order by ${orderBy(criteria.sort, this.#dialect)}`
      const text = sql`${raw(this.#selectFrom(model, criteria.select))}${this.#where(where)}${raw(order)}${page}`
      statement = {
        text: textOf(text, this.#dialect.placeholder),
        values: text.values,
        weight: weightOf(criteria),
      }
      this.#compiled.set(criteria, statement)
    }
    return statement
  }

  #lookup(model: Model, select: Selection): string {
    let byModel = this.#lookups.get(select)
    if (!byModel) this.#lookups.set(select, (byModel = new Map()))
    let text = byModel.get(model)
    if (text === undefined) {
      const { primaryKey } = model
      const condition = equals.sql(this.#quote(primaryKey.column), '', primaryKey, this.#dialect)
      text = `${this.#selectFrom(model, select)} where ${textOf(condition, this.#dialect.placeholder)}`
      byModel.set(model, text)
    }
    return text
  }

  #encode({ attribute, operand }: Comparison): unknown {
    return this.#dialect.encode(attribute, operand)
  }

  #countStatement(model: Model, where: Condition): { text: string; values: readonly unknown[] } {
    const statement = sql`${raw(`select count(*) from ${this.#quote(model.table)}`)}${this.#where(where)}`
    return { text: textOf(statement, this.#dialect.placeholder), values: statement.values }
  }

  #insertStatement(model: Model, assignments: readonly Assignment[]): Sql {
    const head = `insert into ${this.#quote(model.table)}`
    const returning = raw(` returning ${this.#list(allOf(model))}`)
    if (assignments.length === 0) return sql`${raw(`${head} ${this.#dialect.insertDefaults(model)}`)}${returning}`
    const columns = assignments.map(({ attribute }) => this.#quote(attribute.column)).join(', ')
    const values = assignments.map((assignment) => this.#value(assignment))
    return sql`${raw(`${head} (${columns}) values (`)}${join(values, ', ')})${returning}`
  }

  #updateStatement(model: Model, where: Condition, assignments: readonly Assignment[]): Sql {
    const sets = assignments.map((assignment) => {
      const column = raw(`${this.#quote(assignment.attribute.column)} = `)
      return sql`${column}${this.#value(assignment)}`
    })
    // An update of nothing still answers the row, and its triggers still say so.
    if (sets.length === 0) {
      const key = this.#quote(model.primaryKey.column)
      sets.push(raw(`${key} = ${key}`))
    }
    const head = raw(`update ${this.#quote(model.table)} set `)
    return sql`${head}${join(sets, ', ')}${this.#where(where)}${raw(` returning ${this.#list(allOf(model))}`)}`
  }

  #deleteStatement(model: Model, where: Condition): Sql {
    const head = raw(`delete from ${this.#quote(model.table)}`)
    return sql`${head}${this.#where(where)}${raw(` returning ${this.#list(allOf(model))}`)}`
  }

  #value({ attribute, value }: Assignment): Sql {
    return sql`${value === null ? null : this.#dialect.encode(attribute, value)}`
  }

  #where(condition: Condition): Sql {
    if (condition.kind === 'and' && condition.conditions.length === 0) return raw('')
    return sql` where ${toSql(condition, this.#dialect)}`
  }

  #selectFrom(model: Model, select: Selection): string {
    return `select ${this.#list(select)} from ${this.#quote(model.table)}`
  }

  #list(select: Selection): string {
    let list = this.#listOf.get(select)
    if (list === undefined) {
      list = select.map((attribute) => this.#selected(attribute)).join(', ')
      this.#listOf.set(select, list)
    }
    return list
  }

  #selected(attribute: Attribute): string {
    return this.#dialect.selected(attribute, this.#quote(attribute.column), this.#sound(attribute))
  }

  #quote(name: string): string {
    return this.#dialect.identifier(name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]()
  }
}

const isLookup = (criteria: Criteria, where: Condition): where is Comparison & { operand: Exclude<Json, null> } =>
  where.kind === 'compare' &&
  where.attribute.isPrimaryKey &&
  where.modifier === equals &&
  where.operand !== null &&
  criteria.sort.length === 0 &&
  criteria.skip === 0

/** Skipping further than this is a walk over the table, whatever its indexes. */
const longSkip = 1000

const weightOf = ({ where, skip }: Criteria): Weight => (skip > longSkip || searches(where) ? 'long' : 'short')

/** Asks for text that no index can find. */
function searches(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(searches)
    case 'not':
      return searches(condition.condition)
    case 'compare':
      return ['contains', 'endsWith', 'like'].includes(condition.modifier.name)
  }
}

const numberOf = (rows: readonly Row[]): number => Number(rows[0]?.[0])


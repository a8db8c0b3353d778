import { allOf, type Comparison, type Condition, type Criteria, type Selection } from '../criteria/criteria.ts'
import { equals } from '../criteria/modifiers/equals.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { type Sql, textOf } from '../sql/sql.ts'
import { chain, type Maybe } from '../support/maybe.ts'
import type { SqlChangeLog } from './change-log.ts'
import { DatabaseError, type Driver, type Query, type Row, type Weight } from './driver.ts'
import { explain } from './explain.ts'
import { Encoders, SqlRecords } from './sql-records.ts'
import { type Columns, SqlStatements } from './sql-statements.ts'
import type { Grouped, Reads, Records, Snapshot, Store, Transaction, WriteContext } from './store.ts'

export interface SqlStoreParts {
  readonly driver: Driver
  readonly dialect: Dialect
  readonly changes: SqlChangeLog
  readonly description: string
  readonly secret: string
  /** The database itself keeps anything out of the attribute's column that is not of its form. */
  readonly sound: (attribute: Attribute) => boolean
  /** A counted key met one that somebody chose; true: the counter was moved on, and the same again may succeed. */
  readonly recount?: (model: Model) => Promise<boolean>
}

interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  readonly weight: Weight
  readonly columns?: Columns
}

interface Compiled {
  readonly criteria: Criteria
  readonly about: Model | Association
  readonly by: unknown
  readonly statement: Statement
}

type Run = (statement: Statement) => Maybe<readonly Row[]>

/** Everything about keeping records that is the same on every SQL database. */
export class SqlStore implements Store {
  readonly #driver: Driver
  readonly #dialect: Dialect
  readonly #statements: SqlStatements
  readonly #encoders: Encoders
  /** The commonest shape of all, by what it selects. */
  readonly #lookups = new WeakMap<Selection, string>()
  readonly #recount: SqlStoreParts['recount']
  readonly #reads: Reads
  readonly changes: SqlChangeLog
  readonly description: string
  readonly secret: string

  constructor(parts: SqlStoreParts) {
    this.#driver = parts.driver
    this.#dialect = parts.dialect
    this.#statements = new SqlStatements(parts.dialect, parts.sound)
    this.#encoders = new Encoders(parts.dialect)
    this.#recount = parts.recount
    this.#reads = this.#readsThrough(({ text, values, weight }) => this.#driver.read(text, values, weight))
    this.changes = parts.changes
    this.description = parts.description
    this.secret = parts.secret
  }

  find(model: Model, criteria: Criteria): Maybe<Records> {
    return this.#explaining(() => this.#reads.find(model, criteria))
  }

  count(model: Model, where: Condition): Maybe<number> {
    return this.#explaining(() => this.#reads.count(model, where))
  }

  related(association: Association, keys: readonly Json[], criteria: Criteria): Maybe<Grouped> {
    return this.#explaining(() => this.#reads.related(association, keys, criteria))
  }

  async insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    const insert = () => this.#write(model, assignments, this.#statements.insert(model, assignments, false), context)
    try {
      return await insert()
    } catch (error) {
      const isCounted =
        model.primaryKey.autoIncrement && assignments.every(({ attribute }) => attribute !== model.primaryKey)
      const isTaken = error instanceof ServiceError && error.code === 'E_INVALID_ATTRIBUTES'
      if (isCounted && isTaken && (await this.#recount?.(model))) return insert()
      throw error
    }
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    return this.#write(model, assignments, this.#statements.update(model, where, assignments), context)
  }

  delete(model: Model, where: Condition, context?: WriteContext): Promise<Records> {
    return this.#write(model, [], this.#statements.delete(model, where), context)
  }

  async #write(
    model: Model,
    assignments: readonly Assignment[],
    statement: Sql,
    context: WriteContext | undefined,
  ): Promise<Records> {
    const text = textOf(statement, this.#dialect.placeholder)
    const run = () => this.#driver.write(text, statement.values, context?.origin)
    return this.#records(await this.#explaining(() => noting(model, assignments, run)), allOf(model))
  }

  async transaction<T>(work: (transaction: Transaction) => Maybe<T>, context?: WriteContext): Promise<T> {
    return this.#explaining(() =>
      this.#driver.transaction((query) => work(this.#transactionThrough(query)), context?.origin),
    )
  }

  #transactionThrough(query: Query): Transaction {
    const run: Run = ({ text, values }) => query(text, values)
    const statements = this.#statements
    const write = (model: Model, assignments: readonly Assignment[], statement: Sql): Maybe<Records> =>
      chain(
        noting(model, assignments, () => run(this.#plain(statement))),
        (rows) => this.#records(rows, allOf(model)),
      )
    return {
      ...this.#readsThrough(run),
      insert: (model, values) => write(model, values, statements.insert(model, values, false)),
      insertMissing: (model, values) => write(model, values, statements.insert(model, values, true)),
      update: (model, where, values) => write(model, values, statements.update(model, where, values)),
      delete: (model, where) => write(model, [], statements.delete(model, where)),
    }
  }

  snapshot<T>(work: (reads: Reads) => Maybe<T>): Maybe<Snapshot<T>> {
    return this.#explaining(() =>
      this.#driver.snapshot((query) =>
        chain(work(this.#readsThrough(({ text, values }) => query(text, values))), (value) =>
          chain(this.changes.headIn(query), (position) => ({ value, position })),
        ),
      ),
    )
  }

  #readsThrough(run: Run): Reads {
    const noted = (model: Model, statement: Statement) => noting(model, [], () => run(statement))
    return {
      find: (model, criteria) => {
        const statement = this.#findStatement(model, criteria)
        return chain(noted(model, statement), (rows) => this.#page(rows, criteria, statement.columns))
      },
      count: (model, where) => {
        const statement = this.#plain(this.#statements.count(model, where))
        return chain(noted(model, { ...statement, weight: 'long' }), (rows) => Number(rows[0]?.[0]))
      },
      related: (association, keys, criteria) => {
        if (keys.length === 0) return { records: this.#records([], criteria.select), ends: [] }
        const statement = this.#relatedStatement(association, keys, criteria)
        return chain(noted(association.target, statement), (rows) => this.#grouped(rows, keys.length, criteria))
      },
    }
  }

  #page(rows: readonly Row[], { select, limit }: Criteria, columns: Columns | undefined): Records {
    if (!columns || rows.length <= limit) return this.#records(rows, select)
    const last = rows[limit - 1]
    return new SqlRecords(rows.slice(0, limit), select, this.#encoders, last && columns.sortedAt.map((at) => last[at]))
  }

  /** The number of its key stands behind the attributes of each row. */
  #grouped(rows: readonly Row[], groups: number, { select }: Criteria): Grouped {
    const ends: number[] = []
    for (let index = 0; index < rows.length; index++) {
      const group = Number(rows[index]?.[select.length])
      while (ends.length < group - 1) ends.push(index)
    }
    while (ends.length < groups) ends.push(rows.length)
    return { records: this.#records(rows, select), ends }
  }

  #records(rows: readonly Row[], select: Selection): Records {
    return new SqlRecords(rows, select, this.#encoders)
  }

  #findStatement(model: Model, criteria: Criteria): Statement {
    if (isLookup(criteria)) return this.#lookup(model, criteria)
    const compiled = this.#compiled(criteria, model)
    if (compiled) return compiled
    const columns = this.#statements.columns(model, criteria)
    const text = this.#plain(this.#statements.find(model, criteria, columns))
    return this.#keep(criteria, model, { ...text, weight: weightOf(criteria), columns })
  }

  /** The keys are the first of its values, and the only ones that are not part of the criteria. */
  #relatedStatement(association: Association, keys: readonly Json[], criteria: Criteria): Statement {
    const compiled = this.#compiled(criteria, association)
    if (compiled)
      return { ...compiled, values: [this.#statements.boundKeys(association, keys), ...compiled.values.slice(1)] }
    return this.#keep(criteria, association, this.#plain(this.#statements.related(association, keys, criteria)))
  }

  /** Criteria that were made of others carry what those were compiled to: it is of no use to them. */
  #compiled(criteria: Criteria, about: Model | Association): Statement | undefined {
    const compiled = criteria.compiled as Compiled | undefined
    const isOurs = compiled?.criteria === criteria && compiled.about === about && compiled.by === this
    return isOurs ? compiled.statement : undefined
  }

  #keep(criteria: Criteria, about: Model | Association, statement: Statement): Statement {
    criteria.compiled = { criteria, about, by: this, statement } satisfies Compiled
    return statement
  }

  #lookup(model: Model, { select, where, lock = false }: Lookup): Statement {
    let text = lock ? undefined : this.#lookups.get(select)
    if (text === undefined) {
      text = textOf(this.#statements.lookup(model, select, where, lock), this.#dialect.placeholder)
      if (!lock) this.#lookups.set(select, text)
    }
    return { text, values: [this.#dialect.encode(where.attribute, where.operand)], weight: 'short' }
  }

  #plain(statement: Sql): Statement {
    return { text: textOf(statement, this.#dialect.placeholder), values: statement.values, weight: 'short' }
  }

  /**
   * What the database complains of, in the words of the model. Never inside a transaction: explaining may read, and
   * where there is one connection that would wait for the very transaction it is part of.
   */
  #explaining<T>(run: () => Maybe<T>): Maybe<T> {
    const fail = async (error: unknown): Promise<never> => {
      throw await explain(error, this)
    }
    try {
      const result = run()
      return result instanceof Promise ? result.catch(fail) : result
    } catch (error) {
      return fail(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]()
  }
}

/** Remembers with an error what it was about, until somebody explains it. */
function noting<T>(model: Model, assignments: readonly Assignment[], run: () => Maybe<T>): Maybe<T> {
  const note = (error: unknown): never => {
    if (error instanceof DatabaseError) error.about ??= { model, assignments }
    throw error
  }
  try {
    const result = run()
    return result instanceof Promise ? result.catch(note) : result
  } catch (error) {
    return note(error)
  }
}

type Lookup = Criteria & { readonly where: Comparison }

/** A selection belongs to one model, so it also says which. */
function isLookup(criteria: Criteria): criteria is Lookup {
  const { where, sort, skip } = criteria
  return (
    where.kind === 'compare' &&
    where.attribute.isPrimaryKey &&
    where.modifier === equals &&
    where.operand !== null &&
    sort.length === 0 &&
    skip === 0
  )
}

/** Skipping further than this is a walk over the table, whatever its indexes. */
const longSkip = 1000

const weightOf = ({ where, skip }: Criteria): Weight => (skip > longSkip || searches(where) ? 'long' : 'short')

/** Asks for what no index finds. */
function searches(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.some(searches)
    case 'not':
    case 'related':
      return searches(condition.condition)
    case 'compare':
      return ['contains', 'endsWith', 'like'].includes(condition.modifier.name)
  }
}

import type { Condition, Criteria, Selection } from '../criteria/criteria.ts'
import { storedSelection } from '../criteria/stored-selection.ts'
import type { Association, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Reader, Row, Statement } from './driver.ts'
import { EncodedRecords } from './encoded-records.ts'
import { encodingOf } from './encoding.ts'
import { withRawSources } from './raw-sources.ts'
import { inOrder } from './related-order.ts'
import { type Encoders, pageOf, SqlRecords } from './sql-records.ts'
import type { FindStatement, StatementCompiler } from './statement-compiler.ts'
import type { Grouped, ReadOptions, Reads, Records } from './store.ts'
import { annotateError, type ErrorSubject } from './to-service-error.ts'

/** Throws an error of the database. That of a store returns a promise: it may have to read which values conflict. */
type Fail = (error: unknown, subject: ErrorSubject) => MaybePromise<never>

const failAtOnce: Fail = (error, subject) => {
  throw annotateError(error, subject)
}

export const readOf = (model: Model): ErrorSubject => ({ model, assignments: [], isRead: true })

/** The reads of every SQL database. */
export class SqlReads implements Reads {
  readonly #reader: Reader
  readonly #fail: Fail
  protected readonly compiler: StatementCompiler
  protected readonly encoders: Encoders

  /** `reader`: the driver itself, a snapshot or a transaction. */
  constructor(reader: Reader, compiler: StatementCompiler, encoders: Encoders, fail = failAtOnce) {
    this.#reader = reader
    this.#fail = fail
    this.compiler = compiler
    this.encoders = encoders
  }

  findByKey(model: Model, id: Json, select: Selection, options?: ReadOptions): MaybePromise<Records> {
    const { compiler, encoders } = this
    const { text, encode, group } = compiler.lookups.get(select) ?? compiler.lookup(model, select, id)
    try {
      const statement: Statement = { text, values: [encode ? encode(id) : id], access: 'key', group }
      const rows = this.#reader.read(statement, options)
      if (!(rows instanceof Promise)) return new SqlRecords(rows, select, encoders)
      return rows.then(
        (rows) => new SqlRecords(rows, select, encoders),
        (error) => this.#fail(error, readOf(model)),
      )
    } catch (error) {
      return this.#fail(error, readOf(model))
    }
  }

  find(model: Model, given: Criteria, options?: ReadOptions, members?: readonly string[]): MaybePromise<Records> {
    const criteria = given.masks ? withRawSources(given) : given
    const statement = this.compiler.find(model, criteria)
    const page = (rows: readonly Row[]) => pageOf(rows, criteria, statement.columns, this.encoders)
    return members?.length === 0
      ? this.executePage(statement, model, criteria, options, page)
      : this.execute(statement, model, options, page)
  }

  count(model: Model, where: Condition, options?: ReadOptions): MaybePromise<number> {
    return this.execute(this.compiler.count(model, where), model, options, (rows) => Number(rows[0]?.[0]))
  }

  related(
    association: Association,
    keys: readonly Json[],
    given: Criteria,
    options?: ReadOptions,
  ): MaybePromise<Grouped> {
    const criteria = given.masks ? withRawSources(given) : given
    if (keys.length === 0) return { records: this.records([], criteria.select), ends: [] }
    const statement = this.compiler.related(association, keys, criteria)
    const { dialect } = this.encoders
    return this.execute(statement, association.target, options, (rows) =>
      this.#grouped(inOrder(rows, association, criteria, dialect), keys.length, criteria),
    )
  }

  protected execute<T>(
    statement: Statement,
    model: Model,
    options: ReadOptions | undefined,
    result: (rows: readonly Row[]) => T,
  ): MaybePromise<T> {
    return this.#run(() => this.#reader.read(statement, options), model, result)
  }

  /** As `execute`, for records of which nothing but the texts is needed. `result`: where they are encoded here. */
  protected executePage(
    statement: FindStatement,
    model: Model,
    { select, limit }: Criteria,
    options: ReadOptions | undefined,
    result: (rows: readonly Row[]) => Records,
  ): MaybePromise<Records> {
    const reader = this.#reader
    if (!reader.readPage) return this.execute(statement, model, options, result)
    const { encoders } = this
    const encoding = () => encodingOf(encoders.of(select), model, limit, statement.columns)
    return this.#run(
      () => reader.readPage!(statement, encoding, options),
      model,
      (page) => ('parts' in page ? new EncodedRecords(page, model, encoders.dialect) : result(page)),
    )
  }

  #run<R, T>(read: () => MaybePromise<R>, model: Model, result: (read: R) => T): MaybePromise<T> {
    try {
      const rows = read()
      if (!(rows instanceof Promise)) return result(rows)
      return rows.then(result, (error) => this.#fail(error, readOf(model)))
    } catch (error) {
      return this.#fail(error, readOf(model))
    }
  }

  protected records(rows: readonly Row[], select: Selection): Records {
    return new SqlRecords(rows, select, this.encoders)
  }

  /** The number of its key stands behind the attributes of each row. */
  #grouped(rows: readonly Row[], groups: number, { select }: Criteria): Grouped {
    const ends: number[] = []
    const width = storedSelection(select).length
    let number: unknown
    for (let index = 0; index < rows.length; index++) {
      const next = (rows[index] as Row)[width]
      if (next === number) continue
      number = next
      const group = Number(next)
      while (ends.length < group - 1) ends.push(index)
    }
    while (ends.length < groups) ends.push(rows.length)
    return { records: this.records(rows, select), ends }
  }
}

import { allAttributes, and, type Condition, isOneOf } from '../criteria/criteria.ts'
import { inParts, maxMatches, readsRelated } from '../criteria/named-keys.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { assertDefined } from '../support/assert.ts'
import type { Limits } from '../support/limits.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import { Affected, type AffectedLimits } from './affected.ts'
import { budgetOf } from './byte-budget.ts'
import type { Query, Reader, Row, Statement } from './driver.ts'
import { readOf, SqlReads } from './sql-reads.ts'
import type { Encoders } from './sql-records.ts'
import type { SqlStoredAnswers } from './sql-stored-answers.ts'
import type { WriteStatement } from './sql-writes.ts'
import type { StatementCompiler } from './statement-compiler.ts'
import type { Records, Transaction } from './store.ts'
import type { StoredAnswer } from './stored-answers.ts'
import { annotateError, type ErrorSubject, notStored } from './to-service-error.ts'
import { tooLargeRecord } from './too-many-affected.ts'
import type { WriteOrigin } from './write-origin.ts'

export type TransactionLimits = AffectedLimits & Pick<Limits, 'maxAnswerBytes' | 'maxRecordBytes' | 'writeTimeoutMs'>

export interface SqlTransactionParts {
  readonly query: Query
  readonly compiler: StatementCompiler
  readonly encoders: Encoders
  readonly answers: SqlStoredAnswers | undefined
  /** What the transaction may change. */
  readonly limits: TransactionLimits
  readonly origin?: WriteOrigin | undefined
  readonly slowDeletes?: ReadonlySet<string> | undefined
}

/**
 * Where the database runs elsewhere, a write of at most this number of records is one statement, however large they are;
 * where it runs in the event loop, a write of one.
 */
export const fewRows = 8
/** The bytes of rows that are changed in one turn of the event loop, where the database runs in it. */
const sliceBytes = 1_000_000
/** A write of fewer bytes is not measured: records of many megabytes are not made of such values. */
export const longBytes = 32_000
/** A slice has fewer rows if they have more attributes than this. */
const usualAttributes = 20

/** The reads and writes of one transaction. */
export class SqlTransaction extends SqlReads implements Transaction {
  readonly #query: Query
  readonly #answers: SqlStoredAnswers | undefined
  readonly #origin: WriteOrigin | undefined
  readonly #affected: Affected
  readonly #maxRecordBytes: number
  readonly #slowDeletes: SqlTransactionParts['slowDeletes']

  constructor({ query, compiler, encoders, answers, limits, origin, slowDeletes }: SqlTransactionParts) {
    const read: Reader['read'] = ({ text, values }, options) =>
      query(
        text,
        values,
        options && { budget: budgetOf(options, limits.maxAnswerBytes), isPostponable: options.isPostponable },
      )
    super({ read }, compiler, encoders)
    this.#query = query
    this.#affected = new Affected(limits)
    this.#maxRecordBytes = limits.maxRecordBytes
    this.#answers = answers
    this.#origin = origin
    this.#slowDeletes = slowDeletes
  }

  async insert(model: Model, assignments: readonly Assignment[]): Promise<Records> {
    const stored = await this.#insert(this.compiler.writes.insert(model, assignments, false), { model, assignments })
    if (stored.length === 0) throw notStored(model)
    return stored
  }

  insertMissing(model: Model, assignments: readonly Assignment[]): Promise<Records> {
    return this.#insert(this.compiler.writes.insert(model, assignments, true), { model, assignments })
  }

  async keepAnswer(answer: StoredAnswer): Promise<boolean> {
    return assertDefined(this.#answers, 'a database that keeps no answers').keep(answer, this.#query)
  }

  update(model: Model, where: Condition, assignments: readonly Assignment[]): Promise<Records> {
    return this.#write(where, { model, assignments }, (part) => this.compiler.writes.update(model, part, assignments))
  }

  delete(model: Model, where: Condition): Promise<Records> {
    const subject = { model, assignments: [] }
    const mostRows = this.#slowDeletes?.has(model.table) ? 1 : undefined
    return this.#write(where, subject, (part) => this.compiler.writes.delete(model, part), mostRows)
  }

  async clearBeforeDelete(model: Model, where: Condition, attribute: Attribute): Promise<Records> {
    const cleared = await this.update(model, where, [{ attribute, value: null }])
    this.#affected.add(-cleared.length)
    return cleared
  }

  async #insert(statement: WriteStatement, subject: ErrorSubject): Promise<Records> {
    if (statement.bytes > this.#maxRecordBytes) throw tooLargeRecord(subject.model, this.#maxRecordBytes)
    this.#affected.require(subject.model, 1)
    this.#affected.add(1)
    const rows = await this.#run(statement, subject)
    this.#affected.add(rows.length - 1)
    return this.#written(rows, subject.model)
  }

  async #writeFew(statement: Statement, subject: ErrorSubject): Promise<Records> {
    const rows = await this.#run(statement, subject)
    this.#affected.add(rows.length)
    return this.#written(rows, subject.model)
  }

  /** Throws E_CONFLICT where the rows are more, or have more bytes, than the transaction may change. */
  async requireAffectable(model: Model, where: Condition): Promise<void> {
    if (maxMatches(where) > fewRows) await this.#measure(model, where)
  }

  async #measure(model: Model, where: Condition): Promise<{ readonly count: number; readonly bytes: number }> {
    let [count, bytes] = [0, 0]
    for (const part of inParts(where, this.#rowsPerSlice(model))) {
      const statement = this.compiler.sizeUpTo(model, part, this.#affected.rowsLeft + 1)
      const [measured] = await this.#run(statement, readOf(model))
      const [partCount, partBytes] = (measured as Row).map(Number) as [number, number]
      count += partCount
      bytes += partBytes
      this.#affected.require(model, count, bytes)
    }
    return { count, bytes }
  }

  /**
   * The rows are counted before any of them is changed. On a database within the process they are changed in slices, so
   * that the event loop is not blocked for as long as all of them take.
   */
  async #write(
    where: Condition,
    subject: ErrorSubject,
    write: (where: Condition) => WriteStatement,
    mostRows = this.#rowsPerSlice(subject.model),
  ): Promise<Records> {
    const { model } = subject
    const few = mostRows === Number.POSITIVE_INFINITY ? fewRows : 1
    const statement = write(where)
    if (statement.bytes > longBytes) await this.#requireSize(where, subject, statement.bytes)
    if (maxMatches(where) <= Math.min(few, this.#affected.rowsLeft)) return this.#writeFew(statement, subject)
    const { count, bytes } = await this.#measure(model, where)
    this.#affected.add(count)
    const sliceRows = Math.min(mostRows, Math.max(1, Math.floor((sliceBytes * count) / Math.max(1, bytes))))
    if (count <= sliceRows && !this.#mustNameKeys(where))
      return this.#written(await this.#run(statement, subject), model)
    const rows: Row[] = []
    for (const part of await this.#slices(where, model, count, sliceRows)) {
      for (const row of await this.#run(write(part), subject)) rows.push(row)
      await yieldToEventLoop()
    }
    return this.#written(rows, model)
  }

  /** Otherwise the write would read the whole related table, in one turn of the event loop. */
  #mustNameKeys(where: Condition): boolean {
    return !this.encoders.dialect.capabilities.correlates && !Number.isFinite(maxMatches(where)) && readsRelated(where)
  }

  /** An attribute takes its time in each of the images of a row. */
  #rowsPerSlice({ attributes }: Model): number {
    const { sliceRows = Number.POSITIVE_INFINITY } = this.encoders.dialect.capabilities
    return Math.ceil((sliceRows * usualAttributes) / Math.max(usualAttributes, attributes.size))
  }

  /** Throws if a record would exceed `maxRecordBytes` with the assigned bytes and those of its other values. */
  async #requireSize(where: Condition, subject: ErrorSubject, bytes: number): Promise<void> {
    const { model, assignments } = subject
    const [largest] = await this.#run(this.compiler.largestOf(model, where, assignments), readOf(model))
    if (Number(largest?.[0] ?? 0) + bytes > this.#maxRecordBytes) throw tooLargeRecord(model, this.#maxRecordBytes)
  }

  #written(rows: readonly Row[], model: Model): Records {
    this.#affected.addRows(model, rows)
    if (this.#origin !== undefined) this.encoders.noteOperation(rows, this.#origin)
    return this.records(rows, allAttributes(model))
  }

  /** The condition, each time for some of the rows. */
  async #slices(where: Condition, model: Model, count: number, size: number): Promise<Iterable<Condition>> {
    if (Number.isFinite(maxMatches(where))) return inParts(where, size)
    return this.#byKeys(where, model, await this.#run(this.compiler.keys(model, where, count), readOf(model)), size)
  }

  /** Divides rows by the attribute of their key that has the most values. */
  *#byKeys(where: Condition, model: Model, keys: readonly Row[], size: number): Iterable<Condition> {
    const candidates = model.key.map((attribute, index) => ({ attribute, values: distinct(keys, index) }))
    const { attribute, values } = candidates.reduce((most, next) =>
      next.values.length > most.values.length ? next : most,
    )
    for (let from = 0; from < values.length; from += size) {
      const part = values.slice(from, from + size).map((value) => this.#decode(attribute, value))
      yield and(isOneOf(attribute, part), where)
    }
  }

  #decode(attribute: Attribute, value: unknown): Json {
    return this.encoders.dialect.decode(attribute, value)
  }

  async #run({ text, values }: Statement, subject: ErrorSubject): Promise<readonly Row[]> {
    try {
      return await this.#query(text, values)
    } catch (error) {
      throw annotateError(error, subject)
    }
  }
}

const distinct = (rows: readonly Row[], index: number): readonly unknown[] => [
  ...new Set(rows.map((row) => row[index])),
]

import { type Condition, type Criteria, primaryKeyEquals } from '../criteria/criteria.ts'
import { maxMatches } from '../criteria/named-keys.ts'
import type { Assignment } from '../model/assignment.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { Dialect } from '../sql/dialect.ts'
import { chunksOf } from '../support/chunks-of.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { SqlChangeLog } from './change-log.ts'
import { DatabaseError, type Driver, type Query, type Reader, type Row } from './driver.ts'
import { EmbeddedTexts } from './embedded-texts.ts'
import { FullDiskReport } from './full-disk-report.ts'
import { SqlReads } from './sql-reads.ts'
import { Encoders, SqlRecords } from './sql-records.ts'
import type { SqlStoredAnswers } from './sql-stored-answers.ts'
import { fewRows, longBytes, SqlTransaction, type TransactionLimits } from './sql-transaction.ts'
import type { WriteStatement } from './sql-writes.ts'
import { type FindStatement, StatementCompiler } from './statement-compiler.ts'
import type {
  ReadOptions,
  Reads,
  Records,
  Snapshot,
  Store,
  Transaction,
  TransactionContext,
  WriteContext,
} from './store.ts'
import type { TableVersions } from './table-versions.ts'
import { TextReads } from './text-reads.ts'
import type { TextSource } from './text-source.ts'
import { TimeLimit } from './time-limit.ts'
import { annotateError, notStored, reasonOf, toServiceError } from './to-service-error.ts'
import { tooLargeRecord } from './too-many-affected.ts'
import { setOperation } from './write-origin.ts'

export interface SqlStoreParts {
  readonly driver: Driver
  readonly dialect: Dialect
  readonly changes: SqlChangeLog
  readonly description: string
  readonly secret: string
  readonly isSecretShared: boolean
  /** Whether several statements may be on their way at once. */
  readonly overlaps?: boolean
  /** Whether transactions run beside each other. */
  readonly hasConcurrentWriters?: boolean
  /** What one transaction may change. */
  readonly limits: TransactionLimits
  /** Whether the database itself rejects values of the attribute's column that are not JSON. */
  readonly hasJsonCheck: (attribute: Attribute) => boolean
  /** The tables of which the deletion of one row may read another table whole: each is deleted in a turn of its own. */
  readonly slowDeletes?: ReadonlySet<string>
  readonly answers?: SqlStoredAnswers
  readonly versions?: TableVersions | undefined
  /** Undefined: no texts of records are kept. */
  readonly texts?: TextSource | undefined
  /** Receives errors that belong to no request. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Receives the errors of requests, for what the database alone refuses. */
  readonly onRefusal?: ((error: unknown) => void) | undefined
  /** As for `StatementCompiler`. */
  readonly groupsLookups?: (model: Model) => boolean
  /** Called for a duplicate generated key; true: the sequence was advanced, and a retry may succeed. */
  readonly resyncSequence?: (model: Model) => Promise<boolean>
}

/** Compiling a statement takes longer than in proportion to its parts. */
const conditionsPerStatement = 100

const none: readonly never[] = []

/** The part of a store that is common to all SQL databases. */
export class SqlStore extends SqlReads implements Store {
  readonly #driver: Driver
  readonly #limits: TransactionLimits
  readonly #fullDisk: FullDiskReport
  readonly #onRefusal: SqlStoreParts['onRefusal']
  readonly #resyncSequence: SqlStoreParts['resyncSequence']
  readonly #slowDeletes: SqlStoreParts['slowDeletes']
  readonly #texts: TextReads | undefined
  readonly #embedded: EmbeddedTexts | undefined
  #isClosed = false
  readonly changes: SqlChangeLog
  readonly overlaps: boolean | undefined
  readonly hasConcurrentWriters: boolean | undefined
  readonly answers: SqlStoredAnswers | undefined
  readonly versions: TableVersions | undefined
  readonly keepsTexts: boolean
  readonly description: string
  readonly secret: string
  readonly isSecretShared: boolean

  constructor(parts: SqlStoreParts) {
    const { driver, dialect, hasJsonCheck } = parts
    super(
      driver,
      new StatementCompiler(dialect, hasJsonCheck, parts.groupsLookups),
      new Encoders(dialect),
      (error, subject) => this.#fail(annotateError(error, subject)),
    )
    this.#driver = driver
    this.#limits = parts.limits
    this.#fullDisk = new FullDiskReport(parts.onError)
    this.#onRefusal = parts.onRefusal
    this.#resyncSequence = parts.resyncSequence
    this.#slowDeletes = parts.slowDeletes
    this.changes = parts.changes
    this.overlaps = parts.overlaps
    this.hasConcurrentWriters = parts.hasConcurrentWriters
    this.answers = parts.answers
    this.versions = parts.versions
    this.description = parts.description
    this.secret = parts.secret
    this.isSecretShared = parts.isSecretShared
    this.keepsTexts = parts.texts !== undefined
    this.#texts = parts.texts && new TextReads(parts.texts, this.compiler, this.encoders)
    this.#embedded = parts.texts && new EmbeddedTexts(parts.texts, this.compiler, this.encoders)
  }

  override find(
    model: Model,
    criteria: Criteria,
    options?: ReadOptions,
    members?: readonly string[],
  ): MaybePromise<Records> {
    if (!members || !this.#texts) return super.find(model, criteria, options, members)
    const execute = (statement: FindStatement, result: (rows: readonly Row[]) => Records) =>
      members.length === 0
        ? this.executePage(statement, model, criteria, options, result)
        : this.execute(statement, model, options, result)
    return this.#texts.find(model, criteria, members, options, execute) ?? super.find(model, criteria, options, members)
  }

  relatedTexts(
    association: Association,
    keys: readonly Json[],
    criteria: Criteria,
  ): MaybePromise<readonly string[] | undefined> {
    return this.#embedded?.read(association, keys, criteria)
  }

  async matching(
    model: Model,
    ids: readonly Json[],
    conditions: readonly Condition[],
  ): Promise<readonly ReadonlySet<Json>[]> {
    const found = conditions.map(() => new Set<Json>())
    const { dialect } = this.encoders
    let first = 0
    for (const some of chunksOf(conditions, conditionsPerStatement)) {
      const statement = this.compiler.matching(model, ids, some)
      const add = (rows: readonly Row[]): void => {
        for (const [number, key] of rows) found[first + Number(number)]?.add(dialect.decode(model.primaryKey, key))
      }
      await this.execute(statement, model, undefined, add)
      first += some.length
    }
    return found
  }

  insert(model: Model, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    const statement = this.compiler.writes.insert(model, assignments, false)
    const { maxRecordBytes } = this.#limits
    if (statement.bytes > maxRecordBytes) return Promise.reject(tooLargeRecord(model, maxRecordBytes))
    const inserted = this.#write(statement, model, assignments, context, true)
    if (!this.#resyncSequence) return inserted
    return inserted.catch(async (error: unknown) => {
      const { primaryKey } = model
      const isGenerated = primaryKey.autoIncrement && assignments.every(({ attribute }) => attribute !== primaryKey)
      const isDuplicate = reasonOf(error)?.kind === 'unique'
      if (!isGenerated || !isDuplicate || !(await this.#resyncSequence?.(model))) throw error
      return this.#write(statement, model, assignments, context, true)
    })
  }

  updateByKey(model: Model, id: Json, assignments: readonly Assignment[], context?: WriteContext): Promise<Records> {
    const statement = this.compiler.writes.updateByKey(model, id, assignments)
    if (statement.bytes > longBytes) {
      const where = primaryKeyEquals(model, id)
      return this.transaction((transaction) => transaction.update(model, where, assignments), context)
    }
    return this.#write(statement, model, assignments, context)
  }

  async update(
    model: Model,
    where: Condition,
    assignments: readonly Assignment[],
    context?: WriteContext,
  ): Promise<Records> {
    const statement = this.compiler.writes.update(model, where, assignments)
    if (maxMatches(where) > fewRows || statement.bytes > longBytes)
      return this.transaction((transaction) => transaction.update(model, where, assignments), context)
    return this.#write(statement, model, assignments, context)
  }

  async delete(model: Model, where: Condition, context?: WriteContext): Promise<Records> {
    if (maxMatches(where) > fewRows) return this.transaction((transaction) => transaction.delete(model, where), context)
    return this.#write(this.compiler.writes.delete(model, where), model, none, context)
  }

  /** One promise: a plain write has one for each stage that waits. */
  #write(
    { text, values, select, row }: WriteStatement,
    model: Model,
    assignments: readonly Assignment[],
    context: WriteContext | undefined,
    isInsert = false,
  ): Promise<Records> {
    const { encoders } = this
    return this.#driver.write(text, values, context?.origin, row).then(
      (rows) => {
        if (isInsert && rows.length === 0) throw notStored(model)
        if (context?.origin !== undefined && encoders.dialect.operation) encoders.noteOperation(rows, context.origin)
        return new SqlRecords(rows, select, encoders)
      },
      (error: unknown) => {
        this.#fullDisk.see(error)
        return this.#fail(annotateError(error, { model, assignments }))
      },
    )
  }

  async transaction<T>(
    work: (transaction: Transaction) => MaybePromise<T>,
    { origin, timeoutMs, maxReadMs, isSerializable }: TransactionContext = {},
  ): Promise<T> {
    const { compiler, encoders, answers } = this
    const run = (query: Query): MaybePromise<T> => {
      setOperation(origin, undefined) // it may be run again
      const [limits, slowDeletes] = [this.#limits, this.#slowDeletes]
      return work(new SqlTransaction({ query, compiler, encoders, answers, limits, origin, slowDeletes }))
    }
    try {
      if (timeoutMs === undefined) {
        const limit = new TimeLimit(this.#limits.writeTimeoutMs, 'writeTimeoutMs')
        const bounded = (query: Query): MaybePromise<T> =>
          run((text, values, options) => {
            limit.assertLeft()
            return query(text, values, options)
          })
        return await this.#driver.transaction(bounded, origin, { isSerializable })
      }
      const limit = new TimeLimit(timeoutMs)
      const limited = (query: Query): Promise<T> =>
        limit.run((assertOpen) =>
          run((text, values, options) => {
            assertOpen()
            return query(text, values, options)
          }),
        )
      return await this.#driver.transaction(limited, origin, { isExclusive: true, maxReadMs, isSerializable })
    } catch (error) {
      this.#fullDisk.see(error)
      return this.#fail(error)
    }
  }

  snapshot<T>(work: (reads: Reads) => MaybePromise<T>, options?: ReadOptions): MaybePromise<Snapshot<T>> {
    try {
      const snapshot = this.#driver.snapshot((reader) => this.#readSnapshot(reader, work), options)
      return snapshot instanceof Promise ? snapshot.catch((error) => this.#fail(error)) : snapshot
    } catch (error) {
      return this.#fail(error)
    }
  }

  #readSnapshot<T>(reader: Reader, work: (reads: Reads) => MaybePromise<T>): MaybePromise<Snapshot<T>> {
    const query: Query = (text, values) => reader.read({ text, values, access: 'key' })
    const withPosition = (value: T): MaybePromise<Snapshot<T>> => {
      const position = this.changes.headIn(query)
      return position instanceof Promise ? position.then((position) => ({ value, position })) : { value, position }
    }
    const value = work(new SqlReads(reader, this.compiler, this.encoders))
    return value instanceof Promise ? value.then(withPosition) : withPosition(value)
  }

  /**
   * The only translation of database errors, outside of transactions: it may read, and on a single connection that read
   * would wait for the transaction that failed.
   */
  async #fail(error: unknown): Promise<never> {
    if (this.#isClosed && error instanceof DatabaseError && error.reason.kind === 'lost')
      throw new ServiceError('E_UNAVAILABLE', 'The service is closed', { cause: error })
    const failure = await toServiceError(error, this)
    this.#onRefusal?.(failure)
    throw failure
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await this.#driver[Symbol.asyncDispose]()
  }
}

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { isBytes } from '../../../support/is-bytes.ts'
import { Lru } from '../../../support/lru.ts'
import { type ByteBudget, readBytesPerAnswerByte, tooLarge } from '../../byte-budget.ts'
import type { Row } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { isOutOfRange, isTooBig, violatedIndex } from '../errors.ts'
import { Lookaside } from './lookaside.ts'
import {
  lengthOf,
  longest,
  type MeasuredRows,
  maxLength,
  measured,
  RowsTooLarge,
  shortBytes,
  step,
} from './measured-rows.ts'
import { SharedSnapshot } from './shared-snapshot.ts'

/** Preparing takes four times as long as running; the least recently used statements beyond this number are prepared again. */
const keptStatements = 500
/** They may have so many characters together: SQLite takes up to 25 bytes for each. A short one counts as one of this length. */
const keptCharacters = 400_000
const shortCharacters = keptCharacters / keptStatements

/** A write of a longer text may change more than SQLite keeps in memory while a statement runs. */
const longText = 4_000

/** A statement with its values, or a function that runs several. */
interface Written {
  readonly run: unknown
  readonly values: readonly unknown[]
}

export interface ConnectionOptions {
  readonly readOnly: boolean
  /** For a connection that reads: whether writes of this process are queued. */
  readonly isWriting?: () => boolean
}

/** One connection and its prepared statements. Throws the errors of node:sqlite. */
export class Connection implements Disposable {
  readonly #database: DatabaseSync
  /** Undefined on a connection for reads, whose statements need almost none. */
  readonly #lookaside: Lookaside | undefined
  /** Undefined on a connection that writes. */
  readonly #shared: SharedSnapshot | undefined
  /** Node 24 has no such limits. */
  readonly #limits: DatabaseSync['limits'] | undefined
  /** The current limit on the length of values. */
  #length = maxLength
  #journalsInMemory = false
  readonly #statements = new Lru<string, StatementSync>(
    keptCharacters,
    (statement) => this.#finalize(statement),
    ({ length }) => Math.max(length, shortCharacters),
  )
  /** The last one of `all`: most writes have the text of the one before. */
  #latest: { readonly text: string; readonly statement: StatementSync } | undefined
  /** Throws where a statement that is stepped must end. */
  onStep: () => void = () => {}
  /** Texts that have returned an integer beyond 2^53. */
  readonly #big = new Set<string>()
  /** Texts that have returned values that are not short. */
  readonly #large = new Lru<string, true>(keptStatements)

  constructor(path: string, { readOnly, isWriting = () => false }: ConnectionOptions) {
    // No busy timeout: it would block the event loop.
    this.#database = new DatabaseSync(path, {
      readOnly,
      timeout: 0,
      enableForeignKeyConstraints: true,
    })
    try {
      this.#lookaside = readOnly ? undefined : new Lookaside(this.#database)
      this.#shared = readOnly ? new SharedSnapshot(this.#database, isWriting) : undefined
    } catch (error) {
      this.#database.close()
      throw error
    }
    this.#limits = this.#database.limits
  }

  /** Runs to completion: an unfinished `returning` would keep the WAL from being checkpointed. */
  all(text: string, values: readonly unknown[]): readonly Row[] {
    this.#shared?.end()
    if (this.#length !== maxLength) this.#limitLength(maxLength)
    if (this.#latest?.text !== text)
      this.#latest = { text, statement: this.#statements.get(text) ?? this.#prepareKept(text) }
    const { statement } = this.#latest
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (isOutOfRange(error)) this.#readBig(text, statement)
      const index = violatedIndex(error)
      if (index !== undefined) (error as { table?: unknown }).table = this.#tableOf(index)
      throw error
    }
  }

  /** As `all`, for statements that may be run twice. `poll` is that of `ReadOptions`. */
  read(text: string, values: readonly unknown[], budget?: ByteBudget, poll?: number): readonly Row[] {
    if (poll !== this.#shared?.poll) this.#shared?.join(poll)
    if (budget) return this.#spend(budget, text, values)
    if (this.#length !== maxLength) this.#limitLength(maxLength)
    const statement = this.#statements.get(text) ?? this.#prepareKept(text)
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (!isOutOfRange(error)) throw error
      this.#readBig(text, statement)
      return this.all(text, values)
    }
  }

  /**
   * A lookup by key. Of what a client reads the bytes are bounded, and a value that is too long is not read.
   */
  readKey(
    text: string,
    values: readonly unknown[],
    options: ReadOptions | undefined,
    maxAnswerBytes: number,
  ): readonly Row[] {
    if (options === undefined || options.budget) return this.read(text, values, options?.budget, options?.poll)
    if (options.poll !== this.#shared?.poll) this.#shared?.join(options.poll)
    const maxBytes = maxAnswerBytes * readBytesPerAnswerByte
    const length = lengthOf(maxBytes)
    if (this.#length !== length) this.#limitLength(length)
    const statement = this.#statements.get(text) ?? this.#prepareKept(text)
    try {
      const rows = statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
      let bytes = 0
      for (const row of rows)
        for (const value of row) if (typeof value === 'string' || isBytes(value)) bytes += value.length
      if (bytes > maxBytes) throw tooLarge(maxAnswerBytes)
      return rows
    } catch (error) {
      if (isTooBig(error)) throw tooLarge(maxAnswerBytes)
      if (!isOutOfRange(error) || this.#big.has(text)) throw error
      this.#readBig(text, statement)
      return this.readKey(text, values, options, maxAnswerBytes)
    }
  }

  #spend(budget: ByteBudget, text: string, values: readonly unknown[]): readonly Row[] {
    try {
      const { rows, bytes } = this.readWithin(text, values, budget.left)
      budget.take(bytes)
      return rows
    } catch (error) {
      throw error instanceof RowsTooLarge ? budget.exceeded : error
    }
  }

  /**
   * As `read`, but not more than so many bytes. Stepping from row to row takes half as long again as reading all at once,
   * which SQLite ends at the first value that is not short.
   */
  readWithin(text: string, values: readonly unknown[], maxBytes: number): MeasuredRows {
    const statement = this.#statements.get(text) ?? this.#prepareKept(text)
    try {
      const rows = this.#large.get(text) ? undefined : this.#readShort(statement, values)
      if (rows) return measured(rows, maxBytes)
      this.#large.set(text, true)
      this.#limitLength(longest(values, lengthOf(maxBytes)))
      return step(statement, values, maxBytes, this.onStep)
    } catch (error) {
      if (error instanceof RowsTooLarge) throw error
      if (isTooBig(error)) throw new RowsTooLarge()
      // A statement that has failed while it was stepped fails once more when it begins again.
      const again = this.#prepareKept(text)
      if (!isOutOfRange(error) || this.#big.has(text)) throw error
      this.#readBig(text, again)
      return this.readWithin(text, values, maxBytes)
    }
  }

  /** Reads rows of short values; undefined if one of them is longer. */
  #readShort(statement: StatementSync, values: readonly unknown[]): readonly Row[] | undefined {
    if (!this.#limits) return undefined
    this.#limitLength(longest(values, shortBytes))
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (isTooBig(error)) return undefined
      throw error
    }
  }

  #limitLength(bytes: number): void {
    if (this.#limits === undefined || bytes === this.#length) return
    this.#limits.length = bytes
    this.#length = bytes
  }

  /** A function for SQL that is called for every row. */
  define(name: string, run: (...values: unknown[]) => SQLInputValue): void {
    this.#database.function(name, run)
  }

  exec(text: string): void {
    this.#shared?.end()
    this.#database.exec(text)
  }

  /**
   * Begins a transaction of these writes. What a statement would restore if it failed is kept in memory up to 64 kB and then in a file,
   * where all that a large write changes would be written once more. Several statements, and long values, have it in memory
   * always, which takes longer for each page.
   */
  begin(writes: readonly Written[]): void {
    let isLarge = false
    for (const { run, values } of writes) {
      if (run) isLarge = true
      for (const value of values) if (typeof value === 'string' && value.length > longText) isLarge = true
    }
    if (isLarge !== this.#journalsInMemory) {
      this.exec(`pragma temp_store = ${isLarge ? 'memory' : 'default'}`)
      this.#journalsInMemory = isLarge
    }
    this.exec('begin immediate')
  }

  /** Whether a transaction is open that its caller began. */
  get inTransaction(): boolean {
    return this.#database.isTransaction && this.#shared?.poll === undefined && !this.#shared?.isHeld
  }

  /** Until `release`, all reads have the state of this moment. For connections that read. */
  hold(): void {
    this.#shared?.hold()
  }

  release(): void {
    this.#shared?.release()
  }

  /** All reads of `work` have the same state. For connections that read. */
  inOneState<T>(work: () => T): T {
    if (this.#shared?.isHeld) return work()
    this.all('begin', [])
    try {
      return work()
    } finally {
      this.all('commit', [])
    }
  }

  /** Later reads see what is committed now. */
  endShared(): void {
    this.#shared?.end()
  }

  /** For a caller that keeps the statement. Its rows are arrays. */
  prepare(text: string): StatementSync {
    const prepare = (): StatementSync => this.#database.prepare(text)
    const statement = this.#lookaside ? this.#lookaside.without(prepare) : prepare()
    statement.setReturnArrays(true)
    return statement
  }

  #prepareKept(text: string): StatementSync {
    const statement = this.prepare(text)
    if (this.#big.has(text)) statement.setReadBigInts(true)
    this.#statements.set(text, statement)
    return statement
  }

  /** At once: a garbage collection would finalize thousands in one pause. Those of Node 24 cannot be. */
  #finalize(statement: StatementSync & Partial<Disposable>): void {
    if (this.#latest?.statement === statement) this.#latest = undefined
    statement[Symbol.dispose]?.()
  }

  #tableOf(index: string): unknown {
    return this.all(`select tbl_name from sqlite_schema where type = 'index' and name = ?`, [index])[0]?.[0]
  }

  #readBig(text: string, statement: StatementSync): void {
    if (this.#big.size < keptStatements) this.#big.add(text)
    statement.setReadBigInts(true)
  }

  [Symbol.dispose](): void {
    this.#shared?.end()
    if (this.#database.isOpen) this.#database.close()
  }
}

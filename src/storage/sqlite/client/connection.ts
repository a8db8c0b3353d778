import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Lru } from '../../../support/lru.ts'
import type { Row } from '../../driver.ts'
import { isOutOfRange } from '../errors.ts'

/** Preparing takes four times as long as running; the least recently used statements beyond this number are prepared again. */
const keptStatements = 500

/** One connection and its prepared statements. Throws the errors of node:sqlite. */
export class Connection implements Disposable {
  readonly #database: DatabaseSync
  readonly #statements = new Lru<string, StatementSync>(keptStatements)
  /** Texts that have returned an integer beyond 2^53. */
  readonly #big = new Set<string>()

  constructor(path: string, options: { readonly readOnly: boolean }) {
    // No busy timeout: it would block the event loop.
    this.#database = new DatabaseSync(path, {
      readOnly: options.readOnly,
      timeout: 0,
      enableForeignKeyConstraints: true,
    })
  }

  /** Runs to completion: an unfinished `returning` would keep the WAL from being checkpointed. */
  all(text: string, values: readonly unknown[]): readonly Row[] {
    const statement = this.#statements.get(text) ?? this.#prepare(text)
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (isOutOfRange(error)) this.#readBig(text, statement)
      throw error
    }
  }

  /** As `all`, for statements that may be run twice. */
  read(text: string, values: readonly unknown[]): readonly Row[] {
    const statement = this.#statements.get(text) ?? this.#prepare(text)
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (!isOutOfRange(error)) throw error
      this.#readBig(text, statement)
      return this.all(text, values)
    }
  }

  /** A function for SQL that is called for every row. */
  define(name: string, run: (...values: unknown[]) => SQLInputValue): void {
    this.#database.function(name, run)
  }

  exec(text: string): void {
    this.#database.exec(text)
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  #prepare(text: string): StatementSync {
    const statement = this.#database.prepare(text)
    statement.setReturnArrays(true)
    if (this.#big.has(text)) statement.setReadBigInts(true)
    this.#statements.set(text, statement)
    return statement
  }

  #readBig(text: string, statement: StatementSync): void {
    if (this.#big.size < keptStatements) this.#big.add(text)
    statement.setReadBigInts(true)
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close()
  }
}

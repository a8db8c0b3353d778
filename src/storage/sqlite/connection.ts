import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { Lru } from '../../support/lru.ts'
import type { Row } from '../driver.ts'
import { isOutOfRange } from './errors.ts'

/** Preparing costs four times what running does; shapes past this number are prepared again. */
const keptStatements = 500

/** One connection and its prepared statements. Throws what node:sqlite throws. */
export class Connection implements Disposable {
  readonly #database: DatabaseSync
  readonly #statements = new Lru<string, StatementSync>(keptStatements)
  /** Texts whose rows held an integer beyond 2^53. */
  readonly #big = new Set<string>()

  constructor(path: string, options: { readonly readOnly: boolean }) {
    // No busy timeout: waiting there stops every other request of this process as well.
    this.#database = new DatabaseSync(path, {
      readOnly: options.readOnly,
      timeout: 0,
      enableForeignKeyConstraints: true,
    })
  }

  /** Runs to the end, so that a `returning` lets the write-ahead log be cleaned. */
  all(text: string, values: readonly unknown[]): readonly Row[] {
    const statement = this.#statements.get(text) ?? this.#prepare(text)
    try {
      return statement.all(...(values as SQLInputValue[])) as unknown as readonly Row[]
    } catch (error) {
      if (isOutOfRange(error)) this.#readBig(text, statement)
      throw error
    }
  }

  /** As `all`, for what may be run twice. */
  read(text: string, values: readonly unknown[]): readonly Row[] {
    try {
      return this.all(text, values)
    } catch (error) {
      if (isOutOfRange(error)) return this.all(text, values)
      throw error
    }
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

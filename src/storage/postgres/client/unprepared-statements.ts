import type * as pg from 'pg'
import { type Setting, settingCalls, transactionScript } from './session-settings.ts'
import {
  type StatementWriter,
  setOriginCall,
  setOriginStatement,
  writeExecute,
  writeParse,
} from './statement-writer.ts'
import type { QueryRequest } from './text-query.ts'

/**
 * For a pooler that may serve each transaction by another process of the server: every transaction begins with its settings,
 * and no statement has a name.
 */
export class UnpreparedStatements implements StatementWriter {
  readonly prepared = 0
  readonly #select: string
  readonly #selectWithOrigin: string
  readonly #afterBegin: string
  #isInTransaction = false

  constructor(settings: readonly Setting[]) {
    const calls = settingCalls(settings)
    this.#select = `select ${calls}`
    this.#selectWithOrigin = `select ${setOriginCall}, ${calls}`
    this.#afterBegin = transactionScript(settings)
  }

  write(request: QueryRequest, wire: pg.Connection): number {
    const { text, values, how, transaction } = request
    if (how === 'several') {
      wire.query(transaction === 'begin' ? `${text}; ${this.#afterBegin}` : text)
      if (transaction !== undefined) this.#isInTransaction = transaction === 'begin'
      return 0
    }
    // Everything up to `sync` is one transaction.
    const preceding = this.#writeSettings(request, wire)
    writeExecute(wire, writeParse(wire, '', text), values, 'last')
    return preceding
  }

  /** Returns the number of statements. */
  #writeSettings({ origin }: QueryRequest, wire: pg.Connection): number {
    if (this.#isInTransaction && origin === undefined) return 0
    const text = this.#isInTransaction
      ? setOriginStatement
      : origin === undefined
        ? this.#select
        : this.#selectWithOrigin
    writeExecute(wire, writeParse(wire, '', text), origin === undefined ? [] : [origin], 'before another')
    return 1
  }

  forget(): void {}
}

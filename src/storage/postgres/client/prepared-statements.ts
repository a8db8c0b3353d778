import type * as pg from 'pg'
import { type StatementWriter, setOriginStatement, writeExecute, writeParse } from './statement-writer.ts'
import type { QueryRequest } from './text-query.ts'

/** Prepared statements of one connection. */
const keptStatements = 500
/** Characters of their texts: with its plan, a statement takes a hundred times as many bytes on the server. */
const keptCharacters = 400_000

/** Prepares statements by name, for a connection that has a process of the server for itself. */
export class PreparedStatements implements StatementWriter {
  readonly #names = new Map<string, string>()
  #characters = 0
  /** Names of prepared statements that are closed with the next query. */
  #statementsToClose: string[] = []
  prepared = 0

  write(request: QueryRequest, wire: pg.Connection): number {
    if (request.how === 'several') {
      wire.query(request.text)
      return 0
    }
    for (const name of this.#statementsToClose) wire.close({ type: 'S', name }, true)
    this.#statementsToClose = []
    // Everything up to `sync` is one transaction, so the setting applies to this statement only.
    if (request.origin !== undefined)
      writeExecute(wire, this.#prepare(wire, setOriginStatement), [request.origin], 'before another')
    writeExecute(
      wire,
      request.how === 'kept' ? this.#prepare(wire, request.text) : writeParse(wire, '', request.text),
      request.values,
      'last',
    )
    return request.origin === undefined ? 0 : 1
  }

  forget({ text, origin }: QueryRequest): void {
    this.#discard(text)
    if (origin !== undefined) this.#discard(setOriginStatement)
  }

  #prepare(wire: pg.Connection, text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    for (const oldest of this.#names.keys()) {
      if (this.#names.size < keptStatements && this.#characters + text.length <= keptCharacters) break
      this.#discard(oldest)
    }
    const name = `k${++this.prepared}`
    this.#names.set(text, name)
    this.#characters += text.length
    return writeParse(wire, name, text)
  }

  /** Names are not reused, so it does not matter whether the server has this one. */
  #discard(text: string): void {
    const name = this.#names.get(text)
    if (name === undefined) return
    this.#names.delete(text)
    this.#characters -= text.length
    this.#statementsToClose.push(name)
  }
}

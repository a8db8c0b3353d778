import { ServiceError } from '../protocol/errors.ts'
import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql, textOf } from '../sql/sql.ts'
import { andThen, type MaybePromise } from '../support/maybe-promise.ts'
import { DatabaseError, type Driver, type Query, type Row } from './driver.ts'
import type { AnswerRetention, AnswerTable, StoredAnswer, StoredAnswers } from './stored-answers.ts'

export const answerTable = 'keelson_answer'

export interface SqlStoredAnswersParts {
  readonly driver: Pick<Driver, 'query' | 'write' | 'transaction'>
  readonly dialect: Pick<Dialect, 'placeholder'>
  /** The table, quoted, with its schema where the search path may not contain it. */
  readonly table: string
  /** Whether the table may be created. */
  readonly mayCreate: boolean
  readonly stored: AnswerTable
}

/** Stored answers in a table of their own, which is neither served nor logged. */
export class SqlStoredAnswers implements StoredAnswers {
  readonly #parts: SqlStoredAnswersParts
  readonly #table: Sql
  #prepared: Promise<void> | undefined
  /** Since its size was asked for. */
  #hasGrown = false
  #size = 0

  constructor(parts: SqlStoredAnswersParts) {
    this.#parts = parts
    this.#table = raw(parts.table)
  }

  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare().catch((error: unknown) => {
      this.#prepared = undefined
      throw error
    })
    return this.#prepared
  }

  async #prepare(): Promise<void> {
    if (await this.#exists()) return
    const { mayCreate, driver, table } = this.#parts
    if (!mayCreate)
      throw new ServiceError(
        'E_BAD_REQUEST',
        'Idempotency-Key is not supported here: the database has no table for answers, and migrate is "safe"',
      )
    const definition = `create table if not exists ${table} (id text primary key, request text not null, status integer not null, at bigint not null, headers text not null, body text)`
    try {
      await driver.transaction((query) => query(definition, []), undefined)
    } catch (error) {
      // Another process may have created it at the same time.
      if (!(await this.#exists())) throw error
    }
  }

  async #exists(): Promise<boolean> {
    try {
      await this.#read(sql`select 1 from ${this.#table} limit 0`)
      return true
    } catch (error) {
      if (error instanceof DatabaseError && error.reason.kind === 'missing') return false
      throw error
    }
  }

  find(id: string): MaybePromise<StoredAnswer | undefined> {
    const body = raw(this.#parts.stored.body)
    const found = this.#read(sql`select request, status, headers, ${body}, at from ${this.#table} where id = ${id}`)
    return andThen(found, ([row]) => {
      if (!row) return undefined
      const [request, status, headers, body, at] = row as [string, unknown, string, StoredAnswer['body'], unknown]
      return { id, request, status: Number(status), headers, body, at: Number(at) }
    })
  }

  /** Stores an answer in the transaction of its write. False if there is an answer with this id. */
  keep({ id, request, status, headers, body, at }: StoredAnswer, query: Query): MaybePromise<boolean> {
    this.#hasGrown = true
    const statement = sql`insert into ${this.#table} (id, request, status, headers, body, at) values (${id}, ${request}, ${status}, ${headers}, ${body}, ${at}) on conflict (id) do nothing returning 1`
    return andThen(query(this.#spell(statement), statement.values), (rows) => rows.length > 0)
  }

  async trim(retention: AnswerRetention): Promise<void> {
    if (!(await this.#exists())) return
    await this.#parts.stored.trim(retention)
    this.#hasGrown ||= this.#size > 0
  }

  async size(): Promise<number> {
    if (this.#hasGrown) {
      this.#hasGrown = false
      this.#size = await this.#parts.stored.size()
    }
    return this.#size
  }

  #read(statement: Sql): MaybePromise<readonly Row[]> {
    return this.#parts.driver.query(this.#spell(statement), statement.values)
  }

  #spell(statement: Sql): string {
    return textOf(statement, this.#parts.dialect.placeholder)
  }
}

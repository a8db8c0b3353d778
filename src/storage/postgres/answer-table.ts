import type { Driver } from '../driver.ts'
import type { AnswerRetention, AnswerTable } from '../stored-answers.ts'
import { relationSize } from './relation-size.ts'

/** Rows deleted in one statement, so that locks are not held for long. */
const deletedAtOnce = 5_000

export class PostgresAnswerTable implements AnswerTable {
  readonly body = 'body'
  readonly #driver: Pick<Driver, 'query' | 'write'>
  /** Quoted, with its schema. */
  readonly #table: string

  constructor(driver: Pick<Driver, 'query' | 'write'>, table: string) {
    this.#driver = driver
    this.#table = table
  }

  size(): Promise<number> {
    return relationSize(this.#driver.query, this.#table)
  }

  async trim({ olderThan, rows, bytes }: AnswerRetention): Promise<void> {
    // `offset 0` lets the sizes be computed before the sort, which otherwise has all headers and bodies.
    const [until] = await this.#driver.query(
      `select greatest($1::bigint - 1, (select max(at) from
         (select at, count(*) over newest as answers, sum(bytes) over newest as bytes from
           (select at, 200 + pg_column_size(headers) + coalesce(pg_column_size(body), 0) as bytes from ${this.#table} offset 0) a
          window newest as (order by at desc)) a
         where answers > $2::bigint or bytes > $3::bigint))`,
      [String(olderThan), String(rows), String(bytes)],
    )
    const statement = `with gone as (select ctid from ${this.#table} where at <= $1::bigint limit ${deletedAtOnce})
      delete from ${this.#table} a using gone where a.ctid = gone.ctid returning 1`
    for (;;) {
      const deleted = await this.#driver.write(statement, [until?.[0]], undefined)
      if (deleted.length < deletedAtOnce) return
    }
  }
}

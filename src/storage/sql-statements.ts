import type { Dialect } from '../sql/dialect.ts'
import { type Sql, textOf } from '../sql/sql.ts'
import type { Driver, Query, Row } from './driver.ts'

/** Runs statements of the service itself. */
export class SqlStatements {
  readonly #driver: Pick<Driver, 'query' | 'transaction'>
  readonly #dialect: Pick<Dialect, 'placeholder'>

  constructor(driver: Pick<Driver, 'query' | 'transaction'>, dialect: Pick<Dialect, 'placeholder'>) {
    this.#driver = driver
    this.#dialect = dialect
  }

  query(statement: Sql): Promise<readonly Row[]> {
    return this.run(this.#driver.query, statement)
  }

  /** In a transaction of its own. */
  write(statement: Sql): Promise<readonly Row[]> {
    return this.transaction((query) => this.run(query, statement))
  }

  transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    return this.#driver.transaction(work, undefined)
  }

  async run(query: Query, statement: Sql): Promise<readonly Row[]> {
    return query(textOf(statement, this.#dialect.placeholder), statement.values)
  }
}

import { join, raw, type Sql, sql } from '../sql/sql.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import type { Row } from './driver.ts'
import { type DeadLetter, type DeadLetterSelection, jobEventRowBytes } from './job-store.ts'
import type { SqlStatements } from './sql-statements.ts'

/** Dead letters whose sizes are read in one statement. */
const sizesAtOnce = 1_000
/** Dead letters that one transaction deletes, and bytes of them: SQLite needs time for the pages of long texts. */
const deletedAtOnce = 500
const deletedBytesAtOnce = 4_000_000

export interface SqlDeadLettersParts {
  readonly statements: SqlStatements
  /** The tables of jobs and of their events. */
  readonly jobs: Sql
  readonly events: Sql
  /** As in `SqlJobStoreParts`. */
  readonly listOf: (ids: readonly number[]) => Sql
}

/** The events of jobs that are not run again until a command says so. */
export class SqlDeadLetters {
  readonly #parts: SqlDeadLettersParts

  constructor(parts: SqlDeadLettersParts) {
    this.#parts = parts
  }

  async find(selection: DeadLetterSelection): Promise<readonly DeadLetter[]> {
    const rows = await this.#parts.statements.query(
      sql`select id, job, event, attempt, error, at from ${this.#parts.events} where ${selected(selection)} order by id`,
    )
    return rows.map(([id, name, text, attempt, error, at]) => ({
      id: Number(id),
      name: name as string,
      text: text as string,
      attempt: Number(attempt),
      error: (error as string | null) ?? undefined,
      at: Number(at),
    }))
  }

  retry(selection: DeadLetterSelection, now: number): Promise<number> {
    return this.#change(
      sql`update ${this.#parts.events} set dead = 0, attempt = 0, due_at = ${now} where ${selected(selection)} returning job`,
    )
  }

  drop(selection: DeadLetterSelection): Promise<number> {
    return this.#change(sql`delete from ${this.#parts.events} where ${selected(selection)} returning job`)
  }

  /** As `JobStore.trimLetters`. */
  async trim(name: string, bytes: number): Promise<number> {
    const last = await this.#lastBeyond(name, bytes)
    if (last === undefined) return 0
    let count = 0
    for (;;) {
      const oldest = await this.#parts.statements.query(
        sql`select id, octet_length(event) from ${this.#parts.events} where job = ${name} and dead = 1 and id <= ${last} order by id limit ${deletedAtOnce}`,
      )
      const ids: number[] = []
      for (let [index, left] = [0, deletedBytesAtOnce]; index < oldest.length && left > 0; index++) {
        const [id, length] = oldest[index] as Row
        ids.push(Number(id))
        left -= Number(length)
      }
      if (ids.length === 0) return count
      // One that a command has meanwhile queued again is not deleted.
      const deleted = await this.#parts.statements.write(
        sql`delete from ${this.#parts.events} where dead = 1 and id in (${this.#parts.listOf(ids)}) returning 1`,
      )
      count += deleted.length
      await yieldToEventLoop()
    }
  }

  /** The newest dead letter that has, with all newer ones, more than so many bytes. */
  async #lastBeyond(name: string, bytes: number): Promise<number | undefined> {
    let left = bytes
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const newest = await this.#parts.statements.query(
        sql`select id, octet_length(event) from ${this.#parts.events} where job = ${name} and dead = 1 and id < ${before} order by id desc limit ${sizesAtOnce}`,
      )
      for (const [id, length] of newest) {
        before = Number(id)
        left -= Number(length) + jobEventRowBytes
        if (left < 0) return before
      }
      if (newest.length < sizesAtOnce) return undefined
      await yieldToEventLoop()
    }
  }

  /** The holder compares the revision and reads what waits again. */
  #change(statement: Sql): Promise<number> {
    return this.#parts.statements.transaction(async (query) => {
      const rows = await this.#parts.statements.run(query, statement)
      for (const name of new Set(rows.map(([name]) => name as string)))
        await this.#parts.statements.run(
          query,
          sql`update ${this.#parts.jobs} set revision = revision + 1 where name = ${name} returning 1`,
        )
      return rows.length
    })
  }
}

const selected = ({ id, name }: DeadLetterSelection): Sql =>
  join(
    [
      raw('dead = 1'),
      ...(id === undefined ? [] : [sql`id = ${id}`]),
      ...(name === undefined ? [] : [sql`job = ${name}`]),
    ],
    ' and ',
  )

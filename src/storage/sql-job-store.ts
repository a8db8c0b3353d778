import { randomUUID } from 'node:crypto'
import type { Position } from '../protocol/change.ts'
import type { Dialect } from '../sql/dialect.ts'
import { raw, type Sql, sql } from '../sql/sql.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import type { Driver, Query, Row } from './driver.ts'
import {
  type DeadLetter,
  type DeadLetterSelection,
  type JobClaim,
  type JobSave,
  type JobState,
  type JobStore,
  jobEventIndex,
  jobEventTable,
  jobTable,
  type NewWaitingEvent,
  type WaitingEvent,
} from './job-store.ts'
import { SqlDeadLetters } from './sql-dead-letters.ts'
import { SqlStatements } from './sql-statements.ts'

/** A lease that ends more than this many times its length ahead was taken before the clock was set back. */
const longestLease = 10
/** Locks that end with their process, where the database has them. */
export interface JobLocks {
  /** Whether this process has the lock of the name. */
  take(name: string): Promise<boolean>
  /** Whether every lock taken is still held. */
  areHeld(): Promise<boolean>
  release(name: string): Promise<void>
  close(): Promise<void>
}

export interface SqlJobStoreParts {
  readonly driver: Pick<Driver, 'query' | 'transaction'>
  readonly dialect: Pick<Dialect, 'placeholder'>
  /** Statements that create the tables; undefined: they may not be created. */
  readonly definitions: readonly string[] | undefined
  /** The prefix of the tables: their schema. */
  readonly schema?: string
  /** Whether a table or an index exists. */
  readonly has: (name: string) => Promise<boolean>
  /** A list for `in`, in one bound value, so that the statement does not depend on the number of ids. */
  readonly listOf: (ids: readonly number[]) => Sql
  /** Without locks, a holder has a lease of this length, which it must renew. */
  readonly locks?: JobLocks | undefined
  readonly leaseMs: number
  /** The time of leases in milliseconds, where the processes may be on several machines. */
  readonly leaseTime?: Sql
  /** Whether another process holds the lock of a name until its session ends; asked in the transaction that takes a lease. */
  readonly isLocked?: ((query: Query, name: string) => Promise<boolean>) | undefined
  /** What a stored position is in the present history of the server, where a crash begins another one. */
  readonly renewed?: ((position: Position, query: Query) => MaybePromise<Position>) | undefined
  readonly now: () => number
}

/**
 * Only one process is the holder of a name: by a lock of the database where it has locks that end with a connection,
 * otherwise by a lease. On one database, some processes may have locks and others leases. In both cases every save carries
 * the number of its holder, and one of an earlier holder is refused.
 */
export class SqlJobStore implements JobStore {
  readonly #parts: SqlJobStoreParts
  readonly #owner = randomUUID()
  readonly #statements: SqlStatements
  readonly #jobs: Sql
  readonly #events: Sql
  readonly #letters: SqlDeadLetters

  constructor(parts: SqlJobStoreParts) {
    this.#parts = parts
    this.#jobs = raw(`${parts.schema ?? ''}${jobTable}`)
    this.#events = raw(`${parts.schema ?? ''}${jobEventTable}`)
    this.#statements = new SqlStatements(parts.driver, parts.dialect)
    this.#letters = new SqlDeadLetters({
      statements: this.#statements,
      jobs: this.#jobs,
      events: this.#events,
      listOf: parts.listOf,
    })
  }

  async prepare(): Promise<void> {
    const { definitions, has } = this.#parts
    if (await has(jobEventIndex)) return
    if (definitions === undefined) {
      // One that was created by an earlier version has no index, and does without it.
      if (await has(jobEventTable)) return
      throw new Error(
        `Jobs need the tables ${jobTable} and ${jobEventTable}, which migrate: "safe" does not create: start once with migrate: "add"`,
      )
    }
    await this.#statements.transaction(async (query) => {
      for (const statement of definitions) await query(statement, [])
    })
  }

  async register(names: Parameters<JobStore['register']>[0]): Promise<void> {
    for (const { name, position, dueAt } of names) {
      const [known] = await this.#statements.query(sql`select 1 from ${this.#jobs} where name = ${name}`)
      if (known) continue
      await this.#statements.write(
        sql`insert into ${this.#jobs} (name, position, due_at) values (${name}, ${position}, ${dueAt}) on conflict (name) do nothing`,
      )
    }
  }

  async claim(name: string): Promise<JobClaim | undefined> {
    const { locks } = this.#parts
    const isTaken = async () =>
      (await this.#statements.query(sql`select 1 from ${this.#jobs} where name = ${name} and ${this.#isFree()}`))
        .length === 0
    // Reading first: a statement that changes nothing would still wait for the writer.
    if (locks ? !(await locks.take(name)) : await isTaken()) return undefined
    const row = await this.#take(name)
    if (!row) {
      await locks?.release(name)
      return undefined
    }
    const [fence, position, dueAt, revision] = row
    return { fence: Number(fence), position: position as string, dueAt: Number(dueAt), revision: Number(revision) }
  }

  #take(name: string): Promise<Row | undefined> {
    const { locks, isLocked } = this.#parts
    const until = locks ? raw('null') : this.#leaseEnd()
    return this.#statements.transaction(async (query) => {
      if (await isLocked?.(query, name)) return undefined
      const [row] = await this.#statements.run(
        query,
        sql`update ${this.#jobs} set fence = fence + 1, owner = ${this.#owner}, lease_until = ${until} where name = ${name} and ${this.#isFree()} returning fence, position, due_at, revision`,
      )
      const { renewed } = this.#parts
      return row && renewed ? row.with(1, await renewed(row[1] as string, query)) : row
    })
  }

  /**
   * A holder by lock has no lease; a process that takes locks respects the lease of one that does not. What this process has given up,
   * because it could not renew its lease in time, is still its own.
   */
  #isFree(): Sql {
    const { leaseTime, leaseMs, now } = this.#parts
    const time = leaseTime ?? sql`${now()}`
    const longest = longestLease * leaseMs
    return sql`(owner = ${this.#owner} or lease_until is null or lease_until < ${time} or lease_until > ${time} + ${longest})`
  }

  #leaseEnd(): Sql {
    const { leaseTime, leaseMs, now } = this.#parts
    return leaseTime ? sql`${leaseTime} + ${leaseMs}` : sql`${now() + leaseMs}`
  }

  async renew(): ReturnType<JobStore['renew']> {
    const { locks } = this.#parts
    if (locks && !(await locks.areHeld())) return new Map()
    const rows = locks
      ? await this.#statements.query(sql`select name, fence, revision from ${this.#jobs} where owner = ${this.#owner}`)
      : await this.#statements.write(
          sql`update ${this.#jobs} set lease_until = ${this.#leaseEnd()} where owner = ${this.#owner} returning name, fence, revision`,
        )
    return new Map(
      rows.map(([name, fence, revision]) => [name as string, { fence: Number(fence), revision: Number(revision) }]),
    )
  }

  async release(name: string, fence: number): Promise<void> {
    await this.#statements.write(
      sql`update ${this.#jobs} set owner = null, lease_until = null where name = ${name} and fence = ${fence} returning 1`,
    )
    await this.#parts.locks?.release(name)
  }

  save(name: string, fence: number, save: JobSave): ReturnType<JobStore['save']> {
    return this.#statements.transaction(async (query) => {
      const run = (statement: Sql) => this.#statements.run(query, statement)
      const { position, dueAt, lostAt, added, failed, done } = save
      // A position that was read before a crash may cover numbers of transactions that are assigned again.
      const { renewed } = this.#parts
      if (renewed && (await renewed(position, query)) !== position) return 'fenced'
      const lost = lostAt === undefined ? raw('') : sql`, lost_at = ${lostAt}`
      const held = await run(
        sql`update ${this.#jobs} set position = ${position}, due_at = ${dueAt}${lost} where name = ${name} and fence = ${fence} returning 1`,
      )
      if (held.length === 0) return 'fenced'
      if (done.length > 0) await run(sql`delete from ${this.#events} where id in (${this.#parts.listOf(done)})`)
      for (const { id, attempt, dueAt, error, isDead } of failed)
        await run(
          sql`update ${this.#events} set attempt = ${attempt}, due_at = ${dueAt}, error = ${error}, dead = ${isDead ? 1 : 0} where id = ${id}`,
        )
      const ids: (number | undefined)[] = []
      for (const event of added) {
        const [row] = await run(this.#insertion(name, event))
        ids.push(row && Number(row[0]))
      }
      return ids
    })
  }

  #insertion(name: string, { eventId, key, attempt, dueAt, text, error, isDead }: NewWaitingEvent): Sql {
    return sql`insert into ${this.#events} (job, event_id, record, attempt, due_at, event, error, dead, at)
      values (${name}, ${eventId}, ${key}, ${attempt}, ${dueAt}, ${text}, ${error ?? null}, ${isDead ? 1 : 0}, ${this.#parts.now()})
      on conflict (job, event_id) do nothing returning id`
  }

  async waiting(name: string, after: number, limit: number): Promise<readonly WaitingEvent[]> {
    const rows = await this.#statements.query(
      sql`select id, event_id, record, attempt, due_at, octet_length(event) from ${this.#events} where job = ${name} and dead = 0
        and id > ${after} order by id limit ${limit}`,
    )
    return rows.map(([id, eventId, key, attempt, dueAt, bytes]) => ({
      id: Number(id),
      eventId: eventId as string,
      key: key as string,
      attempt: Number(attempt),
      dueAt: Number(dueAt),
      bytes: Number(bytes),
    }))
  }

  async text(id: number): Promise<string | undefined> {
    const [row] = await this.#statements.query(sql`select event from ${this.#events} where id = ${id} and dead = 0`)
    return row?.[0] as string | undefined
  }

  async states(): Promise<readonly JobState[] | undefined> {
    if (!(await this.#parts.has(jobEventTable))) return undefined
    const rows = await this.#statements.query(
      sql`select name, position, due_at, lost_at,
        (select count(*) from ${this.#events} where job = name and dead = 0),
        (select count(*) from ${this.#events} where job = name and dead = 1) from ${this.#jobs} order by name`,
    )
    return rows.map(([name, position, dueAt, lostAt, waiting, dead]) => ({
      name: name as string,
      position: position as string,
      dueAt: Number(dueAt),
      lostAt: lostAt === null ? undefined : Number(lostAt),
      waiting: Number(waiting),
      dead: Number(dead),
    }))
  }

  letters(selection: DeadLetterSelection): Promise<readonly DeadLetter[]> {
    return this.#letters.find(selection)
  }

  retry(selection: DeadLetterSelection, now: number): Promise<number> {
    return this.#letters.retry(selection, now)
  }

  drop(selection: DeadLetterSelection): Promise<number> {
    return this.#letters.drop(selection)
  }

  trimLetters(name: string, bytes: number): Promise<number> {
    return this.#letters.trim(name, bytes)
  }

  async close(): Promise<void> {
    await this.#parts.locks?.close()
  }
}

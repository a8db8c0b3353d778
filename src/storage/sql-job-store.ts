import { randomUUID } from 'node:crypto'
import type { Position } from '../protocol/change.ts'
import type { Dialect } from '../sql/dialect.ts'
import { join, raw, type Sql, sql, textOf } from '../sql/sql.ts'
import type { MaybePromise } from '../support/maybe-promise.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import type { Driver, Query, Row } from './driver.ts'
import {
  type DeadLetter,
  type DeadLetterSelection,
  type JobClaim,
  type JobSave,
  type JobState,
  type JobStore,
  jobEventIndex,
  jobEventRowBytes,
  jobEventTable,
  jobTable,
  type NewWaitingEvent,
  type WaitingEvent,
} from './job-store.ts'

/** A lease that ends more than this many times its length ahead was taken before the clock was set back. */
const longestLease = 10
/** Dead letters whose sizes are read in one statement. */
const sizesAtOnce = 1_000
/** Dead letters that one transaction deletes, and bytes of them: SQLite needs time for the pages of long texts. */
const deletedAtOnce = 500
const deletedBytesAtOnce = 4_000_000

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
  readonly driver: Pick<Driver, 'query' | 'transaction' | 'write'>
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
  readonly #jobs: Sql
  readonly #events: Sql

  constructor(parts: SqlJobStoreParts) {
    this.#parts = parts
    this.#jobs = raw(`${parts.schema ?? ''}${jobTable}`)
    this.#events = raw(`${parts.schema ?? ''}${jobEventTable}`)
  }

  async prepare(): Promise<void> {
    const { definitions, has, driver } = this.#parts
    if (await has(jobEventIndex)) return
    if (definitions === undefined) {
      if (await has(jobEventTable)) return
      throw new Error(
        `Jobs need the tables ${jobTable} and ${jobEventTable}, which migrate: "safe" does not create: start once with migrate: "add"`,
      )
    }
    await driver.transaction(async (query) => {
      for (const statement of definitions) await query(statement, [])
    }, undefined)
  }

  async register(names: Parameters<JobStore['register']>[0]): Promise<void> {
    for (const { name, position, dueAt } of names) {
      const [known] = await this.#query(sql`select 1 from ${this.#jobs} where name = ${name}`)
      if (known) continue
      await this.#write(
        sql`insert into ${this.#jobs} (name, position, due_at) values (${name}, ${position}, ${dueAt}) on conflict (name) do nothing`,
      )
    }
  }

  async claim(name: string): Promise<JobClaim | undefined> {
    const { locks } = this.#parts
    const isTaken = async () =>
      (await this.#query(sql`select 1 from ${this.#jobs} where name = ${name} and ${this.#isFree()}`)).length === 0
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
    const { driver, locks, isLocked } = this.#parts
    const until = locks ? raw('null') : this.#leaseEnd()
    return driver.transaction(async (query) => {
      if (await isLocked?.(query, name)) return undefined
      const [row] = await this.#run(
        query,
        sql`update ${this.#jobs} set fence = fence + 1, owner = ${this.#owner}, lease_until = ${until} where name = ${name} and ${this.#isFree()} returning fence, position, due_at, revision`,
      )
      const { renewed } = this.#parts
      return row && renewed ? row.with(1, await renewed(row[1] as string, query)) : row
    }, undefined)
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
      ? await this.#query(sql`select name, fence, revision from ${this.#jobs} where owner = ${this.#owner}`)
      : await this.#write(
          sql`update ${this.#jobs} set lease_until = ${this.#leaseEnd()} where owner = ${this.#owner} returning name, fence, revision`,
        )
    return new Map(
      rows.map(([name, fence, revision]) => [name as string, { fence: Number(fence), revision: Number(revision) }]),
    )
  }

  async release(name: string, fence: number): Promise<void> {
    await this.#write(
      sql`update ${this.#jobs} set owner = null, lease_until = null where name = ${name} and fence = ${fence} returning 1`,
    )
    await this.#parts.locks?.release(name)
  }

  save(name: string, fence: number, save: JobSave): ReturnType<JobStore['save']> {
    return this.#parts.driver.transaction(async (query) => {
      const run = (statement: Sql) => this.#run(query, statement)
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
    }, undefined)
  }

  #insertion(name: string, { eventId, key, attempt, dueAt, text, error, isDead }: NewWaitingEvent): Sql {
    return sql`insert into ${this.#events} (job, event_id, record, attempt, due_at, event, error, dead, at)
      values (${name}, ${eventId}, ${key}, ${attempt}, ${dueAt}, ${text}, ${error ?? null}, ${isDead ? 1 : 0}, ${this.#parts.now()})
      on conflict (job, event_id) do nothing returning id`
  }

  async waiting(name: string, after: number, limit: number): Promise<readonly WaitingEvent[]> {
    const rows = await this.#query(
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
    const [row] = await this.#query(sql`select event from ${this.#events} where id = ${id} and dead = 0`)
    return row?.[0] as string | undefined
  }

  async states(): Promise<readonly JobState[] | undefined> {
    if (!(await this.#parts.has(jobEventTable))) return undefined
    const rows = await this.#query(
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

  async letters(selection: DeadLetterSelection): Promise<readonly DeadLetter[]> {
    const rows = await this.#query(
      sql`select id, job, event, attempt, error, at from ${this.#events} where ${selected(selection)} order by id`,
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
      sql`update ${this.#events} set dead = 0, attempt = 0, due_at = ${now} where ${selected(selection)} returning job`,
    )
  }

  drop(selection: DeadLetterSelection): Promise<number> {
    return this.#change(sql`delete from ${this.#events} where ${selected(selection)} returning job`)
  }

  async trimLetters(name: string, bytes: number): Promise<number> {
    const last = await this.#lastBeyond(name, bytes)
    if (last === undefined) return 0
    let count = 0
    for (;;) {
      const oldest = await this.#query(
        sql`select id, octet_length(event) from ${this.#events} where job = ${name} and dead = 1 and id <= ${last} order by id limit ${deletedAtOnce}`,
      )
      const ids: number[] = []
      for (let [index, left] = [0, deletedBytesAtOnce]; index < oldest.length && left > 0; index++) {
        const [id, length] = oldest[index] as Row
        ids.push(Number(id))
        left -= Number(length)
      }
      if (ids.length === 0) return count
      // One that a command has meanwhile queued again is not deleted.
      const deleted = await this.#write(
        sql`delete from ${this.#events} where dead = 1 and id in (${this.#parts.listOf(ids)}) returning 1`,
      )
      count += deleted.length
      await yieldToEventLoop()
    }
  }

  /** The newest dead letter that has, with all newer ones, more than so many bytes. */
  async #lastBeyond(name: string, bytes: number): Promise<number | undefined> {
    let left = bytes
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const newest = await this.#query(
        sql`select id, octet_length(event) from ${this.#events} where job = ${name} and dead = 1 and id < ${before} order by id desc limit ${sizesAtOnce}`,
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
    return this.#parts.driver.transaction(async (query) => {
      const rows = await this.#run(query, statement)
      for (const name of new Set(rows.map(([name]) => name as string)))
        await this.#run(query, sql`update ${this.#jobs} set revision = revision + 1 where name = ${name} returning 1`)
      return rows.length
    }, undefined)
  }

  async close(): Promise<void> {
    await this.#parts.locks?.close()
  }

  async #query(statement: Sql): Promise<readonly Row[]> {
    return this.#run(this.#parts.driver.query, statement)
  }

  #write(statement: Sql): Promise<readonly Row[]> {
    return this.#parts.driver.transaction(async (query) => this.#run(query, statement), undefined)
  }

  async #run(query: Query, statement: Sql): Promise<readonly Row[]> {
    return query(textOf(statement, this.#parts.dialect.placeholder), statement.values)
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

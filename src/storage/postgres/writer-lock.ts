import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError } from '../../model/config-error.ts'
import type { SoleWriter } from '../self-versions.ts'
import type { LogTables } from './change-log/log-tables.ts'
import { parseSnapshot, type Snapshot } from './change-log/position.ts'
import type { Connect } from './client/connect.ts'
import type { Connection } from './client/connection.ts'
import { checkWriters, markAsWriting, takeWriterLock, writerLockHolder } from './writer-statements.ts'

/**
 * After a check that was sent at some time, this process counts as the only writer until `leaseMs` later. A new process waits as
 * long before it writes.
 */
const leaseMs = 1_000
const checkMs = 250
/** Delay of the next check while a lost connection may still be executing a write. */
const doubtMs = 20
/** Time limit of a check: a network can drop packets without an error. */
const silenceMs = 5_000
/** At start, how long the lock is waited for while the previous process ends. */
const startMs = 3_000
const retryMs = 250

export interface WriterLockParts {
  /** Opens a connection that is not shared. */
  readonly open: () => Promise<Connection>
  readonly onError: (error: unknown) => void
}

/** What a check reads, once the tables are known. */
export interface Watched {
  /** The tables that only this process writes. */
  readonly tables: ReadonlySet<string>
  readonly log: LogTables | undefined
  /** How many writes of this process were begun; undefined while one runs. */
  readonly writes: () => number | undefined
  /** Called when another process may have written. */
  readonly count: () => void
}

/**
 * The lock that makes this process the only writer, held by a connection of its own. Every connection that writes holds a second,
 * shared lock, which is released when its server process has ended its last transaction. A check that finds such a lock of an
 * unknown connection tells that a write may still be committed: one of a lost connection, or one of the previous process.
 */
export class WriterLock implements SoleWriter {
  readonly #parts: WriterLockParts
  readonly #own = new Set<number>()
  readonly #reported = new Set<string>()
  #watched: Watched | undefined
  #connection: Connection | undefined
  #timer: NodeJS.Timeout | undefined
  /** Until this time, no other process can be the only writer. 0 if that is not known. */
  #aloneUntil = 0
  /** The number of connections that were lost. */
  #losses = 0
  #seen: { readonly snapshot: Snapshot | undefined; readonly writes: number | undefined } | undefined
  #isClosed = false
  #isChecking = false
  mayWrite: Promise<void> | undefined

  private constructor(parts: WriterLockParts) {
    this.#parts = parts
  }

  /** Throws a ConfigError that names the process which has the lock. */
  static async take(parts: WriterLockParts): Promise<WriterLock> {
    const lock = new WriterLock(parts)
    for (const from = performance.now(); ; await wait(retryMs)) {
      const holder = await lock.#take()
      if (holder === undefined) break
      if (performance.now() - from > startMs)
        throw new ConfigError([
          `writers: 'self' needs one process for each database: ${holder} writes this one. Stop it, or leave out \`writers\``,
        ])
    }
    // The previous process may have lost its connection to the server, and answers from memory until it notices.
    lock.mayWrite = wait(leaseMs, undefined, { ref: false }).then(() => {
      lock.mayWrite = undefined
    })
    return lock
  }

  get isAlone(): boolean {
    return performance.now() < this.#aloneUntil
  }

  /**
   * Wraps `connect`: each connection takes the lock of writing connections, and its server process counts as one of this process.
   */
  forWriting(connect: Connect): Connect {
    return async (session) => {
      const connection = await connect(session)
      const { processId } = connection
      await markAsWriting(connection).catch((error) => {
        connection.destroy(error)
        throw error
      })
      this.#own.add(processId)
      connection.onEnd(() => {
        this.#own.delete(processId)
        this.#losses++
        this.#doubt()
        this.#checkIn(0)
      })
      return connection
    }
  }

  watch(watched: Watched): void {
    this.#watched = watched
    this.#checkIn(0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#aloneUntil = 0
    clearTimeout(this.#timer)
    await this.#connection?.close()
  }

  /** Resolves with the process that has the lock; undefined: it is this one. */
  async #take(): Promise<string | undefined> {
    const connection = await this.#parts.open()
    try {
      const holder = (await takeWriterLock(connection)) ? undefined : await writerLockHolder(connection)
      if (holder !== undefined || this.#isClosed) {
        await connection.close()
        return holder
      }
    } catch (error) {
      connection.destroy(error as Error)
      throw error
    }
    this.#connection = connection
    this.#seen = undefined
    connection.onEnd(() => {
      if (this.#connection !== connection) return
      this.#connection = undefined
      this.#doubt()
      this.#checkIn(0)
    })
    return undefined
  }

  /** From now on, until a later check succeeds, other processes may have written. */
  #doubt(): void {
    this.#aloneUntil = 0
    this.#watched?.count()
  }

  #checkIn(ms: number): void {
    if (this.#isClosed || !this.#watched || this.#isChecking) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#check(), ms).unref()
  }

  async #check(): Promise<void> {
    this.#isChecking = true
    const next = await this.#checkOnce(this.#watched as Watched).catch((error) => {
      const text = `writers: 'self': the lock of the only writer was lost; no answers are kept until it is held again`
      this.#reportOnce('lost', new Error(text, { cause: error }))
      return retryMs
    })
    this.#isChecking = false
    this.#checkIn(next)
  }

  /** Resolves with the time to the next check. */
  async #checkOnce(watched: Watched): Promise<number> {
    if (!this.#connection) {
      const holder = await this.#take()
      if (holder !== undefined) {
        const text = `writers: 'self': ${holder} has become the only writer while this process had no connection; no answers are kept until it ends`
        this.#reportOnce('taken', new Error(text))
        return retryMs
      }
    }
    const connection = this.#connection as Connection | undefined
    if (!connection || this.#isClosed) return retryMs
    const losses = this.#losses
    const writes = watched.writes()
    const sentAt = performance.now()
    const silence = setTimeout(() => connection.destroy(new Error('The server does not answer')), silenceMs)
    const found = await checkWriters(connection, watched.log, this.#seen?.snapshot).finally(() => clearTimeout(silence))
    if (connection !== this.#connection) return 0
    const before = this.#seen
    const changed = found.changed.filter((table) => watched.tables.has(table))
    if (changed.length > 0) this.#changed(changed, before?.writes, watched)
    const isCertain = losses === this.#losses && found.writing.every((processId) => this.#own.has(processId))
    // After a connection was lost, a change that is seen later may be its last write, so it is not reported as one of another
    // program.
    this.#seen = { snapshot: parseSnapshot(found.snapshot), writes: isCertain && this.isAlone ? writes : undefined }
    if (!isCertain) {
      this.#doubt()
      return doubtMs
    }
    if (!this.isAlone) watched.count()
    this.#aloneUntil = sentAt + leaseMs
    return checkMs
  }

  /**
   * Reports tables that another program has changed. The changed tables include those of this process, so they say something only
   * if this process has begun no write since the last check.
   */
  #changed(tables: readonly string[], writes: number | undefined, watched: Watched): void {
    watched.count()
    if (writes === undefined || writes !== watched.writes()) return
    for (const table of tables) {
      const text = `writers: 'self' is not true of the table "${table}": another program has written it. Answers from memory may miss such a write for ${checkMs} ms or more`
      this.#reportOnce(table, new Error(text))
    }
  }

  #reportOnce(what: string, error: unknown): void {
    if (this.#reported.has(what) || this.#isClosed) return
    this.#reported.add(what)
    this.#parts.onError(error)
  }
}

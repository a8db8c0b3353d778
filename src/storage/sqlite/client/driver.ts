import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import type { ChangeNotifier } from '../../change-notifier.ts'
import type { Driver, Query, Reader, Row, Scan, Statement, TransactionOptions } from '../../driver.ts'
import type { EncodedPage, Encoding } from '../../encoding.ts'
import type { ReadOptions } from '../../store.ts'
import type { WriteOrigin } from '../../write-origin.ts'
import { LogPages } from '../change-log/log-pages.ts'
import { OperationMarker } from '../change-log/operation-marker.ts'
import { sqliteError } from '../errors.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import { Connection } from './connection.ts'
import { EventLoopReader, NeedsReader } from './event-loop-reader.ts'
import { FlushedCommits } from './flushed-commits.ts'
import { GroupCommitQueue } from './group-commit-queue.ts'
import { inTurns } from './in-turns.ts'
import { limitReads, limitSharedReads } from './limited-reads.ts'
import { ReadConnections } from './read-connections.ts'
import { ReaderPool } from './reader-pool.ts'
import { ReplacedFileWatch } from './replaced-file.ts'
import { retryWhileBusy } from './retry-while-busy.ts'
import { RowGuard } from './row-guard.ts'
import { checkpointPages, WalCheckpointer } from './wal-checkpointer.ts'
import { walPath } from './wal-path.ts'

/**
 * Large enough for the pages that a write of 1 MB changes, with its images in the log. In a smaller cache, pages that every
 * statement changes are written to the WAL early and then again, and the commit has to compute the checksums of everything in
 * between once more.
 */
const writerCacheKb = 4_000

export interface SqliteDriverParts {
  /** A file, or `:memory:`. */
  readonly path: string
  readonly limits: Limits
  /** Called after each commit. */
  readonly notifier: ChangeNotifier
  readonly onScan?: (scan: Scan) => void
  /** Receives errors that belong to no statement. */
  readonly onError?: (error: unknown) => void
}

/**
 * One writing connection, and one for reads that sees committed rows only. Reads whose cost is bounded run on the event
 * loop; scans run in reader processes.
 */
export class SqliteDriver implements Driver {
  readonly #limits: Limits
  readonly #writing: Connection
  /** A database in memory has one connection. */
  #reading: Connection
  readonly #first: Connection
  readonly #connections: ReadConnections | undefined
  readonly #writer: GroupCommitQueue
  readonly #reader: EventLoopReader
  readonly #processes: ReaderPool | undefined
  /**
   * A reader process for the open transaction alone: all other writes wait for the transaction, so its reads must not wait for
   * scans.
   */
  readonly #ofTransactions: ReaderPool | undefined
  readonly #checkpoints: CheckpointThread | undefined
  readonly #guard: RowGuard
  readonly #file: ReplacedFileWatch | undefined
  /** Undefined if SQLite flushes each commit itself, and in memory. */
  #flushed: FlushedCommits | undefined
  readonly #path: string
  /** Undefined without a change log, and in memory. */
  #logPages: LogPages | undefined

  constructor({ path, limits, notifier, onScan = () => {}, onError }: SqliteDriverParts) {
    this.#limits = limits
    this.#path = path
    const inMemory = path === ':memory:'
    const guard = new RowGuard()
    this.#guard = guard
    this.#writing = new Connection(path, { readOnly: false })
    guard.install(this.#writing)
    this.#connections = inMemory ? undefined : new ReadConnections(path, guard, () => this.#writer.isBusy)
    try {
      this.#first = this.#connections?.take() ?? this.#writing
    } catch (error) {
      this.#writing[Symbol.dispose]()
      throw error
    }
    this.#reading = this.#first
    this.#reader = new EventLoopReader(this.#reading, guard, limits, onScan)
    this.#processes = inMemory ? undefined : new ReaderPool(path, limits)
    this.#ofTransactions = inMemory ? undefined : new ReaderPool(path, { ...limits, maxScans: 1 }, true)
    this.#checkpoints = inMemory ? undefined : new CheckpointThread(path)
    const checkpointer = this.#checkpoints && new WalCheckpointer(walPath(path), this.#checkpoints)
    this.#writer = new GroupCommitQueue(this.#writing, limits, notifier, checkpointer)
    this.#file = inMemory
      ? undefined
      : new ReplacedFileWatch(path, (error) => {
          this.#writer.refusal = error
          if (error) onError?.(error)
        })
  }

  /** Must be awaited before any use: another program may have locked the file. */
  async prepare(): Promise<void> {
    if (this.#reading === this.#writing) return
    const pragmas = `pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = ${checkpointPages}`
    await retryWhileBusy(() => this.#writing.exec(pragmas), this.#limits.busyTimeoutMs)
  }

  /** Called once the schema is up to date: from now on commits are flushed by `FlushedCommits`. */
  serve(): void {
    if (this.#reading === this.#writing) return
    this.#writing.exec(`pragma cache_size = -${writerCacheKb}`)
    this.#flushed = FlushedCommits.open(walPath(this.#path), this.#writing, () => this.#reading)
    this.#writer.flushed = this.#flushed
    this.#file?.watchWal()
  }

  /** The connection for the schema, before anything is served. */
  get setup(): Connection {
    return this.#writing
  }

  /** The connection for reads; in memory it is the writing one. */
  get reading(): Connection {
    return this.#reading
  }

  /** From now on the log rows of one operation get a common number. */
  markOperations(): void {
    this.#writer.marker = new OperationMarker(this.#writing)
    if (this.#reading !== this.#writing) this.#logPages = new LogPages(this.#writing)
  }

  readonly query: Query = (text, values) => this.#readKey(text, values)

  #readKey(text: string, values: readonly unknown[], options?: ReadOptions): MaybePromise<readonly Row[]> {
    const reading = this.#reading
    const { maxAnswerBytes } = this.#limits
    if (reading === this.#writing && this.#mustQueue)
      return this.#readQueued(() => reading.readKey(text, values, options, maxAnswerBytes))
    try {
      return reading.readKey(text, values, options, maxAnswerBytes)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  read(statement: Statement, options?: ReadOptions): MaybePromise<readonly Row[]> {
    return this.#read(statement, options, (processes) => processes.read(statement, options))
  }

  readPage(
    statement: Statement,
    encoding: () => Encoding | undefined,
    options?: ReadOptions,
  ): MaybePromise<readonly Row[] | EncodedPage> {
    return this.#read(statement, options, (processes) => processes.readPage(statement, encoding(), options))
  }

  #read<T>(
    statement: Statement,
    options: ReadOptions | undefined,
    elsewhere: (processes: ReaderPool) => Promise<T>,
  ): MaybePromise<readonly Row[] | T> {
    if (statement.access === 'key') return this.#readKey(statement.text, statement.values, options)
    const processes = this.#processes
    if (!processes) return this.#readInMemory(statement, options)
    if (eventLoopTurn.isUsed) return eventLoopTurn.next().then(() => this.#read(statement, options, elsewhere))
    try {
      return this.#reader.read(statement, this.#reading, options)
    } catch (error) {
      if (error instanceof NeedsReader) return notInUsedTurn(() => this.#flushedBefore(elsewhere(processes)))
      throw sqliteError(error)
    }
  }

  /** Returns the rows only when all commits are on the disk: a reader process may have read a commit that is not. */
  #flushedBefore<T>(read: Promise<T>): Promise<T> {
    const flushed = this.#flushed
    return flushed ? read.finally(() => flushed.settled()) : read
  }

  /** Runs a statement on this thread. Throws NeedsReader if it must run in a reader process. */
  readHere(statement: Statement, connection: Connection, options?: ReadOptions): readonly Row[] {
    return this.#reader.read(statement, connection, options)
  }

  #readInMemory(statement: Statement, options?: ReadOptions): MaybePromise<readonly Row[]> {
    const read = (reader: EventLoopReader) =>
      reader.limited(statement, this.#limits.statementTimeoutMs, options?.budget)
    if (this.#mustQueue) return this.#readQueued(read)
    try {
      return read(this.#reader)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  /**
   * In memory, reads share the connection of the writer and must not see the rows of an open transaction, so they are queued
   * behind it. They are also queued if the queue is closed, which then rejects them.
   */
  get #mustQueue(): boolean {
    return this.#reading === this.#writing && (this.#writer.isClosed || this.#reading.inTransaction)
  }

  #readQueued(read: (reader: EventLoopReader) => readonly Row[]): Promise<readonly Row[]> {
    return this.#writer.run(() => read(this.#reader), { single: true, origin: undefined })
  }

  /**
   * If one of its reads is a scan, the whole snapshot is run again in a reader process: rows and position must have the same
   * state.
   */
  snapshot<T>(work: (reader: Reader) => MaybePromise<T>, options?: ReadOptions): MaybePromise<T> {
    const processes = this.#processes
    const connections = this.#connections
    if (!processes || !connections) return this.#snapshotInMemory(work)
    const waiting = eventLoopTurn.isUsed ? eventLoopTurn.next() : (this.#flushed?.flushing ?? connections.waiting)
    if (waiting) return waiting.then(() => this.snapshot(work, options))
    const reading = this.#reading
    const end = (): void => {
      if (reading.inTransaction) reading.exec('rollback')
    }
    const repeat = (error: unknown): MaybePromise<T> => {
      if (error instanceof NeedsReader)
        return notInUsedTurn(() => this.#flushedBefore(processes.snapshot(work, options)))
      throw sqliteError(error)
    }
    const run = (): MaybePromise<T> => {
      reading.exec('begin')
      return work({ read: (statement, options) => this.#readFair(statement, reading, options) })
    }
    try {
      const result = run()
      if (!(result instanceof Promise)) {
        end()
        return result
      }
      // Other reads use another connection until the snapshot ends.
      this.#reading = connections.take()
      return result
        .finally(async () => {
          // While a commit is being flushed, the other connection is held at the state before it, and this one would read the
          // state after it. Do not await between the last check and `end`: another commit could begin.
          while (this.#flushed?.flushing) await this.#flushed.flushing
          end()
          this.#giveBack(reading, connections)
        })
        .catch(repeat)
    } catch (error) {
      end()
      return repeat(error)
    }
  }

  /**
   * Reads use the first connection whenever it is free, because the versions of tables are looked up on it, always before the
   * read that depends on them.
   */
  #giveBack(connection: Connection, connections: ReadConnections): void {
    const isFirst = connection === this.#first
    connections.give(isFirst ? this.#reading : connection)
    if (isFirst) this.#reading = connection
  }

  #readFair(statement: Statement, connection: Connection, options?: ReadOptions): MaybePromise<readonly Row[]> {
    if (statement.access === 'key' || !eventLoopTurn.isUsed) return this.#reader.read(statement, connection, options)
    return eventLoopTurn.next().then(() => this.#readFair(statement, connection, options))
  }

  #snapshotInMemory<T>(work: (reader: Reader) => MaybePromise<T>): Promise<T> {
    const read: Reader['read'] = (statement, options) => {
      try {
        return this.#reader.limited(statement, this.#limits.statementTimeoutMs, options?.budget)
      } catch (error) {
        throw sqliteError(error)
      }
    }
    return this.#writer.run(() => work({ read }), { single: false, origin: undefined })
  }

  write(text: string, values: readonly unknown[], origin: WriteOrigin | undefined): Promise<readonly Row[]> {
    return this.#writer.write(text, values, origin)
  }

  transaction<T>(
    work: (query: Query) => MaybePromise<T>,
    origin: WriteOrigin | undefined,
    { isExclusive = false, isFirst = false, maxReadMs }: TransactionOptions = {},
  ): Promise<T> {
    const run = (query: Query) => {
      const kept = this.#logPages?.keepDuring(query) ?? query
      const given = { guard: this.#guard, limits: this.#limits, processes: this.#ofTransactions, maxReadMs }
      const run = (limited: Query) => inTurns(withDatabaseErrors(limited), work)
      return isExclusive ? run(limitReads(kept, given)) : limitSharedReads(kept, given, this.#writer.hasWritten, run)
    }
    return this.#writer.run(run, { single: false, origin, isExclusive, isFirst })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#file?.[Symbol.dispose]()
    await this.#writer.close()
    this.#processes?.close()
    this.#ofTransactions?.close()
    await this.#checkpoints?.close()
    this.#flushed?.[Symbol.dispose]()
    this.#connections?.[Symbol.dispose]()
    this.#writing[Symbol.dispose]()
  }
}

/**
 * Waits for a later turn if this one is used: the statement may have used it before it was stopped, and starting a process takes
 * milliseconds, too.
 */
const notInUsedTurn = <T>(work: () => MaybePromise<T>): MaybePromise<T> =>
  eventLoopTurn.isUsed ? eventLoopTurn.next().then(work) : work()

/** Statements of a transaction throw DatabaseErrors, as they do on every database. */
const withDatabaseErrors =
  (query: Query): Query =>
  (text, values, options) => {
    try {
      return query(text, values, options)
    } catch (error) {
      throw sqliteError(error)
    }
  }

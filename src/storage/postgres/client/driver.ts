import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { closingMs } from '../../closing-ms.ts'
import {
  DatabaseError,
  type Driver,
  type Query,
  type Reader,
  type Row,
  type Scan,
  type Statement,
  type TransactionOptions,
} from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { originText, type WriteOrigin } from '../../write-origin.ts'
import { isLocked } from '../errors.ts'
import { cancelOnAbort } from './cancel-on-abort.ts'
import type { Connect } from './connect.ts'
import type { Connection } from './connection.ts'
import {
  ConnectionWatchdog,
  defaultWatchdogTiming,
  type WatchdogTiming,
  type WatchedConnection,
} from './connection-watchdog.ts'
import { type CancelOnAbort, ExclusiveReads } from './exclusive-reads.ts'
import { LockWaits } from './lock-waits.ts'
import { PipelinedConnection } from './pipelined-connection.ts'
import { Pool } from './pool.ts'
import { QueryPlans } from './query-plans.ts'
import { withReconnectBackoff } from './reconnect-backoff.ts'
import { readerWithSlots } from './scan-slots.ts'
import { SingleReads } from './single-reads.ts'
import { SingleWrites } from './single-writes.ts'
import { type Progress, type Repetition, readSnapshot, repeated, transact, type UniqueFault } from './transact.ts'

/**
 * Pipelined connections. Reads and writes have separate ones: a write may wait for a lock, and everything behind it on its
 * connection waits, too. Writes have more of them, because commits on several connections share one wait for the disk: on a slow
 * disk, eight connections write three times as much as three. A connection is opened when all others are busy. Reads of one
 * record by its key have connections of their own, so that they do not wait for the rows of other reads.
 */
const readConnections = 2
/**
 * For pages that are read in the order of an index and filtered by a condition. Such a read is slow if few rows match, so it
 * shares connections only with reads of its kind.
 */
const walkConnections = 2
const writeConnections = 8
/** Behind a transaction pooler, a connection runs one statement at a time and occupies a server process only during it. */
const pooledReadConnections = 6
/** For statements of the service itself, such as reads of the log: they may take longer than other statements can be delayed. */
const ownConnections = 2
const snapshotConnections = 4
const transactionConnections = 8
/** For statements that wait for locks held by other programs or by long transactions. */
const patientConnections = 4

/**
 * Time limits on pipelined connections, where a statement usually takes a millisecond. A statement that exceeds its limit is
 * repeated on a connection of a pool.
 */
const pipelinedReadMs = 100
const pipelinedWriteMs = 250
/**
 * Lock timeouts on pipelined connections. A statement that waits longer is repeated on a connection of its own. A read waits for
 * table locks only.
 */
const readLockMs = 5
const writeLockMs = 25

export interface DriverParts {
  readonly connect: Connect
  /** For connections that write; `connect` without it. */
  readonly connectToWrite?: Connect | undefined
  readonly limits: Limits
  /** `connect` makes connections for a pooler of transactions. */
  readonly isPooled?: boolean
  /** Called after each commit. */
  readonly committed: () => void
  /** Called for a duplicate generated key; true: the sequence was advanced, and a retry may succeed. */
  readonly resyncSequence?: (fault: UniqueFault) => Promise<boolean>
  readonly watchdogTiming?: WatchdogTiming
  readonly onScan?: (scan: Scan) => void
}

/** Shared pipelined connections for single indexed statements, and pools for scans, snapshots and transactions. */
export class PostgresDriver implements Driver {
  readonly #pipelined: {
    readonly reads: readonly PipelinedConnection[]
    readonly writes: readonly PipelinedConnection[]
  }
  readonly #reads: SingleReads
  readonly #writes: SingleWrites
  readonly #locks: LockWaits
  readonly #snapshots: Pool
  readonly #transactions: Pool
  readonly #repetition: Required<Repetition>
  readonly #pools: readonly Pool[]
  readonly #limits: Limits
  /** The server ends a read on a pipelined connection after this time; behind a pooler it may wait before it runs. */
  readonly #readTimeoutMs: number
  readonly #watchdog: ConnectionWatchdog
  readonly #committed: () => void
  readonly #closing: (() => Promise<void>)[] = []

  constructor(parts: DriverParts) {
    const { connect, limits, committed, resyncSequence, watchdogTiming = defaultWatchdogTiming } = parts
    const { connectToWrite = connect } = parts
    const { statementTimeoutMs, busyTimeoutMs: waitMs } = limits
    this.#limits = limits
    this.#readTimeoutMs = parts.isPooled ? statementTimeoutMs : Math.min(pipelinedReadMs, statementTimeoutMs)
    const inTurns =
      (connect: Connect): Connect =>
      async (session) =>
        (await connect(session)).readInTurns()
    const connectInTurns = inTurns(connect)
    const pipelined = (
      count: number,
      most: { ms: number; lockMs: number },
      open: Connect,
    ): readonly PipelinedConnection[] => {
      const session = {
        statementTimeoutMs: Math.min(most.ms, statementTimeoutMs),
        lockTimeoutMs: most.lockMs,
      }
      const reopen = withReconnectBackoff(() => open(session))
      return Array.from({ length: count }, () => new PipelinedConnection(reopen))
    }
    const open = withReconnectBackoff(() => connectInTurns({ statementTimeoutMs }))
    const openToRead = withReconnectBackoff(() => connectInTurns({ statementTimeoutMs, lockTimeoutMs: readLockMs }))
    const openToWrite = withReconnectBackoff(() => inTurns(connectToWrite)({ statementTimeoutMs }))
    const forReads = parts.isPooled ? pooledReadConnections : readConnections
    const toRead = { ms: pipelinedReadMs, lockMs: readLockMs }
    const keys = pipelined(forReads, toRead, connect)
    const indexed = pipelined(forReads, toRead, connectInTurns)
    const long = pipelined(readConnections, toRead, connectInTurns)
    const walks = pipelined(walkConnections, toRead, connectInTurns)
    const writes = pipelined(writeConnections, { ms: pipelinedWriteMs, lockMs: writeLockMs }, connectToWrite)
    this.#pipelined = { reads: [...keys, ...indexed, ...long, ...walks], writes }
    const scans = new Pool({ open: openToRead, size: limits.maxServerScans, waitMs })
    const own = new Pool({ open, size: ownConnections, waitMs })
    this.#snapshots = new Pool({ open: openToRead, size: snapshotConnections, waitMs })
    this.#transactions = new Pool({ open: openToWrite, size: transactionConnections, waitMs })
    const patient = new Pool({ open: openToWrite, size: patientConnections, waitMs })
    const turns = new Pool({ open, size: 1, waitMs })
    this.#locks = new LockWaits(patient, waitMs)
    this.#reads = new SingleReads({
      keys,
      indexed,
      long,
      walks,
      locks: this.#locks,
      limits,
      scans: new ExclusiveReads(scans, this.#cancelOnAbort),
      own: new ExclusiveReads(own, this.#cancelOnAbort),
      plans: new QueryPlans(parts.onScan ?? (() => {})),
    })
    const stopLeaving = eventLoopTurn.leaveTo(() => {
      const sent = keys.map((connection) => connection.sent())
      return () => sent.some((isPending) => isPending())
    })
    this.#writes = new SingleWrites(writes, this.#locks)
    this.#repetition = { resyncSequence: resyncSequence ?? (async () => false), turns }
    this.#committed = committed
    this.onClosing(async () => stopLeaving())
    this.#pools = [scans, own, this.#snapshots, this.#transactions, patient, turns]
    this.#watchdog = new ConnectionWatchdog({
      connections: () => this.#connections(),
      watchdogTiming,
      sweep: () => this.#sweep(),
    })
  }

  /**
   * Statements of the service itself. Slow ones have connections of their own, so that they never wait for a scan of a client.
   */
  readonly query = (text: string, values: readonly unknown[], options?: ReadOptions): Promise<readonly Row[]> =>
    this.#reads.query(text, values, options)

  read(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    return this.#reads.read(statement, options)
  }

  snapshot<T>(work: (reader: Reader) => MaybePromise<T>, options: ReadOptions = {}): Promise<T> {
    let locked: Statement | undefined
    const run = async (connection: Connection, progress: Progress): Promise<T> => {
      // Those that wait get a connection together, and each may have a long condition to compile.
      if (eventLoopTurn.isUsed) await eventLoopTurn.next()
      await using _ = this.#cancelOnAbort(connection, options)
      const read = ({ read }: Reader) => {
        const noted: Reader['read'] = async (statement, ...rest) => {
          try {
            return await read(statement, ...rest)
          } catch (error) {
            if (isLocked(error)) locked = statement
            throw error
          }
        }
        return work(readerWithSlots({ read: noted }, this.#reads.admission, options))
      }
      return await readSnapshot(connection, read, progress, this.#limits.maxAnswerBytes)
    }
    return repeated(this.#snapshots, { resyncSequence: this.#repetition.resyncSequence }, run, options).catch(
      (error) => {
        if (locked) return this.#locks.before(locked, () => this.snapshot(work, options))
        throw error
      },
    )
  }

  /** The server does not notice that a client has disconnected, so its statement is cancelled. */
  readonly #cancelOnAbort: CancelOnAbort = (connection, options) =>
    cancelOnAbort(options, () =>
      connection.isPooled
        ? connection.cancel()
        : this.query('select pg_cancel_backend($1::int)', [String(connection.processId)]).catch(() => {}),
    )

  async write(
    text: string,
    values: readonly unknown[],
    origin: WriteOrigin | undefined,
    row?: string,
  ): Promise<readonly Row[]> {
    const rows = await this.#writes.run({ text, values, how: 'kept', origin: originText(origin) }, row)
    this.#committed()
    return rows
  }

  async transaction<T>(
    work: (query: Query) => MaybePromise<T>,
    origin: WriteOrigin | undefined,
    options?: TransactionOptions,
  ): Promise<T> {
    const result = await repeated(this.#transactions, this.#repetition, (connection, progress) =>
      transact(connection, work, originText(origin), progress, options),
    )
    this.#committed()
    return result
  }

  /** Called before the connections are closed. */
  onClosing(close: () => Promise<void>): void {
    this.#closing.push(close)
  }

  #connections(): readonly WatchedConnection[] {
    const limitedTo =
      (statementTimeoutMs: number) =>
      (connection: Connection): WatchedConnection => ({ connection, statementTimeoutMs })
    const opened = (connections: readonly PipelinedConnection[]) =>
      connections.flatMap(({ connection }) => connection ?? [])
    const { statementTimeoutMs } = this.#limits
    const pooled = this.#pools.flatMap((pool) => pool.connections)
    return [
      ...opened(this.#pipelined.reads).map(limitedTo(this.#readTimeoutMs)),
      ...[...opened(this.#pipelined.writes), ...pooled].map(limitedTo(statementTimeoutMs)),
    ]
  }

  #sweep(): void {
    for (const pool of this.#pools) pool.sweep()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { reads, writes } = this.#pipelined
    const timer = setTimeout(() => this.#endUsed(), closingMs(this.#limits))
    await Promise.all(this.#closing.map((close) => close()))
    await Promise.all([...reads, ...writes, ...this.#pools].map((part) => part.close()))
    clearTimeout(timer)
    this.#watchdog[Symbol.dispose]()
  }

  /** Ends statements and transactions that nothing waits for any more: those of clients that were cut off. */
  #endUsed(): void {
    const reason = new DatabaseError({ kind: 'lost' }, 'The store is closed')
    for (const pool of this.#pools) for (const connection of pool.connections) connection.destroy(reason)
  }
}

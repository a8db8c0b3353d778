import type { Limits } from '../../../support/limits.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { budgetOf } from '../../byte-budget.ts'
import type { DatabaseError, Driver, Query, Reader, Row, Scan, Statement, TransactionOptions } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { originText, type WriteOrigin } from '../../write-origin.ts'
import { isConflict, isLarge, isLost, isOverdue, isStale } from '../errors.ts'
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
import { idlest, PipelinedConnection, sendOn } from './pipelined-connection.ts'
import { Pool } from './pool.ts'
import { QueryPlans } from './query-plans.ts'
import { withReconnectBackoff } from './reconnect-backoff.ts'
import { readerWithSlots, type ScanAdmission, ScanSlots } from './scan-slots.ts'
import type { QueryRequest } from './text-query.ts'
import {
  type Progress,
  pause,
  type Repetition,
  readSnapshot,
  repeated,
  transact,
  type UniqueFault,
} from './transact.ts'

/**
 * Pipelined connections. Reads and writes are separate: a write may wait for a lock, and so does everything behind it on
 * the connection. There are more for writes, because commits on several connections wait for the disk together: on a
 * slow disk, eight write three times as much as three. A connection is opened when all before it are busy. Reads of one
 * record by its key are apart from all others, whose rows they would wait for.
 */
const readConnections = 2
/** For pages whose rows a condition selects on the way: one that finds few of them delays others of its kind only. */
const walkConnections = 2
const writeConnections = 8
/** Behind a pooler of transactions: a connection has one statement at a time, and a process of the server only during it. */
const pooledReadConnections = 6
/** For statements of the service itself, such as reads of the log, that take longer than others may wait for them. */
const ownConnections = 2
const snapshotConnections = 4
const transactionConnections = 8

/** Limits on pipelined connections, whose statements take about a millisecond; beyond them a statement is repeated in a pool. */
const pipelinedReadMs = 100
const pipelinedWriteMs = 250
const pipelinedLockMs = 100

const maxAttempts = 6

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
  readonly #keys: readonly PipelinedConnection[]
  readonly #indexed: readonly PipelinedConnection[]
  readonly #walks: readonly PipelinedConnection[]
  readonly #writes: readonly PipelinedConnection[]
  readonly #scans: Pool
  readonly #scanReads: ExclusiveReads
  readonly #own: Pool
  readonly #ownReads: ExclusiveReads
  readonly #slots: ScanSlots
  readonly #admission: ScanAdmission
  readonly #snapshots: Pool
  readonly #transactions: Pool
  readonly #repetition: Repetition
  readonly #pools: readonly Pool[]
  readonly #plans: QueryPlans
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
    this.#plans = new QueryPlans(parts.onScan ?? (() => {}))
    const inTurns =
      (connect: Connect): Connect =>
      async (session) =>
        (await connect(session)).readInTurns()
    const connectInTurns = inTurns(connect)
    const pipelined = (count: number, mostMs: number, open: Connect): readonly PipelinedConnection[] => {
      const session = {
        statementTimeoutMs: Math.min(mostMs, statementTimeoutMs),
        lockTimeoutMs: pipelinedLockMs,
        compiles: false,
      }
      const reopen = withReconnectBackoff(() => open(session))
      return Array.from({ length: count }, () => new PipelinedConnection(reopen))
    }
    const open = withReconnectBackoff(() => connectInTurns({ statementTimeoutMs }))
    const openToWrite = withReconnectBackoff(() => inTurns(connectToWrite)({ statementTimeoutMs }))
    const forReads = parts.isPooled ? pooledReadConnections : readConnections
    this.#keys = pipelined(forReads, pipelinedReadMs, connect)
    this.#indexed = pipelined(forReads, pipelinedReadMs, connectInTurns)
    this.#walks = pipelined(walkConnections, pipelinedReadMs, connectInTurns)
    this.#writes = pipelined(writeConnections, pipelinedWriteMs, connectToWrite)
    this.#slots = new ScanSlots(limits.maxServerScans, waitMs)
    this.#scans = new Pool({ open, size: limits.maxServerScans, waitMs })
    this.#own = new Pool({ open, size: ownConnections, waitMs })
    this.#scanReads = new ExclusiveReads(this.#scans, this.#cancelOnAbort)
    this.#ownReads = new ExclusiveReads(this.#own, this.#cancelOnAbort)
    this.#snapshots = new Pool({ open, size: snapshotConnections, waitMs })
    this.#transactions = new Pool({ open: openToWrite, size: transactionConnections, waitMs })
    const turns = new Pool({ open, size: 1, waitMs })
    this.#repetition = { resyncSequence: resyncSequence ?? (async () => false), turns }
    this.#admission = {
      slots: this.#slots,
      mayScan: ({ text, access }) => access !== 'key' && this.#plans.mayScan(text),
      explain: (statement) => this.#plans.explain(statement, (request) => sendOn(idlest(this.#walks), request)),
    }
    this.#committed = committed
    this.#pools = [this.#scans, this.#own, this.#snapshots, this.#transactions, turns]
    this.#watchdog = new ConnectionWatchdog({
      connections: () => this.#connections(),
      watchdogTiming,
      sweep: () => this.#sweep(),
    })
  }

  /** Of the service itself: where it takes longer it has connections of its own, and waits for no scan of a client. */
  readonly query = (text: string, values: readonly unknown[], options?: ReadOptions): Promise<readonly Row[]> =>
    this.#queryOn(this.#indexed, text, values, options, options?.budget, true)

  #queryOn(
    connections: readonly PipelinedConnection[],
    text: string,
    values: readonly unknown[],
    options: ReadOptions | undefined,
    budget = options?.budget,
    isOwn = false,
  ): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const request: QueryRequest = { text, values, how: 'kept', budget }
      const connection = idlest(connections)
      connection.send(request, resolve, (error) =>
        this.#readAgain(connection, request, options, isOwn, error).then(resolve, reject),
      )
    })
  }

  /** A statement whose plan is not known yet runs as a scan; where that would wait, its plan is asked for first. */
  read(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    const { text, values, access } = statement
    if (access === 'key')
      return this.#queryOn(this.#keys, text, values, options, budgetOf(options, this.#limits.maxAnswerBytes))
    if (this.#plans.classOf(text) !== undefined || !this.#slots.areTaken) return this.#readByPlan(statement, options)
    return this.#admission.explain(statement).then(() => this.#readByPlan(statement, options))
  }

  #readByPlan(statement: Statement, options?: ReadOptions): Promise<readonly Row[]> {
    const { text, values } = statement
    const planClass = this.#plans.classOf(text)
    if (planClass === 'indexed') return this.#queryOn(this.#indexed, text, values, options)
    if (planClass === 'walk') return this.#queryOn(this.#walks, text, values, options)
    return this.#scan({ text, values, how: 'anew', budget: options?.budget }, options, (connection) => {
      if (planClass === undefined) void this.#plans.explain(statement, (request) => connection.run(request))
    })
  }

  async #readAgain(
    connection: PipelinedConnection,
    request: QueryRequest,
    options: ReadOptions | undefined,
    isOwn: boolean,
    error: DatabaseError,
  ): Promise<readonly Row[]> {
    if (isOverdue(error)) {
      const anew = { ...request, how: 'anew' } as const
      if (isOwn) return this.#ownReads.read(anew, options)
      this.#plans.demote(request.text)
      return this.#scan(anew, options)
    }
    if (isStale(error) || isLost(error)) return sendOn(connection, request)
    // The server goes on to send what is too large; the next time that delays no other statement.
    if (isLarge(error)) this.#plans.isolate(request.text)
    throw error
  }

  #scan(
    request: QueryRequest,
    options?: ReadOptions,
    sent?: (connection: Connection) => void,
  ): Promise<readonly Row[]> {
    return this.#slots.use(() => this.#scanReads.read(request, options, sent), options)
  }

  snapshot<T>(work: (reader: Reader) => MaybePromise<T>, options: ReadOptions = {}): Promise<T> {
    const run = async (connection: Connection, progress: Progress): Promise<T> => {
      await using _ = this.#cancelOnAbort(connection, options)
      const read = (reader: Reader) => work(readerWithSlots(reader, this.#admission, options))
      return await readSnapshot(connection, read, progress, this.#limits.maxAnswerBytes)
    }
    return repeated(this.#snapshots, this.#repetition, run, { signal: options.signal })
  }

  /** The server does not notice that a client has disconnected, so its statement is cancelled. */
  readonly #cancelOnAbort: CancelOnAbort = (connection, options) =>
    cancelOnAbort(options, () =>
      connection.isPooled
        ? connection.cancel()
        : this.query('select pg_cancel_backend($1::int)', [String(connection.processId)]).catch(() => {}),
    )

  /** Repeats a write only when the server reports that it was not executed. */
  async write(text: string, values: readonly unknown[], origin: WriteOrigin | undefined): Promise<readonly Row[]> {
    const request: QueryRequest = { text, values, how: 'kept', origin: originText(origin) }
    let isPipelined = true
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await (isPipelined
          ? sendOn(idlest(this.#writes), request)
          : this.#transactions.use((connection) => connection.run(request)))
        this.#committed()
        return rows
      } catch (error) {
        if (attempt === maxAttempts) throw error
        if (isPipelined && isOverdue(error)) isPipelined = false
        else if (isConflict(error)) await pause(attempt)
        else if (!isStale(error)) throw error
      }
    }
  }

  async transaction<T>(
    work: (query: Query) => MaybePromise<T>,
    origin: WriteOrigin | undefined,
    options?: TransactionOptions,
  ): Promise<T> {
    const result = await repeated(
      this.#transactions,
      this.#repetition,
      (connection, progress) => transact(connection, work, originText(origin), progress, options),
      options,
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
      ...opened([...this.#keys, ...this.#indexed, ...this.#walks]).map(limitedTo(this.#readTimeoutMs)),
      ...[...opened(this.#writes), ...pooled].map(limitedTo(statementTimeoutMs)),
    ]
  }

  #sweep(): void {
    for (const pool of this.#pools) pool.sweep()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()))
    await Promise.all(
      [...this.#keys, ...this.#indexed, ...this.#walks, ...this.#writes, ...this.#pools].map((part) => part.close()),
    )
    this.#watchdog[Symbol.dispose]()
  }
}

import type { Limits } from '../../support/limits.ts'
import type { Maybe } from '../../support/maybe.ts'
import type { DatabaseError, Driver, Query, Row, Weight } from '../driver.ts'
import type { Connect } from './connect.ts'
import type { Connection } from './connection.ts'
import { isConflict, isLost, isOverdue, isStale } from './errors.ts'
import { Lane } from './lane.ts'
import { patient } from './patience.ts'
import { Pool } from './pool.ts'
import type { Ask } from './text-query.ts'
import { look, pause, repeated, transact, type UniqueFault } from './transact.ts'
import { longestSilence, type Silence, Watch } from './watch.ts'

/**
 * Reads and writes do not share: a write may have to wait for another program's lock, and everything behind it waits
 * too. More lanes for writes, because each commit waits for the disk, and commits of several lanes wait together: on a
 * slow disk eight lanes write three times as much as three. A lane is opened when all before it are busy.
 */
const readLanes = 2
const writeLanes = 8
const longReads = 4
const snapshots = 4
const transactions = 8

/** What is asked here takes a millisecond; what takes this long is asked again where it holds up nobody else. */
const laneStatementMs = 250
const laneLockMs = 100
/** For this time a statement that took too long is asked there at once. */
const rememberLongMs = 60_000
const rememberedLong = 1_000

const mostAttempts = 6

export interface DriverParts {
  readonly connect: Connect
  readonly limits: Limits
  /** Called after each commit. */
  readonly committed: () => void
  /** A key that the database counts was taken already; true: it counts right now, and the same again may succeed. */
  readonly recounted?: (fault: UniqueFault) => Promise<boolean>
  readonly silence?: Silence
}

/** PostgreSQL over a few connections: shared ones for single statements, others for one user at a time. */
export class PostgresDriver implements Driver {
  readonly #reads: readonly Lane[]
  readonly #writes: readonly Lane[]
  readonly #longReads: Pool
  readonly #snapshots: Pool
  readonly #transactions: Pool
  readonly #pools: readonly Pool[]
  readonly #long = new Map<string, number>()
  readonly #watch: Watch
  readonly #committed: () => void
  readonly #recounted: (fault: UniqueFault) => Promise<boolean>
  readonly #closing: (() => Promise<void>)[] = []

  constructor({ connect, limits, committed, recounted, silence = longestSilence }: DriverParts) {
    const { statementTimeoutMs, busyTimeoutMs: waitMs } = limits
    const short = {
      statementTimeoutMs: Math.min(laneStatementMs, statementTimeoutMs),
      lockTimeoutMs: laneLockMs,
      compiles: false,
    }
    const openShort = patient(() => connect(short))
    const open = patient(() => connect({ statementTimeoutMs }))
    const lanes = (count: number): readonly Lane[] => Array.from({ length: count }, () => new Lane(openShort))
    this.#reads = lanes(readLanes)
    this.#writes = lanes(writeLanes)
    this.#longReads = new Pool({ open, size: longReads, waitMs })
    this.#snapshots = new Pool({ open, size: snapshots, waitMs })
    this.#transactions = new Pool({ open, size: transactions, waitMs })
    this.#committed = committed
    this.#recounted = recounted ?? (async () => false)
    this.#pools = [this.#longReads, this.#snapshots, this.#transactions]
    this.#watch = new Watch({
      connections: () => this.#connections(),
      statementTimeoutMs,
      silence,
      sweep: () => this.#sweep(),
    })
  }

  read(text: string, values: readonly unknown[], weight: Weight): Promise<readonly Row[]> {
    if (weight === 'long' || this.#isLong(text)) return this.#readLong({ text, values, how: 'anew' })
    return new Promise((resolve, reject) => {
      const ask: Ask = { text, values, how: 'kept' }
      const lane = idlest(this.#reads)
      lane.send(ask, resolve, (error) => this.#readAgain(lane, ask, error).then(resolve, reject))
    })
  }

  async #readAgain(lane: Lane, ask: Ask, error: DatabaseError): Promise<readonly Row[]> {
    if (isOverdue(error)) {
      this.#remember(ask.text)
      return this.#readLong({ ...ask, how: 'anew' })
    }
    if (isStale(error) || isLost(error)) return askOn(lane, ask)
    throw error
  }

  async #readLong(ask: Ask): Promise<readonly Row[]> {
    const run = (): Promise<readonly Row[]> => this.#longReads.use((connection) => connection.run(ask))
    try {
      return await run()
    } catch (error) {
      if (!isLost(error)) throw error
      this.#longReads.renew()
      return run()
    }
  }

  snapshot<T>(work: (query: Query) => Maybe<T>): Promise<T> {
    return repeated(this.#snapshots, this.#recounted, (connection, progress) => look(connection, work, progress))
  }

  /** Nothing is repeated that may have been done: only what the server says it has not done. */
  async write(text: string, values: readonly unknown[], origin: string | undefined): Promise<readonly Row[]> {
    const ask: Ask = { text, values, how: 'kept', origin }
    let isShort = true
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await (isShort
          ? askOn(idlest(this.#writes), ask)
          : this.#transactions.use((connection) => connection.run(ask)))
        this.#committed()
        return rows
      } catch (error) {
        if (attempt === mostAttempts) throw error
        if (isShort && isOverdue(error)) isShort = false
        else if (isConflict(error)) await pause(attempt)
        else if (!isStale(error)) throw error
      }
    }
  }

  async transaction<T>(work: (query: Query) => Maybe<T>, origin: string | undefined): Promise<T> {
    const result = await repeated(this.#transactions, this.#recounted, (connection, progress) =>
      transact(connection, work, origin, progress),
    )
    this.#committed()
    return result
  }

  /** Runs before the connections are closed. */
  onClosing(close: () => Promise<void>): void {
    this.#closing.push(close)
  }

  #connections(): readonly Connection[] {
    const lanes = [...this.#reads, ...this.#writes]
    return [...lanes.flatMap((lane) => lane.connection ?? []), ...this.#pools.flatMap((pool) => pool.connections)]
  }

  #sweep(): void {
    for (const pool of this.#pools) pool.sweep()
  }

  #isLong(text: string): boolean {
    if (this.#long.size === 0) return false
    const untilMs = this.#long.get(text)
    if (untilMs === undefined || untilMs > performance.now()) return untilMs !== undefined
    this.#long.delete(text)
    return false
  }

  #remember(text: string): void {
    if (this.#long.size >= rememberedLong) this.#long.delete(this.#long.keys().next().value as string)
    this.#long.set(text, performance.now() + rememberLongMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closing.map((close) => close()))
    await Promise.all([...this.#reads, ...this.#writes, ...this.#pools].map((part) => part.close()))
    this.#watch[Symbol.dispose]()
  }
}

const askOn = (lane: Lane, ask: Ask): Promise<readonly Row[]> =>
  new Promise((resolve, reject) => lane.send(ask, resolve, reject))

function idlest(lanes: readonly Lane[]): Lane {
  let found = lanes[0] as Lane
  for (let index = 1; index < lanes.length && found.load > 0; index++) {
    const lane = lanes[index] as Lane
    if (lane.load < found.load) found = lane
  }
  return found
}

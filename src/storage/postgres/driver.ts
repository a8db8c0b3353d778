import type { Limits } from '../../support/limits.ts'
import type { Maybe } from '../../support/maybe.ts'
import type { DatabaseError, Driver, Query, Row, Weight } from '../driver.ts'
import type { Connect } from './connect.ts'
import { type Connection, setOrigin } from './connection.ts'
import { isConflict, isLost, isOverdue, isStale } from './errors.ts'
import { Lane } from './lane.ts'
import { patient } from './patience.ts'
import { Pool } from './pool.ts'
import type { Ask } from './text-query.ts'
import { Watch } from './watch.ts'

/**
 * Reads and writes do not share: a write may have to wait for another program's lock, and everything behind it waits
 * too. More lanes for writes, because each commit waits for the disk, and commits of several lanes wait together.
 */
const readLanes = 2
const writeLanes = 3
const longReads = 4
const transactions = 8

/** What is asked here takes a millisecond; what takes this long is asked again where it holds up nobody else. */
const laneStatementMs = 250
const laneLockMs = 100
/** For this time a statement that took too long is asked there at once. */
const rememberLongMs = 60_000
const rememberedLong = 1_000

const mostAttempts = 6
const longestRetryPauseMs = 40

/** PostgreSQL over a few connections: shared ones for single statements, others for one user at a time. */
export class PostgresDriver implements Driver {
  readonly #reads: readonly Lane[]
  readonly #writes: readonly Lane[]
  readonly #longReads: Pool
  readonly #transactions: Pool
  readonly #long = new Map<string, number>()
  readonly #watch: Watch
  readonly #committed: () => void
  readonly #closing: (() => Promise<void>)[] = []

  constructor(connect: Connect, limits: Limits, committed: () => void) {
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
    this.#transactions = new Pool({ open, size: transactions, waitMs })
    this.#committed = committed
    this.#watch = new Watch(
      () => [
        ...[...this.#reads, ...this.#writes].flatMap((lane) => lane.connection ?? []),
        ...this.#longReads.connections,
        ...this.#transactions.connections,
      ],
      statementTimeoutMs,
      () => {
        this.#longReads.sweep()
        this.#transactions.sweep()
      },
    )
  }

  read(text: string, values: readonly unknown[], weight: Weight): Promise<readonly Row[]> {
    if (weight === 'long' || this.#isLong(text)) return this.#readLong({ text, values, how: 'anew' })
    return new Promise((resolve, reject) => {
      const ask: Ask = { text, values, how: 'kept' }
      idlest(this.#reads).send(ask, resolve, (error) => this.#readAgain(ask, error).then(resolve, reject))
    })
  }

  async #readAgain(ask: Ask, error: DatabaseError): Promise<readonly Row[]> {
    if (isOverdue(error)) {
      this.#remember(ask.text)
      return this.#readLong({ ...ask, how: 'anew' })
    }
    if (isStale(error) || isLost(error)) return this.#ask(this.#reads, ask)
    throw error
  }

  async #readLong(ask: Ask): Promise<readonly Row[]> {
    const run = (): Promise<readonly Row[]> => this.#longReads.use((connection) => connection.run(ask))
    try {
      return await run()
    } catch (error) {
      if (isLost(error)) return run()
      throw error
    }
  }

  snapshot<T>(work: (query: Query) => Maybe<T>): Promise<T> {
    return this.#repeated((progress) => this.#snapshots.use((connection) => look(connection, work, progress)))
  }

  /** Nothing is repeated that may have been done: only what the server says it has not done. */
  async write(text: string, values: readonly unknown[], origin: string | undefined): Promise<readonly Row[]> {
    const ask: Ask = { text, values, how: 'kept', origin }
    let isShort = true
    for (let attempt = 1; ; attempt++) {
      try {
        const rows = await (isShort
          ? this.#ask(this.#writes, ask)
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

  #ask(lanes: readonly Lane[], ask: Ask): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => idlest(lanes).send(ask, resolve, reject))
  }

  async transaction<T>(work: (query: Query) => Maybe<T>, origin: string | undefined): Promise<T> {
    const result = await this.#repeated((progress) =>
      this.#transactions.use((connection) => transact(connection, work, origin, progress)),
    )
    this.#committed()
    return result
  }

  async #repeated<T>(run: (progress: Progress) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const progress: Progress = { hasBegun: false, failures: [] }
      try {
        return await run(progress)
      } catch (error) {
        if (attempt === mostAttempts || !mayRepeat(error, progress, attempt)) throw error
        await pause(attempt)
      }
    }
  }

  /** Runs before the connections are closed. */
  onClosing(close: () => Promise<void>): void {
    this.#closing.push(close)
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
    await Promise.all(
      [...this.#reads, ...this.#writes, this.#longReads, this.#transactions].map((part) => part.close()),
    )
    this.#watch[Symbol.dispose]()
  }
}

function idlest(lanes: readonly Lane[]): Lane {
  let found = lanes[0] as Lane
  for (let index = 1; index < lanes.length && found.load > 0; index++) {
    const lane = lanes[index] as Lane
    if (lane.load < found.load) found = lane
  }
  return found
}

interface Progress {
  hasBegun: boolean
  /** What the work throws may be what it has made of a fault, so the faults themselves are kept. */
  readonly failures: DatabaseError[]
}

function mayRepeat(error: unknown, { hasBegun, failures }: Progress, attempt: number): boolean {
  // The connection had been lost before, and nobody had noticed.
  if (!hasBegun) return isLost(error) && attempt === 1
  return failures.some((failure) => isConflict(failure) || isStale(failure))
}

async function transact<T>(
  connection: Connection,
  work: (query: Query) => Maybe<T>,
  origin: string | undefined,
  progress: Progress,
): Promise<T> {
  const { failures } = progress
  const run = async (ask: Ask): Promise<readonly Row[]> => {
    try {
      return await connection.run(ask)
    } catch (error) {
      failures.push(error as DatabaseError)
      throw error
    }
  }
  // Waited for, because what follows would be a transaction of its own if this failed.
  await connection.run({ text: begin, values: [], how: 'several' })
  progress.hasBegun = true
  try {
    if (origin !== undefined) run({ text: setOrigin, values: [origin], how: 'kept' }).catch(() => {}) // the next one fails too
    const result = await work((text, values) => run({ text, values, how: 'kept' }))
    // A commit after a fault would be a quiet rollback.
    if (failures[0] !== undefined) throw failures[0]
    await run({ text: 'commit', values: [], how: 'several' })
    if (failures[0] !== undefined) throw failures[0]
    return result
  } catch (error) {
    await connection
      .run({ text: 'rollback', values: [], how: 'several' })
      .catch((failure) => connection.destroy(failure))
    throw error
  }
}

/** What must not change until the end is locked by whoever reads it. */
const begin = 'begin isolation level read committed'

/** Two that met are not to meet again. */
const pause = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * longestRetryPauseMs * Math.min(1, attempt / 3)))

import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { budgetOf } from '../../byte-budget.ts'
import type { DatabaseError, DatabaseErrorKind, Query, Reader, Row, TransactionOptions } from '../../driver.ts'
import type { ReadOptions } from '../../store.ts'
import { isConflict, isDeadlock, isLarge, isLocked, isLost, isStale } from '../errors.ts'
import type { Connection } from './connection.ts'
import type { Pool } from './pool.ts'
import { setOriginStatement } from './statement-writer.ts'
import type { QueryRequest } from './text-query.ts'

/** The progress of one attempt. */
export interface Progress {
  /** From here on statements may have been executed. */
  hasBegun: boolean
  /** `work` may throw another error than the database did, so the original ones are kept. */
  readonly failures: DatabaseError[]
  /** A statement that waits for a lock for longer has lost a conflict; undefined: up to the limit of the session. */
  readonly lockTimeoutMs: number | undefined
}

/** The state that all repeated transactions share. */
export interface Repetition {
  readonly resyncSequence: (fault: UniqueFault) => Promise<boolean>
  /** The pool of connections that hold the advisory lock for repeated transactions. Undefined for transactions that only read. */
  readonly turns?: Pool
}

const maxReadAttempts = 6
/** Serializable transactions conflict often, also with rows that they only read. */
const maxAttempts = 20
const longestPauseMs = 40
/**
 * Longest pause after a deadlock. The other transaction is still running: without a pause, this one would take its first locks
 * again before the other one has all of its locks.
 */
const longestDeadlockPauseMs = 1_000
/**
 * Lock timeout of the first attempt. Waiting rarely helps a serializable transaction: the other one commits a change of the row,
 * which is newer than the snapshot of this one. It is also too short for all connections to end up waiting for one row, and it
 * resolves deadlocks sooner than the server, which looks for them after a second.
 */
const firstLockMs = 50
/** Lock timeout of later attempts, which run one at a time. It grows, because the row may be locked by another program. */
const turnLockMs = (attempt: number): number => Math.min(1_000, 100 * attempt)
/** Longest wait for the advisory lock while another process holds it. After that, the attempt runs without the lock. */
const longestTurnMs = 1_000

export type UniqueFault = DatabaseErrorKind & { readonly kind: 'unique' }

/**
 * Repeats a transaction from the beginning after a conflict, after its connection was lost before it began, and after a sequence
 * was advanced. Transactions that have lost a conflict are repeated one at a time, with a longer lock timeout than first
 * attempts: however many transactions want the same rows, one of them always completes.
 */
export async function repeated<T>(
  pool: Pool,
  { resyncSequence, turns }: Repetition,
  run: (connection: Connection, progress: Progress) => Promise<T>,
  { signal }: Pick<ReadOptions, 'signal'> = {},
): Promise<T> {
  const attempts = turns ? maxAttempts : maxReadAttempts
  let hasLost = false
  for (let attempt = 1; ; attempt++) {
    const lockTimeoutMs = turns && (hasLost ? turnLockMs(attempt) : firstLockMs)
    const progress: Progress = { hasBegun: false, failures: [], lockTimeoutMs }
    const once = () => pool.use((connection) => run(connection, progress), { signal })
    try {
      return await (turns && hasLost ? inTurn(turns, once) : once())
    } catch (error) {
      if (attempt === attempts) throw error
      const { hasBegun, failures } = progress
      const hasConflict = failures.some(
        (failure) => isConflict(failure) || (lockTimeoutMs !== undefined && isLocked(failure)),
      )
      if (!hasBegun && attempt === 1 && (isLost(error) || failures.some(isLost))) pool.discardIdle()
      else if (hasConflict || failures.some(isStale)) {
        hasLost ||= hasConflict
        await pause(attempt, failures.some(isDeadlock) ? longestDeadlockPauseMs : undefined)
      } else if (!failures[0] || !isUnique(failures[0].reason) || !(await resyncSequence(failures[0].reason)))
        throw error
    }
  }
}

/**
 * Runs `work` while holding an advisory lock, so that one repeated transaction runs at a time among all processes on the
 * database.
 */
const inTurn = <T>(turns: Pool, work: () => Promise<T>): Promise<T> =>
  turns.use(async (connection) => {
    try {
      await Promise.all([begin, lockTimeout(longestTurnMs), takeTurn].map((request) => connection.run(request)))
    } catch {
      // The lock was not free in time. The attempt runs without it, and may conflict with that of another process.
    }
    try {
      return await work()
    } finally {
      connection.run(rollback).catch((failure) => connection.destroy(failure))
    }
  })

const isUnique = (fault: DatabaseErrorKind): fault is UniqueFault => fault.kind === 'unique'

/** A random delay, so that two transactions do not conflict again. */
export const pause = (attempt: number, longestMs = longestPauseMs * Math.min(1, attempt / 3)): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs))

const control = (text: string, transaction: 'begin' | 'end'): QueryRequest => ({
  text,
  values: [],
  how: 'several',
  transaction,
})
/** Rows that must not change until the end are locked when they are read. */
export const begin = control('begin isolation level read committed', 'begin')
const beginSerializable = control('begin isolation level serializable', 'begin')
const beginReadOnly = control('begin isolation level repeatable read read only', 'begin')
export const commit = control('commit', 'end')
export const rollback = control('rollback', 'end')

const lockTimeout = (ms: number): QueryRequest => ({
  text: `set local lock_timeout = ${ms}`,
  values: [],
  how: 'several',
})
const takeTurn: QueryRequest = {
  text: `select pg_advisory_xact_lock(hashtext('keelson turn'))`,
  values: [],
  how: 'anew',
}

export async function transact<T>(
  connection: Connection,
  work: (query: Query) => MaybePromise<T>,
  origin: string | undefined,
  progress: Progress,
  { isSerializable = false }: TransactionOptions = {},
): Promise<T> {
  const run = recordingFailures(connection, progress)
  try {
    // Awaited: if it failed, the following statements would each be a transaction of their own.
    await connection.run(isSerializable ? beginSerializable : begin)
    progress.hasBegun = true
    if (progress.lockTimeoutMs !== undefined) run(lockTimeout(progress.lockTimeoutMs)).catch(() => {}) // as below
    if (origin !== undefined) run({ text: setOriginStatement, values: [origin], how: 'kept' }).catch(() => {}) // the next statement fails too
    const result = await work((text, values, options) => run({ text, values, how: 'kept', budget: options?.budget }))
    // A commit after an error would be a silent rollback.
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    await run(commit)
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    return result
  } catch (error) {
    undo(connection, progress)
    throw error
  }
}

/** Reads in one snapshot. Only the answers to reads are awaited. */
export async function readSnapshot<T>(
  connection: Connection,
  work: (reader: Reader) => MaybePromise<T>,
  progress: Progress,
  maxAnswerBytes: number,
): Promise<T> {
  const run = recordingFailures(connection, progress)
  run(beginReadOnly).catch(() => {}) // recorded, and thrown below
  try {
    const result = await work({
      read: ({ text, values }, options) =>
        run({ text, values, how: 'kept', budget: budgetOf(options, maxAnswerBytes) }),
    })
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    run(commit).catch((failure) => connection.destroy(failure))
    return result
  } catch (error) {
    undo(connection, progress)
    throw error
  }
}

const recordingFailures =
  (connection: Connection, { failures }: Progress) =>
  async (request: QueryRequest): Promise<readonly Row[]> => {
    try {
      return await connection.run(request)
    } catch (error) {
      failures.push(error as DatabaseError)
      throw error
    }
  }

/** Queued before the next use of the connection. The server would go on to send rows that are too large: it is left at once. */
function undo(connection: Connection, { failures }: Progress): void {
  const large = failures.find(isLarge)
  if (large) connection.destroy(large)
  else connection.run(rollback).catch((failure) => connection.destroy(failure))
}

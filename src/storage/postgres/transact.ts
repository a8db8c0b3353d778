import type { Maybe } from '../../support/maybe.ts'
import type { DatabaseError, Fault, Query, Row } from '../driver.ts'
import { type Connection, setOrigin } from './connection.ts'
import { isConflict, isLost, isStale } from './errors.ts'
import type { Pool } from './pool.ts'
import type { Ask } from './text-query.ts'

/** How far one attempt came. */
export interface Progress {
  /** From here on something may have been done. */
  hasBegun: boolean
  /** What the work throws may be what it has made of a fault, so the faults themselves are kept. */
  readonly failures: DatabaseError[]
}

const mostAttempts = 6
const longestPauseMs = 40

export type UniqueFault = Fault & { readonly kind: 'unique' }

/**
 * Runs it again from its beginning where two transactions met, where the connection was gone before anything began, and
 * where a key that the database counts had to be counted anew.
 */
export async function repeated<T>(
  pool: Pool,
  recounted: (fault: UniqueFault) => Promise<boolean>,
  run: (connection: Connection, progress: Progress) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const progress: Progress = { hasBegun: false, failures: [] }
    try {
      return await pool.use((connection) => run(connection, progress))
    } catch (error) {
      if (attempt === mostAttempts) throw error
      const { hasBegun, failures } = progress
      if (!hasBegun && attempt === 1 && (isLost(error) || failures.some(isLost))) pool.renew()
      else if (failures.some((failure) => isConflict(failure) || isStale(failure))) await pause(attempt)
      else if (!failures[0] || !isUnique(failures[0].fault) || !(await recounted(failures[0].fault))) throw error
    }
  }
}

const isUnique = (fault: Fault): fault is UniqueFault => fault.kind === 'unique'

/** Two that met are not to meet again. */
export const pause = (attempt: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.random() * longestPauseMs * Math.min(1, attempt / 3)))

/** What must not change until the end is locked by whoever reads it. */
const begin: Ask = { text: 'begin isolation level read committed', values: [], how: 'several' }
const beginLooking: Ask = { text: 'begin isolation level repeatable read read only', values: [], how: 'several' }
const commit: Ask = { text: 'commit', values: [], how: 'several' }
const rollback: Ask = { text: 'rollback', values: [], how: 'several' }

export async function transact<T>(
  connection: Connection,
  work: (query: Query) => Maybe<T>,
  origin: string | undefined,
  progress: Progress,
): Promise<T> {
  const run = noting(connection, progress)
  // Waited for, because what follows would be a transaction of its own if this failed.
  await connection.run(begin)
  progress.hasBegun = true
  try {
    if (origin !== undefined) run({ text: setOrigin, values: [origin], how: 'kept' }).catch(() => {}) // the next one fails too
    const result = await work((text, values) => run({ text, values, how: 'kept' }))
    // A commit after a fault would be a quiet rollback.
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    await run(commit)
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    return result
  } catch (error) {
    undo(connection)
    throw error
  }
}

/** Readings of one moment. Nothing is done, so nothing is waited for but what is read. */
export async function look<T>(
  connection: Connection,
  work: (query: Query) => Maybe<T>,
  progress: Progress,
): Promise<T> {
  const run = noting(connection, progress)
  run(beginLooking).catch(() => {}) // noted, and found below
  try {
    const result = await work((text, values) => run({ text, values, how: 'kept' }))
    if (progress.failures[0] !== undefined) throw progress.failures[0]
    run(commit).catch((failure) => connection.destroy(failure))
    return result
  } catch (error) {
    undo(connection)
    throw error
  }
}

const noting =
  (connection: Connection, { failures }: Progress) =>
  async (ask: Ask): Promise<readonly Row[]> => {
    try {
      return await connection.run(ask)
    } catch (error) {
      failures.push(error as DatabaseError)
      throw error
    }
  }

/** Whoever uses the connection next comes behind this. */
function undo(connection: Connection): void {
  connection.run(rollback).catch((failure) => connection.destroy(failure))
}

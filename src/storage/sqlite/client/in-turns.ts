import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { MaybePromise } from '../../../support/maybe-promise.ts'
import { DatabaseError, type Query } from '../../driver.ts'

/** Statements that waited for a turn of the event loop use at most this much of it. */
const waitingMs = 2

/** Runs a transaction, which may consist of many statements: once the turn of the event loop is used, the next ones wait for later turns. */
export async function inTurns<T>(query: Query, work: (query: Query) => MaybePromise<T>): Promise<T> {
  let waiting = 0
  let isOpen = true
  let last: Promise<void> = Promise.resolve()
  let begunAt = Number.NEGATIVE_INFINITY
  const nextTurn = async (): Promise<void> => {
    if (performance.now() - begunAt < waitingMs) return
    await eventLoopTurn.end() // and not behind the reads that wait: other writes wait for this transaction
    begunAt = performance.now()
  }
  const later: Query = async (text, values, options) => {
    waiting++
    last = last.then(nextTurn)
    await last
    waiting--
    // The connection may serve another transaction by now.
    if (!isOpen) throw new DatabaseError({ kind: 'aborted' }, 'The transaction has ended')
    return query(text, values, options)
  }
  try {
    // Statements that are sent together stay in their order.
    return await work((text, values, options) =>
      waiting > 0 || eventLoopTurn.isUsed ? later(text, values, options) : query(text, values, options),
    )
  } finally {
    isOpen = false
  }
}

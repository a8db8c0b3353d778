import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { DatabaseError, Query } from '../../driver.ts'
import { inTurns } from './in-turns.ts'

/** Takes the whole turn of the event loop. */
function useTurn(): void {
  while (!eventLoopTurn.isUsed);
}

const logging =
  (log: string[]): Query =>
  (text) => {
    log.push(text)
    return []
  }

test('a statement waits while the turn of the event loop is used', async () => {
  const log: string[] = []
  const other = (async () => {
    await nextTurn()
    log.push('other')
  })()
  await inTurns(logging(log), async (query) => {
    await query('first', [])
    useTurn()
    await query('second', [])
  })
  await other
  assert.deepEqual(log, ['first', 'other', 'second'])
})

test('statements that are sent together stay in their order', async () => {
  const log: string[] = []
  await inTurns(logging(log), async (query) => {
    useTurn()
    const waiting = [query('1', []), query('2', [])]
    const last = Promise.resolve(waiting[0]).then(() => query('3', []))
    await Promise.all([...waiting, last])
  })
  assert.deepEqual(log, ['1', '2', '3'])
})

test('a statement that waits when the transaction ends is not run: the connection may serve another one', async () => {
  const log: string[] = []
  let left: Promise<unknown> | undefined
  await inTurns(logging(log), async (query) => {
    useTurn()
    left = Promise.resolve(query('late', []))
  })
  await assert.rejects(left as Promise<unknown>, (error: DatabaseError) => error.reason.kind === 'aborted')
  assert.deepEqual(log, [])
})

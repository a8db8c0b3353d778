import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blockEventLoop } from '../../../../test/support/block-event-loop.ts'
import { eventLoopTurn } from '../../../support/event-loop-turn.ts'
import type { DatabaseError, Query } from '../../driver.ts'
import { inTurns } from './in-turns.ts'

/** Takes the whole turn of the event loop. */
function fillTurn(): void {
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
    fillTurn()
    await query('second', [])
  })
  await other
  assert.deepEqual(log, ['first', 'other', 'second'])
})

test('a statement waits for one turn, and not for all reads that wait as well', async () => {
  let isRead = false
  const reads = Array.from({ length: 20 }, async () => {
    fillTurn()
    await eventLoopTurn.next()
    fillTurn()
  })
  const read = Promise.all(reads).then(() => {
    isRead = true
  })
  await inTurns(logging([]), async (query) => {
    for (let count = 0; count < 3; count++) {
      fillTurn()
      await query('select', [])
    }
  })
  assert.ok(!isRead)
  await read
})

test('statements that are sent together take several turns', async () => {
  const log: string[] = []
  const slow: Query = (text) => {
    blockEventLoop(3)
    log.push(text)
    return []
  }
  const others = (async () => {
    while (log.filter((text) => text !== 'other').length < 3) {
      await nextTurn()
      log.push('other')
    }
  })()
  await inTurns(slow, async (query) => {
    fillTurn()
    await Promise.all(['1', '2', '3'].map((text) => query(text, [])))
  })
  await others
  assert.deepEqual(
    log
      .join(' ')
      .replaceAll(/(other ?)+/g, '* ')
      .trim(),
    '* 1 * 2 * 3 *',
  )
})

test('statements that are sent together stay in their order', async () => {
  const log: string[] = []
  await inTurns(logging(log), async (query) => {
    fillTurn()
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
    fillTurn()
    left = Promise.resolve(query('late', []))
  })
  await assert.rejects(left as Promise<unknown>, (error: DatabaseError) => error.reason.kind === 'aborted')
  assert.deepEqual(log, [])
})

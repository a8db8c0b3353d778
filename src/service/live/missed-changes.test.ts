import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { Semaphore } from '../../support/semaphore.ts'
import { MissedChanges } from './missed-changes.ts'

const plan = { model: { name: 'pet' }, through: new Set() } as unknown as QueryPlan

test('what was missed since a position is read once, and read on after a read that has failed', async () => {
  const reads: string[] = []
  let failing = true
  const log = {
    async read(after: string) {
      reads.push(after)
      if (after === '1' && failing) throw new Error('the connection was lost')
      const number = Number(after)
      return number < 2
        ? { changes: [{ model: 'pet', id: number }], position: String(number + 1) }
        : { changes: [], position: after }
    },
  } as unknown as ChangeLog
  const missed = new MissedChanges('0', log, new Semaphore(1))
  const result = { rows: [{ id: 0 }, { id: 5 }] } as unknown as QueryResult
  await assert.rejects(missed.differenceFrom([0], result, plan), /the connection was lost/)
  failing = false
  for (let streams = 0; streams < 3; streams++) assert.notEqual(await missed.differenceFrom([0], result, plan), 'reset')
  assert.deepEqual(reads, ['0', '1', '1', '2', '2', '2'])
})

describe('those that resume together', () => {
  test('share one read of the log', async () => {
    let reads = 0
    const log = {
      async read(after: string) {
        reads++
        return { changes: [], position: after }
      },
    } as unknown as ChangeLog
    const missed = new MissedChanges('0', log, new Semaphore(1))
    const result = { rows: [{ id: 0 }] } as unknown as QueryResult
    await Promise.all(Array.from({ length: 100 }, () => missed.differenceFrom([0], result, plan)))
    assert.equal(reads, 1)
  })

  test('are compared with their rows in several turns of the event loop', async () => {
    const log = { read: async (after: string) => ({ changes: [], position: after }) } as unknown as ChangeLog
    const missed = new MissedChanges('0', log, new Semaphore(1))
    const slow = {
      get id() {
        blockEventLoop(10)
        return 0
      },
    }
    using turns = new TurnCounter()
    await Promise.all(
      Array.from({ length: 3 }, () => missed.differenceFrom([0], { rows: [slow] } as unknown as QueryResult, plan)),
    )
    assert.ok(turns.turn >= 3, `${turns.turn} turns`)
  })
})

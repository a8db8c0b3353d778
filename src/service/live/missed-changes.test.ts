import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import type { ChangeLog } from '../../storage/change-log.ts'
import { Semaphore } from '../../support/semaphore.ts'
import { MissedChanges } from './missed-changes.ts'

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
  const plan = { model: { name: 'pet' }, through: new Set() } as unknown as QueryPlan
  await assert.rejects(missed.differenceFrom([0], result, plan), /the connection was lost/)
  failing = false
  for (let streams = 0; streams < 3; streams++) assert.notEqual(await missed.differenceFrom([0], result, plan), 'reset')
  assert.deepEqual(reads, ['0', '1', '1', '2', '2', '2'])
})

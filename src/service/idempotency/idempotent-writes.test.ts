import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { ServiceRequest } from '../../protocol/request.ts'
import { anonymous } from '../../protocol/requester.ts'
import type { StoredAnswers } from '../../storage/stored-answers.ts'
import { EventLoopTurn } from '../../support/event-loop-turn.ts'
import { IdempotentWrites } from './idempotent-writes.ts'

test('a stored answer that took long to read is sent in a later turn of the event loop', async (t) => {
  using turns = new TurnCounter()
  let readIn: number | undefined
  t.mock.getter(EventLoopTurn.prototype, 'isUsed', function (this: EventLoopTurn) {
    return this.usedMs >= 0 && turns.turn === readIn // as it does, a look at the time schedules the end of the turn
  })
  const answers = {
    prepare: async () => {},
    find: (id: string) => {
      readIn = turns.turn
      return { id, request: '', status: 201, headers: '{}', body: '"long"', at: 0 }
    },
  } as unknown as StoredAnswers
  const headers = { 'idempotency-key': 'a' }
  const request = { method: 'POST', path: '/pet', query: '', headers, body: {} } as unknown as ServiceRequest
  const repeated = new IdempotentWrites(answers, () => 0).answer(request, anonymous, () => assert.fail('written again'))
  await assert.rejects(repeated, { code: 'E_IDEMPOTENCY_MISMATCH' })
  assert.ok(readIn !== undefined && turns.turn > readIn)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pendingWrite } from './pending-write.ts'
import { PendingWrites } from './pending-writes.ts'

test('a stream is asked for 1,000 tokens in a request, for each once, and the next stream again', () => {
  const writes = new PendingWrites()
  const ignore = () => {}
  for (let id = 0; id < 1_001; id++) {
    const write = {
      kind: 'update',
      model: 'card',
      id,
      values: {},
      base: undefined,
      key: '',
      isOptimistic: true,
    } as const
    writes.add({ ...pendingWrite({ ...write, state: 'answered' }, {}, ignore, ignore), token: `t${id}` })
  }
  for (const openedAt of [1, 2]) {
    writes.openedAt = openedAt
    for (const expected of [1_000, 1, 0]) {
      const asked = writes.toAsk()
      assert.equal(asked.length, expected)
      for (const write of asked) write.askedAt = openedAt
    }
  }
})

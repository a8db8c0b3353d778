import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PendingWrite } from './pending-write.ts'
import { PendingWrites } from './pending-writes.ts'

test('a stream is asked for 1,000 tokens in a request, for each once, and the next stream again', () => {
  const writes = new PendingWrites()
  const ignore = () => {}
  for (let id = 0; id < 1_001; id++) {
    const write: PendingWrite = {
      kind: 'update',
      model: 'card',
      id,
      values: {},
      base: undefined,
      key: '',
      optimistic: true,
      state: 'answered',
      sentAt: 0,
      token: `t${id}`,
      before: new Map(),
      resolve: ignore,
      reject: ignore,
    }
    writes.add(write)
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

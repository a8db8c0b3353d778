import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import { StreamQuery } from './stream-query.ts'

const plan = { model: { primaryKey: { name: 'id' } } } as unknown as QueryPlan
const result = {
  position: 'p',
  rows: [{ id: 1 }],
  total: undefined,
  texts: ['{}'],
  length: 2,
} as unknown as QueryResult

for (const event of ['reset', 'rows'])
  test(`a query whose frames are dropped when "${event}" is added goes on to need its rows`, () => {
    const sent: string[] = []
    const query = new StreamQuery(
      { name: 'a', plan, digest: 'd', held: undefined },
      {
        send(frame) {
          sent.push(frame.event)
          // As a stream does with the queries of the frames that it drops.
          if (frame.event === event) query.mustReset = true
        },
        onJoined() {},
        onFailed: assert.ifError,
        onReset() {},
        missedSince: () => assert.fail(),
      },
    )
    query.mustReset = true
    query.onRows(result)
    query.onDifference('p', '')
    assert.equal(query.mustReset, true)
    assert.deepEqual(sent, event === 'reset' ? ['reset'] : ['reset', 'rows'])
  })

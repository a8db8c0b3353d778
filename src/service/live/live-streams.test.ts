import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { anonymous } from '../../protocol/requester.ts'
import { defaultLimits } from '../../support/limits.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { LiveStreams, type LiveStreamsOptions } from './live-streams.ts'
import { StreamSlots } from './stream-slots.ts'

test('streams that resume from the same position share what was missed since', async () => {
  const streams = new LiveStreams({
    queries: { connect: async () => ({ [Symbol.dispose]() {} }) },
    tokens: { keyOf: () => undefined },
    services: { limits: defaultLimits, clock: new ManualClock() },
    slots: new StreamSlots(2),
    waiting: new WaitingBytes(1_000_000),
    onError: assert.ifError,
  } as unknown as LiveStreamsOptions)
  const authorization = { requester: anonymous } as unknown as Authorization
  const [first, second] = [await streams.open([], authorization), await streams.open([], authorization)]
  assert.equal(first.missedSince('1'), second.missedSince('1'))
  assert.notEqual(first.missedSince('1'), second.missedSince('2'))
  for (const stream of [first, second]) stream.end()
})

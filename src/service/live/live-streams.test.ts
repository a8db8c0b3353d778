import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { anonymous } from '../../protocol/requester.ts'
import { defaultLimits } from '../../support/limits.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { LiveStream } from './live-stream.ts'
import { LiveStreams, type LiveStreamsOptions } from './live-streams.ts'
import { StreamSlots } from './stream-slots.ts'

const authorization = { requester: anonymous } as unknown as Authorization

const streamsOver = (connect: () => Promise<Disposable>): LiveStreams =>
  new LiveStreams({
    queries: { connect },
    tokens: { keyOf: () => undefined },
    services: { limits: defaultLimits, clock: new ManualClock() },
    slots: new StreamSlots(10),
    waiting: new WaitingBytes(1_000_000),
    onError: assert.ifError,
  } as unknown as LiveStreamsOptions)

test('streams that resume from the same position share what was missed since', async () => {
  const streams = streamsOver(async () => ({ [Symbol.dispose]() {} }))
  const [first, second] = [await streams.open([], authorization), await streams.open([], authorization)]
  assert.equal(first.missedSince('1'), second.missedSince('1'))
  assert.notEqual(first.missedSince('1'), second.missedSince('2'))
  for (const stream of [first, second]) stream.end()
})

test('streams that have waited for one connection, and whose queries take long to add, have a turn of the event loop each', async (t) => {
  using counter = new TurnCounter()
  const turns: number[] = []
  t.mock.method(LiveStream.prototype, 'change', () => {
    blockEventLoop(10)
    turns.push(counter.turn)
  })
  const connected = Promise.withResolvers<Disposable>()
  const streams = streamsOver(() => connected.promise)
  const opening = Array.from({ length: 5 }, () => streams.open([], authorization))
  connected.resolve({ [Symbol.dispose]() {} })
  for (const stream of await Promise.all(opening)) stream.end()
  assert.equal(new Set(turns).size, 5, `in the turns ${turns}`)
})

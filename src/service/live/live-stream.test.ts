import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallCounter } from '../../../test/support/call-counter.ts'
import type { QueryPlan } from '../../realtime/queries/query-plan.ts'
import { defaultLimits } from '../../support/limits.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import { LiveStream, type LiveStreamOptions } from './live-stream.ts'

test('an operation that is passed while the stream connects is reported after its first queries are added', async () => {
  const queries = {
    isSettled: true,
    position: '2',
    async connect(client: LiveStream) {
      client.onOperations(['written'], 1, '2')
      client.heartbeat()
      return { [Symbol.dispose]() {} }
    },
  }
  const stream = new LiveStream({
    id: 'a',
    requester: undefined,
    queries,
    tokens: { tokenOf: (operation: string) => operation },
    limits: defaultLimits,
    waiting: new WaitingBytes(1_000_000),
    onError: assert.ifError,
    onEnd: () => {},
  } as unknown as LiveStreamOptions)
  await stream.connect()
  stream.send({ event: 'open' })
  stream.change([], [])
  const frames = [await stream.take(), await stream.take()]
  stream.end()
  frames.push(await stream.take())
  assert.deepEqual(
    frames.map((frame) => [frame?.event, frame?.operations]),
    [
      ['heartbeat', undefined],
      ['open', undefined],
      ['seen', ['written']],
    ],
  )
})

test('queries that are added to a stream after its end are not counted', () => {
  let held = 0
  const hold = () => {
    held++
    return { [Symbol.dispose]: () => void held-- }
  }
  const queries = { isSettled: true, assertRoom() {}, hold, subscribe() {} }
  const stream = new LiveStream({
    id: 'a',
    queries,
    limits: defaultLimits,
    waiting: new WaitingBytes(1_000_000),
    onError: assert.ifError,
    onEnd: () => {},
  } as unknown as LiveStreamOptions)
  stream.end()
  const plan = { key: 'pet' } as QueryPlan
  stream.change([{ name: 'pets', plan, digest: '', held: undefined }], [])
  assert.equal(held, 0)
})

/** A stream whose queries are being read, so that nothing is reported. */
function reading(waiting: WaitingBytes) {
  let ends = 0
  const stream = new LiveStream({
    id: 'a',
    requester: undefined,
    queries: { isSettled: true, position: '2' },
    tokens: { tokenOf: (operation: string) => operation },
    limits: defaultLimits,
    waiting,
    onError: assert.ifError,
    onEnd: () => ends++,
  } as unknown as LiveStreamOptions)
  return { stream, ends: () => ends }
}
const operations = (count: number) => Array.from({ length: count }, (_, index) => `operation ${index}`)

test('operations that are not reported count among what waits for all clients', () => {
  const waiting = new WaitingBytes(2_000_000)
  const all = Array.from({ length: 3 }, () => reading(waiting))
  for (const { stream } of all) stream.onOperations(operations(5_000), 1, '2')
  assert.deepEqual(
    all.map(({ ends }) => ends()),
    [1, 0, 0],
  )
  assert.ok(waiting.total > 1_500_000)
  for (const { stream } of all) stream.end()
  assert.equal(waiting.total, 0)
})

test('an operation is passed in the same time, however many wait to be reported', async () => {
  const { stream } = reading(new WaitingBytes(100_000_000))
  stream.onOperations(operations(9_000), 1, '2')
  using counter = await CallCounter.start()
  await counter.take()
  for (let turn = 2; turn < 102; turn++) stream.onOperations(['one'], turn, '2')
  const calls = await counter.take()
  assert.ok(calls < 5_000, `${calls} calls of functions`)
  stream.end()
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
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

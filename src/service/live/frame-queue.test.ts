import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import { FrameQueue } from './frame-queue.ts'
import type { LiveFrame } from './live-frame.ts'

const first: LiveFrame = { event: 'diff', query: 'a', body: ',"enter":[1]' }
const second: LiveFrame = { event: 'diff', query: 'b', body: ',"enter":[2]' }

describe('frames that are dropped', () => {
  test('are all that wait', async () => {
    const frames = new FrameQueue(new WaitingBytes(1_000), () => {})
    frames.add(first)
    frames.add(second)
    assert.deepEqual(frames.clear(), [first, second])
    assert.deepEqual([frames.isEmpty, frames.bytes], [true, 0])
  })

  test('are not the one that a waiting consumer is about to take', async () => {
    const frames = new FrameQueue(new WaitingBytes(1_000), () => {})
    const taken = frames.take()
    frames.add(first)
    frames.add(second)
    assert.deepEqual(frames.clear(), [second])
    assert.equal(await taken, first)
    assert.deepEqual([frames.isEmpty, frames.bytes], [true, 0])
  })

  test('are not what a waiting consumer takes, although it is more than may wait for all', async () => {
    const frames: FrameQueue = new FrameQueue(new WaitingBytes(10), () => void frames.clear())
    const taken = frames.take()
    frames.add(first)
    assert.equal(await taken, first)
    frames.add(second)
    assert.equal(frames.isEmpty, true)
  })
})

test('operations that are added to a frame are no sign that its client reads', () => {
  const disconnected: string[] = []
  const waiting = new WaitingBytes(1_000)
  const [slow, other] = ['slow', 'other'].map((name) => new FrameQueue(waiting, () => void disconnected.push(name)))
  slow?.add(first)
  other?.add(first)
  slow?.report(['a'])
  other?.add({ ...first, body: ' '.repeat(1_000) })
  assert.deepEqual(disconnected, ['slow', 'other'])
})

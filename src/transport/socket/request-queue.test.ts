import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { RequestQueue } from './request-queue.ts'

function setUp(t: TestContext, concurrency: number) {
  /** A turn of the event loop is used by this time. */
  const clock = { now: 0 }
  t.mock.method(performance, 'now', () => clock.now)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const state = { canStart: true, done: 0 }
  const queue = new RequestQueue({
    concurrency,
    canStart: () => state.canStart,
    onDone: () => state.done++,
  })
  const add = (name: string) =>
    queue.add(() => {
      started.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await turn()
  }
  return { clock, started, state, queue, add, end }
}

test('tasks run with limited concurrency, in order', async (t) => {
  const { started, state, queue, add, end } = setUp(t, 2)
  for (const name of ['a', 'b', 'c', 'd']) add(name)
  assert.deepEqual(started, ['a', 'b'])
  assert.equal(queue.waiting, 2)
  await end('b')
  assert.deepEqual(started, ['a', 'b', 'c'])
  await end('a')
  await end('c')
  assert.equal(queue.isIdle, false)
  await end('d')
  assert.deepEqual(started, ['a', 'b', 'c', 'd'])
  assert.equal(queue.isIdle, true)
  assert.equal(state.done, 4)
})

test('no task starts while canStart is false', async (t) => {
  const { started, state, queue, add, end } = setUp(t, 2)
  add('a')
  state.canStart = false
  add('b')
  await end('a')
  assert.deepEqual(started, ['a'])
  state.canStart = true
  queue.startNext()
  assert.deepEqual(started, ['a', 'b'])
})

test('clear discards the tasks not started yet', async (t) => {
  const { started, queue, add, end } = setUp(t, 1)
  for (const name of ['a', 'b']) add(name)
  queue.clear()
  await end('a')
  assert.deepEqual(started, ['a'])
  assert.equal(queue.isIdle, true)
})

test('tasks that end at once are started in several turns of the event loop, in order', async (t) => {
  const { clock, queue } = setUp(t, 16)
  using counter = new TurnCounter()
  const turns = new Set<number>()
  const started: number[] = []
  const all = Array.from({ length: 40 }, (_, index) => index)
  for (const index of all)
    queue.add(async () => {
      turns.add(counter.turn)
      started.push(index)
      clock.now++
    })
  while (!queue.isIdle) await turn()
  assert.deepEqual(started, all)
  assert.ok(turns.size > 1, 'all of them were started in one turn')
})

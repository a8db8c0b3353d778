import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RequestQueue } from './request-queue.ts'

function setUp(concurrency: number) {
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
  return { started, state, queue, add, end }
}

test('tasks run with limited concurrency, in order', async () => {
  const { started, state, queue, add, end } = setUp(2)
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

test('no task starts while canStart is false', async () => {
  const { started, state, queue, add, end } = setUp(2)
  add('a')
  state.canStart = false
  add('b')
  await end('a')
  assert.deepEqual(started, ['a'])
  state.canStart = true
  queue.startNext()
  assert.deepEqual(started, ['a', 'b'])
})

test('clear discards the tasks not started yet', async () => {
  const { started, queue, add, end } = setUp(1)
  for (const name of ['a', 'b']) add(name)
  queue.clear()
  await end('a')
  assert.deepEqual(started, ['a'])
  assert.equal(queue.isIdle, true)
})

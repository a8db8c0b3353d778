import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Turns } from './turns.ts'

function setUp(atOnce: number) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const state = { ready: true, done: 0 }
  const turns = new Turns({ atOnce, ready: () => state.ready, done: () => state.done++ })
  const add = (name: string) =>
    turns.add(() => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await turn()
  }
  return { begun, state, turns, add, end }
}

test('so much is begun at once, and the rest in order', async () => {
  const { begun, state, turns, add, end } = setUp(2)
  for (const name of ['a', 'b', 'c', 'd']) add(name)
  assert.deepEqual(begun, ['a', 'b'])
  assert.equal(turns.waiting, 2)
  await end('b')
  assert.deepEqual(begun, ['a', 'b', 'c'])
  await end('a')
  await end('c')
  assert.equal(turns.isIdle, false)
  await end('d')
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  assert.equal(turns.isIdle, true)
  assert.equal(state.done, 4)
})

test('nothing is begun until there is room for it', async () => {
  const { begun, state, turns, add, end } = setUp(2)
  add('a')
  state.ready = false
  add('b')
  await end('a')
  assert.deepEqual(begun, ['a'])
  state.ready = true
  turns.next()
  assert.deepEqual(begun, ['a', 'b'])
})

test('what was not begun can be forgotten', async () => {
  const { begun, turns, add, end } = setUp(1)
  for (const name of ['a', 'b']) add(name)
  turns.clear()
  await end('a')
  assert.deepEqual(begun, ['a'])
  assert.equal(turns.isIdle, true)
})

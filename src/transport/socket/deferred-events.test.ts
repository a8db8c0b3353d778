import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeferredEvents } from './deferred-events.ts'

function setUp() {
  const sent: string[] = []
  const deferred = new DeferredEvents<string>()
  const push = (item: string) => void (deferred.defer(item) || sent.push(item))
  const begin = () => deferred.beginRequest((item) => sent.push(item))
  return { sent, deferred, push, begin }
}

test('without a running request, items are sent at once', () => {
  const { sent, push, begin } = setUp()
  begin()()
  push('a')
  assert.deepEqual(sent, ['a'])
})

test('an item that arrives during a request is sent after it, in order', () => {
  const { sent, push, begin } = setUp()
  const end = begin()
  push('a')
  push('b')
  assert.deepEqual(sent, [])
  end()
  push('c')
  assert.deepEqual(sent, ['a', 'b', 'c'])
})

test('an item waits for every request running at its arrival, in whatever order they end', () => {
  const { sent, push, begin } = setUp()
  const ends = [begin(), begin(), begin()]
  push('a')
  ends[1]?.()
  ends[2]?.()
  assert.deepEqual(sent, [])
  ends[0]?.()
  assert.deepEqual(sent, ['a'])
})

test('requests that begin later do not delay an item', () => {
  const { sent, push, begin } = setUp()
  const first = begin()
  push('a')
  const second = begin()
  push('b')
  first()
  assert.deepEqual(sent, ['a'])
  const third = begin()
  second()
  assert.deepEqual(sent, ['a', 'b'])
  third()
  assert.deepEqual(sent, ['a', 'b'])
})

test('after clear, held items are not sent', () => {
  const { sent, deferred, push, begin } = setUp()
  const end = begin()
  push('a')
  deferred.clear()
  end()
  assert.deepEqual(sent, [])
})

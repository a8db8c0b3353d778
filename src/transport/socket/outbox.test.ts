import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Outbox } from './outbox.ts'

function setUp() {
  const sent: string[] = []
  const outbox = new Outbox<string>()
  const tell = (item: string) => void (outbox.holds(item) || sent.push(item))
  const begin = () => outbox.begin((item) => sent.push(item))
  return { sent, outbox, tell, begin }
}

test('with nothing under way, nothing is held', () => {
  const { sent, tell, begin } = setUp()
  begin()()
  tell('a')
  assert.deepEqual(sent, ['a'])
})

test('what comes during a reading follows its end, in order', () => {
  const { sent, tell, begin } = setUp()
  const end = begin()
  tell('a')
  tell('b')
  assert.deepEqual(sent, [])
  end()
  tell('c')
  assert.deepEqual(sent, ['a', 'b', 'c'])
})

test('it waits for every reading that was under way, in whatever order they end', () => {
  const { sent, tell, begin } = setUp()
  const ends = [begin(), begin(), begin()]
  tell('a')
  ends[1]?.()
  ends[2]?.()
  assert.deepEqual(sent, [])
  ends[0]?.()
  assert.deepEqual(sent, ['a'])
})

test('readings that begin later do not hold it back, however many there are', () => {
  const { sent, tell, begin } = setUp()
  const first = begin()
  tell('a')
  const second = begin()
  tell('b')
  first()
  assert.deepEqual(sent, ['a'])
  const third = begin()
  second()
  assert.deepEqual(sent, ['a', 'b'])
  third()
  assert.deepEqual(sent, ['a', 'b'])
})

test('what was let go is not sent', () => {
  const { sent, outbox, tell, begin } = setUp()
  const end = begin()
  tell('a')
  outbox.clear()
  end()
  assert.deepEqual(sent, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitingBytes } from './waiting-bytes.ts'

function open(maxBytes: number) {
  const waiting = new WaitingBytes(maxBytes)
  const disconnected: string[] = []
  const add = (name: string) => waiting.add(() => disconnected.push(name))
  return { waiting, disconnected, add }
}

test('the total is the sum over all clients', () => {
  const { waiting, add } = open(100)
  const [a, b] = [add('a'), add('b')]
  a.set(10)
  b.set(20)
  a.set(5)
  assert.equal(waiting.total, 25)
  b.set(0)
  a.set(0)
  assert.equal(waiting.total, 0)
})

test('past the budget, the client that has read nothing for the longest time is disconnected', () => {
  const { waiting, disconnected, add } = open(100)
  const [a, b, c] = [add('a'), add('b'), add('c')]
  a.set(40)
  b.set(40)
  a.set(30) // a reads
  c.set(40)
  assert.deepEqual(disconnected, ['b'])
  assert.equal(waiting.total, 70)
  b.set(0)
  b.set(90)
  assert.equal(waiting.total, 70)
})

test('as many are disconnected as must be, and at last the one that asks for too much itself', () => {
  const { waiting, disconnected, add } = open(100)
  const [a, b, c] = [add('a'), add('b'), add('c')]
  a.set(40)
  b.set(40)
  c.set(101)
  assert.deepEqual(disconnected, ['a', 'b', 'c'])
  assert.equal(waiting.total, 0)
})

test('a client for which nothing waits is never disconnected', () => {
  const { disconnected, add } = open(100)
  const [a, b] = [add('a'), add('b')]
  a.set(10)
  a.set(0)
  b.set(200)
  assert.deepEqual(disconnected, ['b'])
})

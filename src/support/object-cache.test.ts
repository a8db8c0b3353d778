import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getOrInsertComputed } from './get-or-insert-computed.ts'
import { ObjectCache } from './object-cache.ts'

test('a value belongs to one object and one cache, and is replaced', () => {
  const [first, second] = [new ObjectCache<object, string>(), new ObjectCache<object, string>()]
  const [key, other] = [{ a: 1 }, Object.freeze([1])]
  first.set(key, 'x')
  first.set(other, 'y')
  second.set(key, 'z')
  first.set(key, 'w')
  assert.deepEqual([first.get(key), first.get(other), second.get(key), second.get(other)], ['w', 'y', 'z', undefined])
  assert.equal(
    getOrInsertComputed(first, other, () => assert.fail()),
    'y',
  )
})

test('a value is neither copied with its object nor seen in it', () => {
  const cache = new ObjectCache<object, string>()
  const key = { a: 1 }
  cache.set(key, 'x')
  assert.equal(cache.get({ ...key }), undefined)
  assert.equal(cache.get(structuredClone(key)), undefined)
  assert.deepEqual(Reflect.ownKeys(key), ['a'])
})

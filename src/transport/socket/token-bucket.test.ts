import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBucket } from './token-bucket.ts'

const takeAll = (bucket: TokenBucket, times: number, nowMs: number): string[] =>
  Array.from({ length: times }, () => bucket.take(nowMs))

const counted = (words: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))

test('one bucket is granted, the next is exhausted, more is abuse', () => {
  assert.deepEqual(counted(takeAll(new TokenBucket(10, 0), 22, 0)), { granted: 10, exhausted: 10, abused: 2 })
})

test('the bucket is refilled evenly', () => {
  const bucket = new TokenBucket(10, 0)
  takeAll(bucket, 10, 0)
  assert.equal(bucket.take(99), 'exhausted')
  // Refused requests take tokens too.
  assert.equal(bucket.take(199), 'exhausted')
  assert.equal(bucket.take(400), 'granted')
})

test('the bucket holds the tokens of one second at most', () => {
  assert.deepEqual(counted(takeAll(new TokenBucket(10, 0), 11, 3_600_000)), { granted: 10, exhausted: 1 })
})

test('a client below the rate is never refused', () => {
  const bucket = new TokenBucket(10, 0)
  const words = Array.from({ length: 1000 }, (_, index) => bucket.take(index * 100))
  assert.deepEqual(counted(words), { granted: 1000 })
})

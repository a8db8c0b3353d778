import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdmissionFilter } from './admission-filter.ts'

test('a key is admitted from the second time on', () => {
  const filter = new AdmissionFilter(1)
  assert.deepEqual(
    ['a', 'a', 'a'].map((key) => filter.admits(key)),
    [false, true, true],
  )
})

test('most of as many keys as its size are remembered, and none for ever', () => {
  const filter = new AdmissionFilter(1000)
  const asked = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => filter.admits(`${prefix}${index}`)).filter(Boolean).length
  assert.ok(asked('/pet?age=', 1000) < 10)
  assert.ok(asked('/pet?age=', 1000) > 800)
  assert.ok(asked('/owner?age=', 100_000) < 100)
  assert.ok(asked('/pet?age=', 1000) < 10)
})

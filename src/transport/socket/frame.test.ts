import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textFrame } from './frame.ts'

const cases: readonly [length: number, head: readonly number[]][] = [
  [0, [0x81, 0]],
  [1, [0x81, 1]],
  [125, [0x81, 125]],
  [126, [0x81, 126, 0, 126]],
  [65_535, [0x81, 126, 0xff, 0xff]],
  [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  [1_000_000, [0x81, 127, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x40]],
]
for (const [length, head] of cases) {
  test(`the header of a text of ${length} bytes`, () => {
    const frame = textFrame('x'.repeat(length))
    assert.deepEqual([...frame.subarray(0, head.length)], head)
    assert.equal(frame.subarray(head.length).toString(), 'x'.repeat(length))
  })
}

test('the length counts bytes, not characters', () => {
  const frame = textFrame('é😀'.repeat(21))
  assert.deepEqual([...frame.subarray(0, 4)], [0x81, 126, 0, 126])
  assert.equal(frame.subarray(4).toString(), 'é😀'.repeat(21))
})

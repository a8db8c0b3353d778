import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BodyBuffer } from './body-buffer.ts'

test('the added chunks are returned complete and in order, and are not modified', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      const before = Buffer.concat(chunks)
      const buffer = new BodyBuffer()
      for (const chunk of chunks) buffer.add(chunk)
      assert.equal(buffer.length, before.length)
      assert.deepEqual(Buffer.from(buffer.bytes()), before)
      assert.deepEqual(Buffer.concat(chunks), before)
    }),
  )
})

test('a single chunk is not copied', () => {
  const buffer = new BodyBuffer()
  const chunk = new Uint8Array([1, 2, 3])
  buffer.add(chunk)
  assert.equal(buffer.bytes().buffer, chunk.buffer)
})

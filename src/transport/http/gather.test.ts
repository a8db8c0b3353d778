import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Gathered } from './gather.ts'

test('what was added comes out, in order and whole, and the chunks are left as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      const before = Buffer.concat(chunks)
      const gathered = new Gathered()
      for (const chunk of chunks) gathered.add(chunk)
      assert.equal(gathered.length, before.length)
      assert.deepEqual(Buffer.from(gathered.bytes()), before)
      assert.deepEqual(Buffer.concat(chunks), before)
    }),
  )
})

test('a single chunk is not copied', () => {
  const gathered = new Gathered()
  const chunk = new Uint8Array([1, 2, 3])
  gathered.add(chunk)
  assert.equal(gathered.bytes().buffer, chunk.buffer)
})

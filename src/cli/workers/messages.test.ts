import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectionMessage, receivedWith } from './messages.ts'

for (const [what, byte] of [
  ['text', 0x61],
  ['quotes', 0x22],
  ['control characters', 0x01],
  ['characters beyond ASCII', 0x80],
  ['bytes that are no text', 0xff],
] as const)
  test(`what was read from a connection takes as many bytes to pass on, whatever it is: ${what}`, () => {
    const received = Buffer.alloc(3_000, byte)
    const text = JSON.stringify(connectionMessage('2', received))
    assert.ok(Buffer.byteLength(text) < 4_100, String(Buffer.byteLength(text)))
    assert.deepEqual(receivedWith(JSON.parse(text)), received)
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Message, messagesOf } from './server-sent-events.ts'

const inChunks = (text: string, length: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + length))
      at += length
    },
  })
}

async function read(text: string, chunkLength: number): Promise<readonly Message[]> {
  const messages: Message[] = []
  try {
    for await (const message of messagesOf(inChunks(text, chunkLength), () => {})) messages.push(message)
  } catch {
    // The end is an error.
  }
  return messages
}

const text =
  'retry: 2000\nevent: ready\nid: 1\ndata: {"a":"é\u2028: b"}\n\n:\nid: 2\n\nevent: diff\nid: 3\ndata: {"rows":[]}\n\nevent: no'

for (let length = 1; length < 12; length++)
  test(`messages are the same in chunks of ${length} bytes`, async () => {
    assert.deepEqual(await read(text, length), [
      { event: 'ready', id: '1', data: { a: 'é\u2028: b' } },
      { event: 'diff', id: '3', data: { rows: [] } },
    ])
  })

test('a long message is searched once, whatever the number of its chunks', async (t) => {
  let searched = 0
  const { split } = String.prototype
  t.mock.method(String.prototype, 'split', function (this: string, ...given: Parameters<typeof split>) {
    if (/^\n+$/.test(String(given[0]))) searched += this.length
    return split.apply(this, given)
  })
  const data = JSON.stringify({ rows: 'x'.repeat(1_000_000) })
  assert.equal((await read(`event: rows\nid: 1\ndata: ${data}\n\n`, 1_000)).length, 1)
  assert.ok(searched < 1_100_000, String(searched))
})

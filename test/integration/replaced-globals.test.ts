import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { createService } from '../../src/index.ts'

/** What jsdom does to the globals of a test runner: the bytes of Node are no instances of this class. */
globalThis.Uint8Array = runInNewContext('Uint8Array')

const models = { note: { attributes: { text: { type: 'string' }, bytes: { type: 'binary' } } } } as const

test('bytes are read and written where a test runner has replaced the class Uint8Array', async (t) => {
  const service = await createService({ database: 'sqlite::memory:', models })
  t.after(() => service.close())
  const { url } = await service.listen(0)
  const request = (address: string) =>
    new Request(`${address}/note`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: 'a', bytes: 'AAEC' }),
    })

  for (const response of [await fetch(request(url)), await service.fetch(request('http://localhost'))]) {
    const { text, bytes } = (await response.json()) as Record<string, unknown>
    assert.deepEqual([response.status, text, bytes], [201, 'a', 'AAEC'])
  }
})

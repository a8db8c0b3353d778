import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bundled } from '../support/bundled.ts'

/** What a page loads for an entry point: bundled, minified, compressed. */
async function sizeOf(contents: string): Promise<number> {
  const code = await bundled(contents, { minify: true, external: ['react'] })
  return gzipSync(code, { level: 9 }).length
}

test('the client is at most 8 kB (8192 bytes), minified and compressed, and imports nothing', async (t) => {
  const size = await sizeOf("export * from './client.ts'")
  t.diagnostic(`keelson/client: ${size} bytes minified and compressed`)
  assert.ok(size <= 8_192, `${size} bytes`)
  assert.ok((await sizeOf("export { NotFoundError } from './client.ts'")) < 1_000, 'what is not used is left out')
})

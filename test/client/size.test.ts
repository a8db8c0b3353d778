import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** What a page loads for an entry point: bundled, minified, compressed. */
async function sizeOf(contents: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('../../src/', import.meta.url)), loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['react'],
    write: false,
  })
  return gzipSync(outputFiles[0]?.contents as Uint8Array, { level: 9 }).length
}

test('the client is at most 8 kB (8192 bytes), minified and compressed, and imports nothing', async (t) => {
  const size = await sizeOf("export * from './client.ts'")
  t.diagnostic(`keelson/client: ${size} bytes minified and compressed`)
  assert.ok(size <= 8_192, `${size} bytes`)
  assert.ok((await sizeOf("export { NotFoundError } from './client.ts'")) < 1_000, 'what is not used is left out')
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const program = `
  import { createService } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)}
  const service = await createService({ database: 'memory:', models: { pet: { attributes: { name: { type: 'string' } } } } })
  await service.listen(0, '127.0.0.1')
  console.log(JSON.stringify([...process.moduleLoadList, ...Object.keys(process.getBuiltinModule('node:module')._cache)]))
  await service.close()`

/**
 * An import of `node:http` evaluates each of its exports, among them those of an HTTP client, a WebSocket client and HTTP/2, which is
 * 16 MB in all; `process.getBuiltinModule` does not.
 */
test('a service that listens has loaded neither what Node adds to its HTTP server nor libraries that it may never need', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const loaded = JSON.parse(stdout) as string[]
  assert.ok(loaded.includes('NativeModule http'))
  const rest = ['undici', 'http2', ' tls', ' https', ' zlib', '/re2js/', '/ws/', '/engine.io/', '/jose/']
  assert.deepEqual(
    rest.filter((name) => loaded.some((module) => module.includes(name))),
    [],
  )
})

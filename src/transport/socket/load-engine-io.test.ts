import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RawPolling } from '../../../test/support/raw-polling.ts'
import { startSockets } from '../../../test/support/socket-server.ts'

const { cache, resolve } = createRequire(import.meta.url)
const isLoaded = (name: string): boolean => resolve(name) in cache

test('the library is loaded in several turns of the event loop, and a service that is stopped meanwhile opens no session', async () => {
  await using server = await startSockets()
  await using stopped = await startSockets()
  const opening = [1, 2, 3].map(() => RawPolling.connect(server.url))
  const refused = fetch(`${stopped.url}/socket.io/?EIO=4&transport=polling`)
  while (!['ws', 'accepts', 'engine.io'].some(isLoaded)) await turn()
  assert.equal(isLoaded('engine.io'), false)
  await stopped.sockets.stop()
  assert.equal((await refused).status, 503)
  assert.equal(stopped.sockets.size, 0)
  for (const polling of await Promise.all(opening)) {
    assert.equal((await polling.ask('get', { url: '/pet' })).statusCode, 200)
    await polling[Symbol.asyncDispose]()
  }
})

// A service passes it requests whose bodies it has read, and replaces methods that its types lack: both change between its versions.
test('an installed package has the exact version of the library that the tests run with', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.match(manifest.dependencies['engine.io'], /^\d+\.\d+\.\d+$/)
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { ask, Command, folder, petShop } from '../../../test/support/command.ts'

test('a second signal stops the process while a request is open', async () => {
  const command = new Command(['start', '--port', '0'], { cwd: folder(petShop) })
  const { port } = new URL(await command.url())
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.write('POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{')
  // Answered after the first request has arrived.
  await ask(`http://127.0.0.1:${port}/pet`)
  command.kill('SIGTERM')
  await command.until(/Stopping/)
  command.kill('SIGTERM')
  assert.equal((await command.ended).signal, 'SIGTERM')
  client.destroy()
})

test('a stop ends the process within stopTimeoutMs, also when a request never completes', async () => {
  const limited = petShop['keelson.config.ts'].replace('models:', 'limits: { stopTimeoutMs: 500 },\n  models:')
  const command = new Command(['start', '--port', '0'], { cwd: folder({ ...petShop, 'keelson.config.ts': limited }) })
  const { port } = new URL(await command.url())
  const client = connect(Number(port), '127.0.0.1')
  client.on('error', () => {})
  client.write('POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{')
  await ask(`http://127.0.0.1:${port}/pet`)
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
  client.destroy()
})

test('a stop ends the process within stopTimeoutMs, also while the database does not answer', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const limited = petShop['keelson.config.ts'].replace('models:', 'limits: { stopTimeoutMs: 100 },\n  models:')
  const command = new Command(['start', '--port', '0', '--database', `postgres://u@127.0.0.1:${port}/d`], {
    cwd: folder({ ...petShop, 'keelson.config.ts': limited }),
  })
  await once(silent, 'connection')
  command.kill('SIGTERM')
  assert.equal((await command.ended).signal, 'SIGTERM')
  silent.close()
})

test('an unhandled promise rejection is reported, and the service keeps running', async () => {
  const config = petShop['keelson.config.ts'].replace(
    'models:',
    `actions: { forget: { on: 'service', run: () => void Promise.reject(new Error('no disk')) } },
  models:`,
  )
  const command = new Command(['start', '--port', '0'], { cwd: folder({ ...petShop, 'keelson.config.ts': config }) })
  const url = await command.url()
  assert.equal((await fetch(`${url}/forget`, { method: 'POST' })).status, 204)
  await command.until(/Unhandled promise rejection: no disk/)
  assert.deepEqual(await ask(`${url}/pet`), [])
  command.kill('SIGTERM')
  assert.equal((await command.ended).code, 0)
})

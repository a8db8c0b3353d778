import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { OriginPolicy } from '../origin-policy.ts'
import { NodeRequest } from './node-request.ts'

/** The state of the signal when the connection is closed. */
async function signalAfter(respond: boolean): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer((req, res) => {
    const { signal } = new NodeRequest(new OriginPolicy({}), 'GET', '/', req.headers, res)
    res.on('close', () => resolve(signal.aborted))
    if (respond) res.end('done')
    else sent.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false })
  sent.on('error', () => {})
  sent.end()
  const isAborted = await promise
  server.close()
  return isAborted
}

test('the signal is aborted when the client disconnects before the response', async () => {
  assert.equal(await signalAfter(false), true)
})

test('the signal is not aborted by the end of the response', async () => {
  assert.equal(await signalAfter(true), false)
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { isLost, postgresError } from '../errors.ts'
import { connector } from './connect.ts'

test('a server that accepts connections and does not answer is named', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connect = await connector(`postgres://me@127.0.0.1:${port}/name`, (error) => postgresError(error))
  await assert.rejects(
    connect(),
    (error: Error) => isLost(error) && error.message === `127.0.0.1:${port} does not answer`,
  )
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { close, echo, HttpConnection, limits, start, statusOf, waiting } from '../../../test/support/http-connection.ts'
import type { Limits } from '../../support/limits.ts'

/** A service, and a server that gives it each connection with a request that was read. */
async function startOwner(received: string, service = echo, changed: Partial<Limits> = {}) {
  let give = (_connection: Socket, _received: Buffer): void => {}
  const workers = {
    id: '1',
    send() {},
    receive(listener: typeof give) {
      give = listener
    },
  }
  const server = await start(service, { workers, limits: { ...limits, ...changed } })
  const other = createServer((socket) => give(socket, Buffer.from(received)))
  await once(other.listen(0, '127.0.0.1'), 'listening')
  const { port } = other.address() as AddressInfo
  return {
    server,
    connect: () => new HttpConnection(port),
    async [Symbol.asyncDispose]() {
      other.close()
      await server.stop()
    },
  }
}

const request = 'GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n'

describe('a connection of another worker', () => {
  test('is served with the requests that follow', async () => {
    await using owner = await startOwner(request)
    const client = owner.connect()
    await client.until(/"path":"\/1"/)
    client.write('GET /2 HTTP/1.1', 'Host: localhost', close, '', '')
    assert.match(await client.all(), /"path":"\/1"[\s\S]*"path":"\/2"/)
  })

  test('gets the response to a request in progress before the server has stopped', async () => {
    const { service, asked, answer } = waiting()
    await using owner = await startOwner(request, service)
    const client = owner.connect()
    while (asked.length === 0) await turn()
    let isStopped = false
    const stopped = owner.server.stop().then(() => {
      isStopped = true
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    assert.equal(isStopped, false)
    answer(0)
    assert.match(await client.all(), /\r\nConnection: close\r\n[\s\S]*"path":"\/1"/)
    await stopped
  })

  test('counts in maxConnections', async () => {
    await using owner = await startOwner(request, echo, { maxConnections: 1 })
    const first = owner.connect()
    await first.until(/"path":"\/1"/)
    assert.equal(await owner.connect().all(), '')
    first.socket.destroy()
    await first.closed
    for (let status: number | undefined; status !== 200; ) {
      const next = owner.connect()
      const answered = await Promise.race([next.until(/"path":"\/1"/).catch(() => ''), next.closed])
      status = answered ? statusOf(answered) : undefined
      next.socket.destroy()
    }
  })
})

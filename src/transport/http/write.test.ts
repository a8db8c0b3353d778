import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { EncodedJson } from '../../protocol/json.ts'
import { defaultLimits, type Limits } from '../../support/limits.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'
import { textSlices } from '../text-slices.ts'
import { fetchHandler } from './fetch.ts'
import { listen } from './listen.ts'

const large = JSON.stringify('é😀'.repeat(3_000_000))

async function serve(limits: Partial<Limits> = {}) {
  const waiting = new WaitingBytes(limits.maxWaitingBytes ?? defaultLimits.maxWaitingBytes)
  const all = { ...defaultLimits, ...limits }
  const service = { handle: () => ({ status: 200, headers: {}, body: new EncodedJson(large) }) }
  const server = await listen(service, { port: 0, limits: all, waiting })
  return { ...server, waiting }
}

/** A client that sends a request and reads nothing. */
async function stalledClient(port: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'connect')
  return socket
}

/** Resolves when the server has closed the connection; what arrived before is discarded. */
async function closedByServer(socket: ReturnType<typeof connect>): Promise<void> {
  socket.resume()
  if (!socket.closed) await once(socket, 'close')
}

describe('a large response', () => {
  test('arrives whole, with its length', async () => {
    await using server = await serve()
    const response = await new Promise<IncomingMessage>((resolve) => httpRequest(server.url, resolve).end())
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    assert.equal(response.headers['content-length'], String(Buffer.byteLength(large)))
    assert.ok(text === large)
    assert.equal(server.waiting.total, 0)
  })

  test('arrives whole over fetch', async () => {
    const service = { handle: () => ({ status: 200, headers: {}, body: new EncodedJson(large) }) }
    const response = await fetchHandler(service, defaultLimits)(new Request('http://localhost/'))
    assert.ok((await response.text()) === large)
  })

  test('is counted while its client reads nothing, and the client is disconnected in time', async () => {
    await using server = await serve({ streamIdleTimeoutMs: 200 })
    const socket = await stalledClient(server.port)
    while (server.waiting.total === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.ok(server.waiting.total <= large.length * 2)
    while (server.waiting.total > 0) await new Promise((resolve) => setTimeout(resolve, 20))
    await closedByServer(socket)
  })

  test('disconnects the clients that read nothing for the longest time when too much waits', async () => {
    await using server = await serve({ maxWaitingBytes: large.length * 2.5 })
    const sockets = []
    for (let count = 0; count < 4; count++) {
      sockets.push(await stalledClient(server.port))
      const expected = Math.min(count + 1, 2) * (large.length * 0.5)
      while (server.waiting.total < expected) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await closedByServer(sockets[0] as ReturnType<typeof connect>)
    await closedByServer(sockets[1] as ReturnType<typeof connect>)
    assert.ok(server.waiting.total > 0)
    for (const socket of sockets) socket.destroy()
  })
})

test('a text is sliced between characters', () => {
  const text = `x${'😀'.repeat(100_000)}`
  const slices = [...textSlices(text)]
  assert.ok(slices.length > 2)
  assert.ok(slices.map((slice) => Buffer.from(slice).toString()).join('') === text)
})

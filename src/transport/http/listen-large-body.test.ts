import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import {
  HttpConnection,
  problemOf,
  recording,
  sent,
  start,
  statusesOf,
  statusOf,
} from '../../../test/support/http-connection.ts'

describe('a body larger than maxBodyBytes', () => {
  const headers = ['POST / HTTP/1.1', 'Host: localhost']

  test('is refused by its declared length, before it is sent', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write(...headers, 'Content-Length: 1001', '', '')
    const answer = await client.until(/maxBodyBytes/)
    assert.equal(problemOf(answer).code, 'E_BODY_TOO_LARGE')
    client.socket.destroy()
  })

  test('is refused without 100-continue', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write(...headers, 'Expect: 100-continue', 'Content-Length: 1001', '', '')
    assert.deepEqual(statusesOf(await client.until(/maxBodyBytes/)), [413])
    client.socket.destroy()
  })

  test('is refused while its chunks arrive', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.write(...headers, 'Transfer-Encoding: chunked', '', `400\r\n${'x'.repeat(1024)}\r\n`)
    assert.equal(problemOf(await client.until(/maxBodyBytes/)).status, 413)
    client.socket.destroy()
  })

  for (const [method, answer] of [
    ['GET', /maxBodyBytes/],
    ['HEAD', /\r\n\r\n$/],
  ] as const) {
    test(`is refused on ${method}, which uses no body`, async () => {
      await using server = await start()
      const client = new HttpConnection(server.port)
      client.write(`${method} / HTTP/1.1`, 'Host: localhost', 'Content-Length: 1001', '', '')
      assert.equal(statusOf(await client.until(answer)), 413)
      client.socket.destroy()
    })
  }

  test('is refused so that a client that sends all of it first receives the response', async () => {
    await using server = await start()
    const size = 20_000_000
    for (let round = 0; round < 5; round++) {
      const client = new HttpConnection(server.port)
      client.socket.pause()
      client.write(...headers, `Content-Length: ${size}`, '', '')
      const piece = Buffer.alloc(1_000_000, 'x')
      for (let at = 0; at < size; at += piece.length) {
        if (!client.socket.write(piece)) await once(client.socket, 'drain')
      }
      client.socket.resume()
      assert.equal(problemOf(await client.all()).status, 413)
    }
  })

  test('closes the connection: later data is not read as a request', async () => {
    const asked: string[] = []
    await using server = await start(recording(asked))
    const answer = await sent(
      server,
      ...headers,
      'Content-Length: 1001',
      '',
      `${'x'.repeat(1001)}GET /next HTTP/1.1`,
      'Host: localhost',
      '',
      '',
    )
    assert.deepEqual(statusesOf(answer), [413])
    assert.deepEqual(asked, [])
  })
})

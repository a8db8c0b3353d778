import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Server } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import {
  close,
  echo,
  HttpConnection,
  limits,
  problemOf,
  recording,
  sent,
  start,
  statusesOf,
  statusOf,
  waiting,
} from '../../../test/support/http-connection.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { Service } from '../../protocol/request.ts'

describe('invalid HTTP is answered and the connection closed', () => {
  const get = ['GET / HTTP/1.1', 'Host: localhost']
  const post = ['POST / HTTP/1.1', 'Host: localhost']
  const chunked = 'Transfer-Encoding: chunked'
  const smuggled = ['', '0', '', 'GET /smuggled HTTP/1.1', '', '']
  const cases: readonly (readonly [name: string, status: number, ...lines: string[]])[] = [
    ['garbage', 400, 'what is this', '', ''],
    ['a TLS greeting', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a space before the colon', 400, ...get, 'A : b', '', ''],
    ['a folded header', 400, ...get, 'A: b', ' c', '', ''],
    ['a NUL in a header', 400, ...get, 'A: b\0c', '', ''],
    ['a bare CR in a header', 400, ...get, 'A: b\rC: d', '', ''],
    ['two lengths', 400, ...post, 'Content-Length: 2', 'Content-Length: 3', '', '{}'],
    ['a length that is none', 400, ...post, 'Content-Length: 2x', '', '{}'],
    ['a negative length', 400, ...post, 'Content-Length: -1', '', '{}'],
    ['a length and chunks', 400, ...post, 'Content-Length: 4', chunked, ...smuggled],
    ['chunks and a length', 400, ...post, chunked, 'Content-Length: 4', ...smuggled],
    ['chunks under another name', 400, ...post, 'Transfer-Encoding: xchunked', '', '0', '', ''],
    ['chunks that are not last', 400, ...post, `${chunked}, identity`, '', '0', '', ''],
    ['a chunk without a size', 400, ...post, chunked, '', 'zz', '{}', ''],
    ['headers past 16 kB', 431, ...get, `A: ${'a'.repeat(40_000)}`, '', ''],
    ['a URL past all of it', 431, `GET /pet?where=${'a'.repeat(40_000)} HTTP/1.1`, 'Host: localhost', '', ''],
    ['many headers', 431, ...get, ...Array.from({ length: 4000 }, (_, i) => `A${i}: ${i}`), '', ''],
  ]
  for (const [name, status, ...lines] of cases) {
    test(name, async () => {
      const asked: string[] = []
      await using server = await start(recording(asked))
      const answer = await sent(server, ...lines)
      assert.deepEqual(statusesOf(answer), [status])
      const problem = problemOf(answer)
      assert.equal(problem.status, status)
      assert.equal(problem.code, 'E_BAD_REQUEST')
      if (status === 431) assert.match(problem.detail, /maxUrlBytes/)
      assert.ok(!asked.includes('/smuggled'))
    })
  }

  const codings: readonly (readonly [name: string, status: number, version: string, coding: string])[] = [
    ['a compressed body in chunks', 501, '1.1', 'gzip, chunked'],
    ['chunks in HTTP 1.0', 400, '1.0', 'chunked'],
  ]
  for (const [name, status, version, coding] of codings)
    for (const path of ['/', '/socket.io/']) {
      test(`${name}, ${path}`, async () => {
        const asked: string[] = []
        const intercept = { path: '/socket.io/', request: () => assert.fail('it was intercepted') }
        await using server = await start(recording(asked), { intercept })
        const answer = await sent(
          server,
          `POST ${path} HTTP/${version}`,
          'Host: localhost',
          'Connection: keep-alive',
          `Transfer-Encoding: ${coding}`,
          ...smuggled,
        )
        assert.deepEqual(statusesOf(answer), [status])
        assert.equal(problemOf(answer).code, status === 501 ? 'E_NOT_IMPLEMENTED' : 'E_BAD_REQUEST')
        assert.deepEqual(asked, [])
      })
    }

  test('chunks in capital letters are read', async () => {
    await using server = await start()
    const answer = await sent(server, ...post, close, 'Transfer-Encoding: Chunked', '', '2', '{}', '0', '', '')
    assert.match(answer, /^HTTP\/1\.1 200 .*"body":\{\}/s)
  })

  test('a request without Host', async () => {
    await using server = await start()
    assert.equal(statusOf(await sent(server, 'GET /pet HTTP/1.1', '', '')), 400)
  })
})

test('invalid requests of many connections are read and refused in several turns', async (t) => {
  const count = 40
  using counter = new TurnCounter()
  const read: number[] = []
  const { emit } = Server.prototype
  t.mock.method(Server.prototype, 'emit', function (this: Server, name: string, ...args: unknown[]) {
    if (name === 'clientError') {
      read.push(counter.turn)
      blockEventLoop(2)
    }
    return Reflect.apply(emit, this, [name, ...args])
  })
  await using server = await start(echo)
  const clients = Array.from({ length: count }, () => new HttpConnection(server.port))
  await Promise.all(clients.map(({ socket }) => once(socket, 'connect')))
  for (let turns = 0; turns < 2 * count; turns++) await nextTurn() // one is accepted in each
  for (const client of clients) client.write('GET / HTTP/1.1', 'Host: localhost', 'Content-Length: x', '', '')
  for (const client of clients) assert.match(await client.all(), /^HTTP\/1.1 400 /)
  assert.equal(read.length, count)
  const most = Math.max(...read.map((turn) => read.filter((other) => other === turn).length))
  assert.ok(most <= 8, `read in the turns ${read}`)
})

describe('misbehaving clients', () => {
  test('half a body and then silence gets 408', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100, requestTimeoutMs: 200 } })
    const answer = await sent(server, 'POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 10', '', '{')
    assert.equal(problemOf(answer).status, 408)
  })

  test('a connection on which nothing is sent is closed', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100 } })
    assert.match(await new HttpConnection(server.port).all(), /^HTTP\/1.1 408 /)
  })

  test('half of the headers and then silence gets 408', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100 } })
    assert.equal(problemOf(await sent(server, 'GET / HTTP/1.1', 'Host')).status, 408)
  })

  test('half a body and then a disconnect: the service is not called, and others are served', async () => {
    const { service, asked } = waiting()
    await using server = await start(service)
    const client = new HttpConnection(server.port)
    client.socket.end('POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{')
    await client.all()
    const reset = new HttpConnection(server.port)
    reset.write('POST /half HTTP/1.1', 'Host: localhost', 'Content-Length: 10', '', '{')
    await sleep(20)
    reset.socket.resetAndDestroy()
    await sleep(20)
    assert.deepEqual(asked, [])
  })

  for (const [what, part] of [
    ['a request line', 'GET /1 HT'],
    ['headers', 'GET /1 HTTP/1.1\r\nHost: local'],
    ['a body', 'POST /1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{'],
  ] as const) {
    test(`clients that leave in the middle of ${what} get no refusal, and every connection is closed`, async () => {
      await using server = await start()
      const clients = Array.from({ length: 50 }, () => new HttpConnection(server.port))
      for (const client of clients) client.socket.write(part)
      await sleep(50)
      for (const client of clients) client.socket.end()
      for (const client of clients) assert.equal(await client.all(), '')
    })
  }

  test('a client that leaves in the middle of its second request gets the response to its first', async () => {
    const { service, asked, answer } = waiting()
    await using server = await start(service)
    const client = new HttpConnection(server.port)
    client.socket.end('GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /2 HT')
    while (asked.length < 1) await sleep(1)
    await sleep(20)
    answer(0)
    assert.deepEqual(statusesOf(await client.all()), [200])
  })

  test('a disconnect before the response, which is discarded', async () => {
    const reported: unknown[] = []
    const { service, asked, answer } = waiting()
    await using server = await start(service, { onError: (error) => reported.push(error) })
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    while (asked.length < 1) await sleep(1)
    client.socket.resetAndDestroy()
    await sleep(20)
    answer(0)
    await sleep(20)
    assert.deepEqual(reported, [])
  })

  test('invalid data after a request does not replace its pending response', async () => {
    const { service, asked, answer } = waiting()
    await using server = await start(service)
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', 'garbage', '', '')
    while (asked.length < 1) await sleep(1)
    for (let piece = 0; piece < 20; piece++) {
      client.write('garbage')
      await sleep(1)
    }
    answer(0)
    const received = await client.all()
    assert.deepEqual(statusesOf(received), [200])
    assert.match(received, /"path":"\/1"/)
  })

  const get = ['GET /2 HTTP/1.1', 'Host: localhost']
  const chunked = ['POST /2 HTTP/1.1', 'Host: localhost', 'Transfer-Encoding: chunked', '']
  for (const [what, sent, statuses] of [
    ['invalid data', [...get, '', 'garbage', '', ''], [200, 200]],
    ['a request behind the last one', [...get, 'Connection: close', '', ...get, '', ''], [200, 200]],
    ['an invalid body', [...chunked, 'garbage', '', ''], [200, 400]],
  ] as const) {
    test(`${what} after a request that waits for a write does not replace the response to either`, {
      timeout: 5_000,
    }, async () => {
      const { service, asked, answer } = waiting()
      await using server = await start(service)
      const client = new HttpConnection(server.port)
      client.write('POST /1 HTTP/1.1', 'Host: localhost', 'Content-Length: 0', '', ...sent)
      for (const index of statuses.keys()) {
        if (statuses[index] !== 200) break
        while (asked.length <= index && !client.socket.readableEnded) await sleep(1)
        await sleep(5)
        answer(index)
      }
      assert.deepEqual(statusesOf(await client.all()), statuses)
    })
  }

  test('invalid data after a refused body does not replace its response', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    client.socket.pause()
    client.write(
      'POST / HTTP/1.1',
      'Host: localhost',
      'Transfer-Encoding: chunked',
      '',
      `400\r\n${'x'.repeat(1024)}\r\n`,
    )
    await sleep(20)
    for (let piece = 0; piece < 20; piece++) client.write('garbage '.repeat(10_000))
    client.socket.resume()
    assert.deepEqual(statusesOf(await client.all()), [413])
  })

  test('endless invalid data is answered once and the connection closed', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
    const flood = setInterval(() => client.write('garbage '.repeat(1000)), 1)
    assert.deepEqual(statusesOf(await client.until(/E_BAD_REQUEST/)), [400])
    await client.closed
    clearInterval(flood)
    assert.deepEqual(statusesOf(client.received), [400])
  })

  test('a client that sends much invalid data before it reads receives the response', async () => {
    await using server = await start()
    for (let round = 0; round < 5; round++) {
      const client = new HttpConnection(server.port)
      client.socket.pause()
      for (let piece = 0; piece < 10; piece++) {
        if (!client.socket.write('garbage '.repeat(100_000))) await once(client.socket, 'drain')
      }
      client.socket.end()
      client.socket.resume()
      assert.equal(problemOf(await client.all()).status, 400)
    }
  })

  test('connections past maxConnections are closed at once', async () => {
    await using server = await start(echo, { limits: { ...limits, maxConnections: 1 } })
    const first = new HttpConnection(server.port)
    first.write('GET / HTTP/1.1', 'Host: localhost', '', '')
    await first.until(/none/)
    assert.equal(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', '', ''), '')
    first.socket.destroy()
  })

  test('header values cannot split a response', async () => {
    const reported: unknown[] = []
    const evil: Service = { handle: () => ({ status: 200, headers: { 'X-A': 'b\r\n\r\nHTTP/1.1 200 OK' }, body: {} }) }
    await using server = await start(evil, { onError: (error) => reported.push(error) })
    assert.deepEqual(statusesOf(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', close, '', '')), [500])
    assert.equal(reported.length, 1)
  })
})

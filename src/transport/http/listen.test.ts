import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EncodedJson } from '../../protocol/json.ts'
import type { Service, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { defaultLimits, type Limits } from '../../support/limits.ts'
import { type HttpServer, type ListenOptions, listen } from './listen.ts'

const answerTo = ({ method, path, body }: ServiceRequest): ServiceResponse => ({
  status: 200,
  headers: {},
  body: { method, path, body: body ?? 'none' },
})
const echo: Service = { handle: answerTo }

/** A service that responds when the test says so. */
function waiting() {
  const asked: string[] = []
  const answers: (() => void)[] = []
  const service: Service = {
    handle(request) {
      asked.push(request.path)
      return new Promise((resolve) => answers.push(() => resolve(answerTo(request))))
    },
  }
  return { service, asked, answer: (index: number) => answers[index]?.() }
}

/** Records its requests. */
const noting = (asked: string[]): Service => ({
  handle(request) {
    asked.push(request.path)
    return answerTo(request)
  },
})

const limits: Limits = { ...defaultLimits, maxBodyBytes: 1000, stopTimeoutMs: 5_000 }
const start = (service: Service = echo, options: Partial<ListenOptions> = {}): Promise<HttpServer> =>
  listen(service, { port: 0, limits, ...options })

class Client {
  readonly socket: Socket
  readonly closed: Promise<void>
  heard = ''

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    this.socket.on('data', (chunk) => {
      this.heard += chunk.toString()
    })
    // A reset is one way of closing a connection.
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()))
  }

  write(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  /** The text received until `pattern` matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.heard)) {
      if (this.socket.readableEnded || this.socket.destroyed) assert.fail(`closed after: ${this.heard}`)
      await Promise.race([this.#next('data'), this.#next('end'), this.closed])
    }
    return this.heard
  }

  /** The text received until the server closes. */
  async all(): Promise<string> {
    if (!this.socket.readableEnded && !this.socket.destroyed) {
      await Promise.race([this.#next('end'), this.closed])
    }
    this.socket.destroy()
    return this.heard
  }

  #next(event: string): Promise<void> {
    return new Promise((resolve) => this.socket.once(event, () => resolve()))
  }
}

/** Sends bytes, ends, and returns the response. */
async function sent(server: HttpServer, ...lines: readonly string[]): Promise<string> {
  const client = new Client(server.port)
  client.write(...lines)
  return client.all()
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
const statusesOf = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

function problemOf(answer: string): { readonly status: number; readonly code: string } {
  assert.match(answer, /\r\nContent-Type: application\/problem\+json; charset=utf-8\r\n/)
  assert.match(answer, /\r\nConnection: close\r\n/)
  assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/)
  const [, body] = answer.split('\r\n\r\n') as [string, string]
  assert.equal(Number(/Content-Length: (\d+)/.exec(answer)?.[1]), Buffer.byteLength(body))
  return JSON.parse(body)
}

const close = 'Connection: close'

describe('invalid HTTP is answered and the connection closed', () => {
  const cases: readonly [name: string, status: number, ...lines: string[]][] = [
    ['garbage', 400, 'what is this', '', ''],
    ['a TLS greeting', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a space before the colon', 400, 'GET / HTTP/1.1', 'Host: localhost', 'A : b', '', ''],
    ['a folded header', 400, 'GET / HTTP/1.1', 'Host: localhost', 'A: b', ' c', '', ''],
    ['a NUL in a header', 400, 'GET / HTTP/1.1', 'Host: localhost', 'A: b\0c', '', ''],
    ['a bare CR in a header', 400, 'GET / HTTP/1.1', 'Host: localhost', 'A: b\rC: d', '', ''],
    ['two lengths', 400, 'POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 2', 'Content-Length: 3', '', '{}'],
    ['a length that is none', 400, 'POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 2x', '', '{}'],
    ['a negative length', 400, 'POST / HTTP/1.1', 'Host: localhost', 'Content-Length: -1', '', '{}'],
    [
      'a length and chunks',
      400,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      'GET /smuggled HTTP/1.1',
      '',
      '',
    ],
    [
      'chunks and a length',
      400,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Transfer-Encoding: chunked',
      'Content-Length: 4',
      '',
      '0',
      '',
      'GET /smuggled HTTP/1.1',
      '',
      '',
    ],
    [
      'chunks under another name',
      400,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Transfer-Encoding: xchunked',
      '',
      '0',
      '',
      '',
    ],
    [
      'chunks that are not last',
      400,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Transfer-Encoding: chunked, identity',
      '',
      '0',
      '',
      '',
    ],
    [
      'a chunk without a size',
      400,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Transfer-Encoding: chunked',
      '',
      'zz',
      '{}',
      '',
    ],
    ['headers past 16 kB', 431, 'GET / HTTP/1.1', 'Host: localhost', `A: ${'a'.repeat(40_000)}`, '', ''],
    [
      'many headers',
      431,
      'GET / HTTP/1.1',
      'Host: localhost',
      ...Array.from({ length: 4000 }, (_, i) => `A${i}: ${i}`),
      '',
      '',
    ],
  ]
  for (const [name, status, ...lines] of cases) {
    test(name, async () => {
      const asked: string[] = []
      await using server = await start(noting(asked))
      const answer = await sent(server, ...lines)
      assert.deepEqual(statusesOf(answer), [status])
      const problem = problemOf(answer)
      assert.equal(problem.status, status)
      assert.equal(problem.code, 'E_BAD_REQUEST')
      assert.ok(!asked.includes('/smuggled'))
    })
  }

  test('a request without Host', async () => {
    await using server = await start()
    assert.equal(statusOf(await sent(server, 'GET /pet HTTP/1.1', '', '')), 400)
  })
})

describe('a valid request is served', () => {
  test('with 10 kB of headers', async () => {
    await using server = await start()
    assert.equal(
      statusOf(await sent(server, 'GET /pet HTTP/1.1', 'Host: localhost', close, `A: ${'a'.repeat(10_000)}`, '', '')),
      200,
    )
  })

  test('with a URL up to the limit; a longer one gets 414', async () => {
    await using server = await start()
    const ask = (bytes: number): Promise<string> =>
      sent(server, `GET /${'a'.repeat(bytes - 1)} HTTP/1.1`, 'Host: localhost', close, '', '')
    assert.equal(statusOf(await ask(limits.maxUrlBytes)), 200)
    assert.equal(statusOf(await ask(limits.maxUrlBytes + 1)), 414)
  })

  test('with an absolute URL, as proxies send it', async () => {
    await using server = await start()
    assert.match(
      await sent(server, 'GET http://LOCALHOST/pet?a=1 HTTP/1.1', 'Host: localhost', close, '', ''),
      /"path":"\/pet"/,
    )
    assert.equal(statusOf(await sent(server, 'GET http://y/pet?a=1 HTTP/1.1', 'Host: localhost', close, '', '')), 400)
  })

  test('pipelined, in order', async () => {
    const { service, answer, asked } = waiting()
    await using server = await start(service)
    const client = new Client(server.port)
    const body = '{"n":2}'
    client.write(
      'GET /1 HTTP/1.1',
      'Host: localhost',
      '',
      `POST /2 HTTP/1.1`,
      'Host: localhost',
      `Content-Length: ${body.length}`,
      '',
      `${body}GET /3 HTTP/1.1`,
      'Host: localhost',
      close,
      '',
      '',
    )
    while (asked.length < 3) await sleep(1)
    for (const index of [2, 1, 0]) answer(index)
    const answers = await client.all()
    assert.deepEqual(
      [...answers.matchAll(/"path":"(.*?)"/g)].map(([, path]) => path),
      ['/1', '/2', '/3'],
    )
  })

  test('with a body that arrives byte by byte', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write('POST /pet HTTP/1.1', 'Host: localhost', close, 'Content-Length: 14', '', '')
    for (const byte of '{"name":"Rex"}') {
      client.write(byte)
      await sleep(1)
    }
    assert.match(await client.all(), /"body":\{"name":"Rex"\}/)
  })

  test('with a body in chunks of one byte', async () => {
    await using server = await start()
    const chunks = [...'{"name":"Rex"}'].map((byte) => `1\r\n${byte}\r\n`).join('')
    const headers = ['POST /pet HTTP/1.1', 'Host: localhost', close, 'Transfer-Encoding: chunked']
    assert.match(await sent(server, ...headers, '', `${chunks}0\r\n\r\n`), /"body":\{"name":"Rex"\}/)
  })

  test('with a body on a GET, which is parsed like any body', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'GET /1 HTTP/1.1',
      'Host: localhost',
      'Content-Length: 3',
      '',
      '{ }GET /2 HTTP/1.1',
      'Host: localhost',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [200, 200])
    assert.match(answers, /"path":"\/1","body":\{\}.*"path":"\/2"/s)
  })

  test('on the same connection after a refused body', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'POST / HTTP/1.1',
      'Host: localhost',
      'Content-Length: 1',
      '',
      '{GET /2 HTTP/1.1',
      'Host: localhost',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [400, 200])
  })

  test('that expects 100-continue', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write('POST / HTTP/1.1', 'Host: localhost', close, 'Expect: 100-continue', 'Content-Length: 2', '', '')
    await client.until(/100 Continue\r\n\r\n/)
    client.write('{}')
    assert.deepEqual(statusesOf(await client.all()), [100, 200])
  })
})

describe('a body larger than maxBodyBytes', () => {
  const headers = ['POST / HTTP/1.1', 'Host: localhost']

  test('is refused by its declared length, before it is sent', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...headers, 'Content-Length: 1001', '', '')
    const answer = await client.until(/maxBodyBytes/)
    assert.equal(problemOf(answer).code, 'E_BODY_TOO_LARGE')
    client.socket.destroy()
  })

  test('is refused without 100-continue', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...headers, 'Expect: 100-continue', 'Content-Length: 1001', '', '')
    assert.deepEqual(statusesOf(await client.until(/maxBodyBytes/)), [413])
    client.socket.destroy()
  })

  test('is refused while its chunks arrive', async () => {
    await using server = await start()
    const client = new Client(server.port)
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
      const client = new Client(server.port)
      client.write(`${method} / HTTP/1.1`, 'Host: localhost', 'Content-Length: 1001', '', '')
      assert.equal(statusOf(await client.until(answer)), 413)
      client.socket.destroy()
    })
  }

  test('is refused so that a client that sends all of it first receives the response', async () => {
    await using server = await start()
    const size = 20_000_000
    for (let round = 0; round < 5; round++) {
      const client = new Client(server.port)
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
    await using server = await start(noting(asked))
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

describe('misbehaving clients', () => {
  test('half a body and then silence gets 408', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100, requestTimeoutMs: 200 } })
    const answer = await sent(server, 'POST / HTTP/1.1', 'Host: localhost', 'Content-Length: 10', '', '{')
    assert.equal(problemOf(answer).status, 408)
  })

  test('a connection on which nothing is sent is closed', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100 } })
    assert.match(await new Client(server.port).all(), /^HTTP\/1.1 408 /)
  })

  test('half of the headers and then silence gets 408', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100 } })
    assert.equal(problemOf(await sent(server, 'GET / HTTP/1.1', 'Host')).status, 408)
  })

  test('half a body and then a disconnect: the service is not called, and others are served', async () => {
    const { service, asked } = waiting()
    await using server = await start(service)
    const client = new Client(server.port)
    client.socket.end('POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{')
    await client.all()
    const reset = new Client(server.port)
    reset.write('POST /half HTTP/1.1', 'Host: localhost', 'Content-Length: 10', '', '{')
    await sleep(20)
    reset.socket.resetAndDestroy()
    await sleep(20)
    assert.deepEqual(asked, [])
  })

  test('a disconnect before the response, which is discarded', async () => {
    const reported: unknown[] = []
    const { service, asked, answer } = waiting()
    await using server = await start(service, { onError: (error) => reported.push(error) })
    const client = new Client(server.port)
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
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', 'garbage', '', '')
    while (asked.length < 1) await sleep(1)
    for (let piece = 0; piece < 20; piece++) {
      client.write('garbage')
      await sleep(1)
    }
    answer(0)
    const heard = await client.all()
    assert.deepEqual(statusesOf(heard), [200])
    assert.match(heard, /"path":"\/1"/)
  })

  test('invalid data after a refused body does not replace its response', async () => {
    await using server = await start()
    const client = new Client(server.port)
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
    const client = new Client(server.port)
    const flood = setInterval(() => client.write('garbage '.repeat(1000)), 1)
    assert.deepEqual(statusesOf(await client.until(/E_BAD_REQUEST/)), [400])
    await client.closed
    clearInterval(flood)
    assert.deepEqual(statusesOf(client.heard), [400])
  })

  test('a client that sends much invalid data before it reads receives the response', async () => {
    await using server = await start()
    for (let round = 0; round < 5; round++) {
      const client = new Client(server.port)
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
    const first = new Client(server.port)
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

const webSocket = [
  'GET /socket.io/?EIO=3 HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
]

describe('upgrades', () => {
  test('to WebSocket are refused without a handler', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...webSocket)
    assert.equal(statusOf(await client.until(/E_BAD_REQUEST/)), 400)
    client.socket.destroy()
  })

  test('are passed to the handler', async () => {
    await using server = await start(echo, {
      upgrade(req, socket, head) {
        socket.end(`HTTP/1.1 101 Switching Protocols\r\nX-Url: ${req.url}\r\nX-Head: ${head.length}\r\n\r\n`)
        return true
      },
    })
    const answer = await sent(server, ...webSocket)
    assert.equal(statusOf(answer), 101)
    assert.match(answer, /X-Url: \/socket\.io\/\?EIO=3/)
  })

  test('are refused when the handler returns false', async () => {
    await using server = await start(echo, { upgrade: () => false })
    assert.equal(problemOf(await sent(server, ...webSocket)).status, 400)
    assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', close, '', '')), 200)
  })

  test('whose handler throws are reported, and the server continues', async () => {
    const reported: unknown[] = []
    const failing = new Error('no')
    await using server = await start(echo, {
      onError: (error) => reported.push(error),
      upgrade() {
        throw failing
      },
    })
    assert.equal(await sent(server, ...webSocket), '')
    assert.deepEqual(reported, [failing])
  })

  test('whose connection breaks do not affect others', async () => {
    let broken = (): void => {}
    const breaks = new Promise<void>((resolve) => {
      broken = resolve
    })
    await using server = await start(echo, {
      upgrade(_req, socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        socket.once('close', broken)
        socket.resume()
        return true
      },
    })
    const client = new Client(server.port)
    client.write(...webSocket)
    await client.until(/101/)
    client.socket.resetAndDestroy()
    await breaks
    assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', close, '', '')), 200)
  })

  test('CONNECT is not served', async () => {
    await using server = await start()
    assert.doesNotMatch(await sent(server, 'CONNECT x:1 HTTP/1.1', 'Host: localhost', '', ''), / 200 /)
  })
})

describe('stop', () => {
  const isGone = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(false)
      }).on('error', () => resolve(true))
    })

  test('finishes requests in progress, with Connection: close', async () => {
    const { service, asked, answer } = waiting()
    const server = await start(service)
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    while (asked.length < 1) await sleep(1)
    let stopped = false
    const stopping = server.stop().then(() => {
      stopped = true
    })
    while (!(await isGone(server.port))) await sleep(1)
    assert.equal(stopped, false)
    answer(0)
    assert.match(await client.all(), /200 OK[\s\S]*\r\nConnection: close\r\n[\s\S]*"path":"\/1"/)
    await stopping
  })

  test('answers all requests that a connection has sent in one piece', { timeout: 10_000 }, async () => {
    const { service, asked, answer } = waiting()
    const server = await start(service)
    const client = new Client(server.port)
    const count = 40 // more than are begun before the first is answered
    client.write(
      ...Array.from({ length: count }, (_, index) => [`GET /${index} HTTP/1.1`, 'Host: localhost', '', '']).flat(),
    )
    while (asked.length < 16) await sleep(1)
    const stopping = server.stop()
    for (let index = 0; index < count; index++) {
      while (asked.length <= index) await sleep(1)
      answer(index)
    }
    const text = await client.all()
    assert.equal(text.match(/200 OK/g)?.length, count)
    assert.equal(text.match(/Connection: close/g)?.length, 1)
    await stopping
  })

  test('receives the rest of a body in progress', async () => {
    const server = await start()
    const client = new Client(server.port)
    const expecting = 'Expect: 100-continue'
    client.write('POST /1 HTTP/1.1', 'Host: localhost', 'Content-Length: 2', expecting, '', '{')
    await client.until(/100 Continue/)
    const stopping = server.stop()
    client.write('}')
    assert.match(await client.all(), /\r\nConnection: close\r\n/)
    await stopping
  })

  test('closes idle connections, and those without a request', { timeout: 10_000 }, async () => {
    const server = await start(echo, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const idle = new Client(server.port)
    idle.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await idle.until(/none/)
    const silent = new Client(server.port)
    await once(silent.socket, 'connect')
    // After a request on a later connection the server has accepted the silent one.
    assert.equal(statusOf(await sent(server, 'GET /2 HTTP/1.1', 'Host: localhost', close, '', '')), 200)
    await server.stop()
    await Promise.all([idle.all(), silent.all()])
  })

  test('leaves an upgraded connection to its handler', { timeout: 10_000 }, async () => {
    const taken: Duplex[] = []
    const server = await start(echo, {
      limits: { ...limits, stopTimeoutMs: 600_000 },
      upgrade(_req, socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        taken.push(socket)
        return true
      },
    })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await client.until(/none/)
    client.write(...webSocket)
    await client.until(/101/)
    const stopping = server.stop()
    taken[0]?.end('goodbye')
    assert.match(await client.all(), /goodbye$/)
    await stopping
  })

  test('closes an upgraded connection that its handler never closes', async () => {
    const server = await start(echo, {
      limits: { ...limits, stopTimeoutMs: 50 },
      upgrade(_req, socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        return true
      },
    })
    const client = new Client(server.port)
    client.write(...webSocket)
    await client.until(/101/)
    await server.stop()
    assert.match(await client.all(), /101/)
  })

  test('completes a response that is being sent, and then closes', { timeout: 10_000 }, async () => {
    const size = 20_000_000
    const long: Service = {
      handle: () => ({ status: 200, headers: {}, body: new EncodedJson(`"${'x'.repeat(size)}"`) }),
    }
    const server = await start(long, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await client.until(/xxx/)
    client.socket.pause()
    const stopping = server.stop()
    client.socket.resume()
    assert.ok((await client.all()).length > size)
    await stopping
  })

  test('answers every request that was sent before it, on many busy connections', { timeout: 20_000 }, async () => {
    const server = await start(echo, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    const lost: string[] = []
    let stoppedAt = Number.POSITIVE_INFINITY
    let answered = 0
    const ask = (): Promise<boolean> =>
      new Promise((resolve) => {
        const sentAt = performance.now()
        const request = get({ port: server.port, agent }, (response) => {
          answered++
          response.resume().on('end', () => resolve(true))
        })
        request.on('error', (error) => {
          if (sentAt < stoppedAt)
            lost.push(
              `${error.message} sent ${sentAt - stoppedAt} failed ${performance.now() - stoppedAt} reused ${request.reusedSocket}`,
            )
          resolve(false)
        })
      })
    const client = async () => {
      while (await ask());
    }
    const clients = Array.from({ length: 50 }, client)
    while (answered < 500) await sleep(1)
    stoppedAt = performance.now()
    await server.stop()
    await Promise.all(clients)
    agent.destroy()
    assert.deepEqual(lost, [])
  })

  test('closes connections after stopTimeoutMs', async () => {
    const { service, asked } = waiting()
    const server = await start(service, { limits: { ...limits, stopTimeoutMs: 50 } })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    while (asked.length < 1) await sleep(1)
    await server.stop()
    assert.equal(await client.all(), '')
  })

  test('may be called twice', async () => {
    await using server = await start()
    assert.equal(server.stop(), server.stop())
  })
})

describe('listen', () => {
  test('returns its URL', async () => {
    const hosts: readonly [host: string | undefined, url: RegExp][] = [
      [undefined, /^http:\/\/127\.0\.0\.1:\d+$/],
      ['0.0.0.0', /^http:\/\/localhost:\d+$/],
      ['localhost', /^http:\/\/localhost:\d+$/],
    ]
    for (const [host, url] of hosts) {
      await using server = await start(echo, { host })
      assert.match(server.url, url)
      assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: localhost', close, '', '')), 200)
    }
  })

  test('rejects when the port is in use', async () => {
    await using server = await start()
    await assert.rejects(start(echo, { port: server.port }), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'EADDRINUSE')
      return error.message === `Port ${server.port} on 127.0.0.1 is already in use by another program`
    })
  })

  test('rejects when the address is not local', async () => {
    await assert.rejects(start(echo, { host: '192.0.2.1' }), {
      code: 'EADDRNOTAVAIL',
      message: /not an address of this machine/,
    })
  })
})

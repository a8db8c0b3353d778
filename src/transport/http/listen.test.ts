import assert from 'node:assert/strict'
import { once } from 'node:events'
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

/** A service that answers when it is told to. */
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

/** Notes what it is asked. */
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
    // A connection may be reset: that is one way to be closed.
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()))
  }

  write(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  /** What came until `pattern` was in it. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.heard)) {
      if (this.socket.readableEnded || this.socket.destroyed) assert.fail(`closed after: ${this.heard}`)
      await Promise.race([this.#next('data'), this.#next('end'), this.closed])
    }
    return this.heard
  }

  /** What came until the server closed. */
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

/** Sends bytes as they are, says no more, and gives what came back. */
async function sent(server: HttpServer, ...lines: readonly string[]): Promise<string> {
  const client = new Client(server.port)
  client.write(...lines)
  return client.all()
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
const statusesOf = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

function problemOf(answer: string): { readonly status: number; readonly code: string } {
  assert.match(answer, /\r\nContent-Type: application\/problem\+json\r\n/)
  assert.match(answer, /\r\nConnection: close\r\n/)
  assert.match(answer, /\r\nX-Content-Type-Options: nosniff\r\n/)
  const [, body] = answer.split('\r\n\r\n') as [string, string]
  assert.equal(Number(/Content-Length: (\d+)/.exec(answer)?.[1]), Buffer.byteLength(body))
  return JSON.parse(body)
}

const close = 'Connection: close'

describe('what is no request is answered and the connection closed', () => {
  const cases: readonly [name: string, status: number, ...lines: string[]][] = [
    ['garbage', 400, 'what is this', '', ''],
    ['a TLS greeting', 400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a space before the colon', 400, 'GET / HTTP/1.1', 'Host: x', 'A : b', '', ''],
    ['a folded header', 400, 'GET / HTTP/1.1', 'Host: x', 'A: b', ' c', '', ''],
    ['a NUL in a header', 400, 'GET / HTTP/1.1', 'Host: x', 'A: b\0c', '', ''],
    ['a bare CR in a header', 400, 'GET / HTTP/1.1', 'Host: x', 'A: b\rC: d', '', ''],
    ['two lengths', 400, 'POST / HTTP/1.1', 'Host: x', 'Content-Length: 2', 'Content-Length: 3', '', '{}'],
    ['a length that is none', 400, 'POST / HTTP/1.1', 'Host: x', 'Content-Length: 2x', '', '{}'],
    ['a negative length', 400, 'POST / HTTP/1.1', 'Host: x', 'Content-Length: -1', '', '{}'],
    [
      'a length and chunks',
      400,
      'POST / HTTP/1.1',
      'Host: x',
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
      'Host: x',
      'Transfer-Encoding: chunked',
      'Content-Length: 4',
      '',
      '0',
      '',
      'GET /smuggled HTTP/1.1',
      '',
      '',
    ],
    ['chunks under another name', 400, 'POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: xchunked', '', '0', '', ''],
    [
      'chunks that are not last',
      400,
      'POST / HTTP/1.1',
      'Host: x',
      'Transfer-Encoding: chunked, identity',
      '',
      '0',
      '',
      '',
    ],
    ['a chunk without a size', 400, 'POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', 'zz', '{}', ''],
    ['headers past 16 kB', 431, 'GET / HTTP/1.1', 'Host: x', `A: ${'a'.repeat(40_000)}`, '', ''],
    [
      'many headers',
      431,
      'GET / HTTP/1.1',
      'Host: x',
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

  test('a request without a host', async () => {
    await using server = await start()
    assert.equal(statusOf(await sent(server, 'GET /pet HTTP/1.1', '', '')), 400)
  })
})

describe('what is a request is served', () => {
  test('with 10 kB of headers', async () => {
    await using server = await start()
    assert.equal(
      statusOf(await sent(server, 'GET /pet HTTP/1.1', 'Host: x', close, `A: ${'a'.repeat(10_000)}`, '', '')),
      200,
    )
  })

  test('with an address up to the limit; past it the refusal is about the address', async () => {
    await using server = await start()
    const ask = (bytes: number): Promise<string> =>
      sent(server, `GET /${'a'.repeat(bytes - 1)} HTTP/1.1`, 'Host: x', close, '', '')
    assert.equal(statusOf(await ask(limits.maxUrlBytes)), 200)
    assert.equal(statusOf(await ask(limits.maxUrlBytes + 1)), 414)
  })

  test('with a whole URL, as proxies send it', async () => {
    await using server = await start()
    assert.match(await sent(server, 'GET http://y/pet?a=1 HTTP/1.1', 'Host: x', close, '', ''), /"path":"\/pet"/)
  })

  test('pipelined, in order', async () => {
    const { service, answer, asked } = waiting()
    await using server = await start(service)
    const client = new Client(server.port)
    const body = '{"n":2}'
    client.write(
      'GET /1 HTTP/1.1',
      'Host: x',
      '',
      `POST /2 HTTP/1.1`,
      'Host: x',
      `Content-Length: ${body.length}`,
      '',
      `${body}GET /3 HTTP/1.1`,
      'Host: x',
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

  test('with a body that comes one byte at a time', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write('POST /pet HTTP/1.1', 'Host: x', close, 'Content-Length: 14', '', '')
    for (const byte of '{"name":"Rex"}') {
      client.write(byte)
      await sleep(1)
    }
    assert.match(await client.all(), /"body":\{"name":"Rex"\}/)
  })

  test('with a body in chunks of one byte', async () => {
    await using server = await start()
    const chunks = [...'{"name":"Rex"}'].map((byte) => `1\r\n${byte}\r\n`).join('')
    const headers = ['POST /pet HTTP/1.1', 'Host: x', close, 'Transfer-Encoding: chunked']
    assert.match(await sent(server, ...headers, '', `${chunks}0\r\n\r\n`), /"body":\{"name":"Rex"\}/)
  })

  test('with a body that has no meaning, which is read past', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'GET /1 HTTP/1.1',
      'Host: x',
      'Content-Length: 3',
      '',
      '{{{GET /2 HTTP/1.1',
      'Host: x',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [200, 200])
    assert.match(answers, /"path":"\/1","body":"none".*"path":"\/2"/s)
  })

  test('on the same connection after a refused body', async () => {
    await using server = await start()
    const answers = await sent(
      server,
      'POST / HTTP/1.1',
      'Host: x',
      'Content-Length: 1',
      '',
      '{GET /2 HTTP/1.1',
      'Host: x',
      close,
      '',
      '',
    )
    assert.deepEqual(statusesOf(answers), [400, 200])
  })

  test('that expects to be told to go on', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write('POST / HTTP/1.1', 'Host: x', close, 'Expect: 100-continue', 'Content-Length: 2', '', '')
    await client.until(/100 Continue\r\n\r\n/)
    client.write('{}')
    assert.deepEqual(statusesOf(await client.all()), [100, 200])
  })
})

describe('a body past the limit', () => {
  const headers = ['POST / HTTP/1.1', 'Host: x']

  test('is refused by its declared length, before it is sent', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...headers, 'Content-Length: 1001', '', '')
    const answer = await client.until(/maxBodyBytes/)
    assert.equal(problemOf(answer).code, 'E_BODY_TOO_LARGE')
    client.socket.destroy()
  })

  test('is refused without being asked for', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...headers, 'Expect: 100-continue', 'Content-Length: 1001', '', '')
    assert.deepEqual(statusesOf(await client.until(/maxBodyBytes/)), [413])
    client.socket.destroy()
  })

  test('is refused while it comes in chunks', async () => {
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
    test(`is refused where a body has no meaning, as with ${method}`, async () => {
      await using server = await start()
      const client = new Client(server.port)
      client.write(`${method} / HTTP/1.1`, 'Host: x', 'Content-Length: 1001', '', '')
      assert.equal(statusOf(await client.until(answer)), 413)
      client.socket.destroy()
    })
  }

  test('is refused so that a client that sends all of it before it listens hears the answer', async () => {
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

  test('ends the connection: nothing that follows is a request', async () => {
    const asked: string[] = []
    await using server = await start(noting(asked))
    const answer = await sent(
      server,
      ...headers,
      'Content-Length: 1001',
      '',
      `${'x'.repeat(1001)}GET /next HTTP/1.1`,
      'Host: x',
      '',
      '',
    )
    assert.deepEqual(statusesOf(answer), [413])
    assert.deepEqual(asked, [])
  })
})

describe('clients that do not behave', () => {
  test('half a body and then nothing is dropped in time, with a word about it', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100, requestTimeoutMs: 200 } })
    const answer = await sent(server, 'POST / HTTP/1.1', 'Host: x', 'Content-Length: 10', '', '{')
    assert.equal(problemOf(answer).status, 408)
  })

  test('half of the headers and then nothing, too', async () => {
    await using server = await start(echo, { limits: { ...limits, headersTimeoutMs: 100 } })
    assert.equal(problemOf(await sent(server, 'GET / HTTP/1.1', 'Host')).status, 408)
  })

  test('half a body and then gone: the service is not asked, and others are served', async () => {
    const { service, asked } = waiting()
    await using server = await start(service)
    const client = new Client(server.port)
    client.socket.end('POST /half HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{')
    await client.all()
    const reset = new Client(server.port)
    reset.write('POST /half HTTP/1.1', 'Host: x', 'Content-Length: 10', '', '{')
    await sleep(20)
    reset.socket.resetAndDestroy()
    await sleep(20)
    assert.deepEqual(asked, [])
  })

  test('gone before the answer, which is then nobody’s', async () => {
    const reported: unknown[] = []
    const { service, asked, answer } = waiting()
    await using server = await start(service, { report: (error) => reported.push(error) })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    while (asked.length < 1) await sleep(1)
    client.socket.resetAndDestroy()
    await sleep(20)
    answer(0)
    await sleep(20)
    assert.deepEqual(reported, [])
  })

  test('garbage after a request does not push aside the answer that is owed', async () => {
    const { service, asked, answer } = waiting()
    await using server = await start(service)
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: x', '', 'garbage', '', '')
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

  test('garbage after a refused body does not push aside the answer that is on its way', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.socket.pause()
    client.write('POST / HTTP/1.1', 'Host: x', 'Transfer-Encoding: chunked', '', `400\r\n${'x'.repeat(1024)}\r\n`)
    await sleep(20)
    for (let piece = 0; piece < 20; piece++) client.write('garbage '.repeat(10_000))
    client.socket.resume()
    assert.deepEqual(statusesOf(await client.all()), [413])
  })

  test('garbage without end is answered once and cut off', async () => {
    await using server = await start()
    const client = new Client(server.port)
    const flood = setInterval(() => client.write('garbage '.repeat(1000)), 1)
    assert.deepEqual(statusesOf(await client.until(/E_BAD_REQUEST/)), [400])
    await client.closed
    clearInterval(flood)
    assert.deepEqual(statusesOf(client.heard), [400])
  })

  test('garbage in bulk is answered so that a client that sends all of it before it listens hears it', async () => {
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

  test('connections past the limit are closed at once', async () => {
    await using server = await start(echo, { limits: { ...limits, maxConnections: 1 } })
    const first = new Client(server.port)
    first.write('GET / HTTP/1.1', 'Host: x', '', '')
    await first.until(/none/)
    assert.equal(await sent(server, 'GET / HTTP/1.1', 'Host: x', '', ''), '')
    first.socket.destroy()
  })

  test('what the service answers cannot become a second answer', async () => {
    const reported: unknown[] = []
    const evil: Service = { handle: () => ({ status: 200, headers: { 'X-A': 'b\r\n\r\nHTTP/1.1 200 OK' }, body: {} }) }
    await using server = await start(evil, { report: (error) => reported.push(error) })
    assert.deepEqual(statusesOf(await sent(server, 'GET / HTTP/1.1', 'Host: x', close, '', '')), [500])
    assert.equal(reported.length, 1)
  })
})

const webSocket = [
  'GET /socket.io/?EIO=3 HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
]

describe('upgrades', () => {
  test('to WebSocket are refused where nobody takes them', async () => {
    await using server = await start()
    const client = new Client(server.port)
    client.write(...webSocket)
    assert.equal(statusOf(await client.until(/E_BAD_REQUEST/)), 400)
    client.socket.destroy()
  })

  test('are offered to whoever takes them', async () => {
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

  test('are refused when they are not taken', async () => {
    await using server = await start(echo, { upgrade: () => false })
    assert.equal(problemOf(await sent(server, ...webSocket)).status, 400)
    assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: x', close, '', '')), 200)
  })

  test('that fail are reported, and the server goes on', async () => {
    const reported: unknown[] = []
    const failing = new Error('no')
    await using server = await start(echo, {
      report: (error) => reported.push(error),
      upgrade() {
        throw failing
      },
    })
    assert.equal(await sent(server, ...webSocket), '')
    assert.deepEqual(reported, [failing])
  })

  test('that were taken may break without harm to others', async () => {
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
    assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: x', close, '', '')), 200)
  })

  test('CONNECT is not served', async () => {
    await using server = await start()
    assert.doesNotMatch(await sent(server, 'CONNECT x:1 HTTP/1.1', 'Host: x', '', ''), / 200 /)
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

  test('finishes what is under way, and says that the connection ends', async () => {
    const { service, asked, answer } = waiting()
    const server = await start(service)
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    while (asked.length < 1) await sleep(1)
    let stopped = false
    const stopping = server.stop().then(() => {
      stopped = true
    })
    assert.ok(await isGone(server.port))
    assert.equal(stopped, false)
    answer(0)
    assert.match(await client.all(), /200 OK[\s\S]*\r\nConnection: close\r\n[\s\S]*"path":"\/1"/)
    await stopping
  })

  test('lets a body under way arrive', async () => {
    const server = await start()
    const client = new Client(server.port)
    client.write('POST /1 HTTP/1.1', 'Host: x', 'Content-Length: 2', '', '{')
    await sleep(20)
    const stopping = server.stop()
    client.write('}')
    assert.match(await client.all(), /\r\nConnection: close\r\n/)
    await stopping
  })

  test('closes connections that are idle, and those on which nothing was ever asked', { timeout: 10_000 }, async () => {
    const server = await start(echo, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const idle = new Client(server.port)
    idle.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    await idle.until(/none/)
    const silent = new Client(server.port)
    await once(silent.socket, 'connect')
    // A request on a later connection: by now the server has seen the silent one.
    assert.equal(statusOf(await sent(server, 'GET /2 HTTP/1.1', 'Host: x', close, '', '')), 200)
    await server.stop()
    await Promise.all([idle.all(), silent.all()])
  })

  test('leaves a connection that was taken over to whoever took it', { timeout: 10_000 }, async () => {
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
    client.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    await client.until(/none/)
    client.write(...webSocket)
    await client.until(/101/)
    const stopping = server.stop()
    taken[0]?.end('goodbye')
    assert.match(await client.all(), /goodbye$/)
    await stopping
  })

  test('cuts a connection that was taken over and never let go', async () => {
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

  test('lets an answer that is on its way arrive whole, and then closes', { timeout: 10_000 }, async () => {
    const size = 20_000_000
    const long: Service = {
      handle: () => ({ status: 200, headers: {}, body: new EncodedJson(`"${'x'.repeat(size)}"`) }),
    }
    const server = await start(long, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    await client.until(/xxx/)
    client.socket.pause()
    const stopping = server.stop()
    client.socket.resume()
    assert.ok((await client.all()).length > size)
    await stopping
  })

  test('cuts what takes longer than it may', async () => {
    const { service, asked } = waiting()
    const server = await start(service, { limits: { ...limits, stopTimeoutMs: 50 } })
    const client = new Client(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: x', '', '')
    while (asked.length < 1) await sleep(1)
    await server.stop()
    assert.equal(await client.all(), '')
  })

  test('may be asked for twice', async () => {
    const server = await start()
    assert.equal(server.stop(), server.stop())
    await server.stop()
  })
})

describe('listen', () => {
  test('says where it is found', async () => {
    const hosts: readonly [host: string | undefined, url: RegExp][] = [
      [undefined, /^http:\/\/127\.0\.0\.1:\d+$/],
      ['0.0.0.0', /^http:\/\/localhost:\d+$/],
      ['localhost', /^http:\/\/localhost:\d+$/],
    ]
    for (const [host, url] of hosts) {
      await using server = await start(echo, { host })
      assert.match(server.url, url)
      assert.equal(statusOf(await sent(server, 'GET / HTTP/1.1', 'Host: x', close, '', '')), 200)
    }
  })

  test('says that the port is taken', async () => {
    await using server = await start()
    await assert.rejects(start(echo, { port: server.port }), (error: NodeJS.ErrnoException) => {
      assert.equal(error.code, 'EADDRINUSE')
      return error.message === `Port ${server.port} on 127.0.0.1 is already in use by another program`
    })
  })

  test('says that the address is another’s', async () => {
    await assert.rejects(start(echo, { host: '192.0.2.1' }), {
      code: 'EADDRNOTAVAIL',
      message: /not an address of this machine/,
    })
  })
})

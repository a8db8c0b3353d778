import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import { eventLoopTurn } from '../../src/support/event-loop-turn.ts'
import { anyCharacter } from '../support/any-character.ts'
import { RawPolling } from '../support/raw-polling.ts'
import { RawSocket, refusedUpgrade } from '../support/raw-socket.ts'

/* Hostile requests over sockets. Each is refused or answered as over HTTP, and other clients are served. */

const models = {
  pet: { attributes: { name: { type: 'string' } } },
  secret: { attributes: { text: { type: 'string' } }, access: { read: false, create: false } },
} as const
const reported: unknown[] = []
let service: Service
let server: HttpServer

before(async () => {
  service = (await createService({
    models,
    database: 'memory:',
    onError: (error) => reported.push(error),
  })) as unknown as Service
  server = await service.listen(0)
  await service.system.records.pet?.create({ name: 'Rex' })
})
after(async () => {
  await service.close()
  assert.deepEqual(reported, [])
})

/** Sends one message over each transport and returns the acknowledgements. */
async function overSockets(event: string, ...args: readonly unknown[]): Promise<readonly Acknowledgement[]> {
  await using socket = await RawSocket.connect(server.url)
  await using polling = await RawPolling.connect(server.url)
  return [await socket.ask(event, ...args), (await polling.ask(event, args[0])) as Acknowledgement]
}

interface Acknowledgement {
  readonly statusCode?: number
  readonly code?: string
  readonly body?: { readonly code?: string; readonly limit?: string }
}

async function isServed(): Promise<void> {
  for (const { statusCode } of await overSockets('get', { url: '/pet' })) assert.equal(statusCode, 200)
}

describe('a page of another site cannot open a socket with the cookies of a user:', () => {
  const headers = { Cookie: 'sid=ann', Origin: 'https://evil.example' }
  const query = 'EIO=4&transport='
  test('WebSocket', async () => {
    const { status } = await refusedUpgrade(`${server.url}/socket.io/?${query}websocket`, headers)
    assert.equal(status, 403)
  })
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', `${'http://127.0.0.1'}.evil.example`]) {
    test(`long polling, from ${origin}`, async () => {
      for (const init of [{}, { method: 'POST', body: '40' }, { method: 'OPTIONS' }]) {
        const response = await fetch(`${server.url}/socket.io/?${query}polling`, {
          ...init,
          headers: { ...headers, Origin: origin },
        })
        assert.equal(response.status, 403)
        assert.equal(response.headers.get('access-control-allow-origin'), null)
      }
    })
  }
  test('long polling by a script element, which sends no Origin', async () => {
    const sites = { Cookie: 'sid=ann', 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'script' }
    assert.equal((await fetch(`${server.url}/socket.io/?${query}polling`, { headers: sites })).status, 403)
    // Old browsers do not send Sec-Fetch-Site: the response must not be a script.
    assert.equal((await fetch(`${server.url}/socket.io/?${query}polling&j=0`)).status, 400)
  })
  test('a request of an open session', async () => {
    await using polling = await RawPolling.connect(server.url)
    for (const method of ['GET', 'POST']) {
      const init = { method, headers, ...(method === 'POST' && { body: '42["post",{"url":"/pet"}]' }) }
      assert.equal((await fetch(polling.url, init)).status, 403)
    }
    assert.equal((await polling.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('a message that is not a request is answered with an error:', () => {
  const cases: readonly [name: string, argument: unknown][] = [
    ['no url', {}],
    ['an empty url', { url: '' }],
    ['an object as url', { url: { $ne: null } }],
    ['a list as url', { url: ['/pet'] }],
    ['a string in place of the message', '/pet'],
    ['null in place of the message', null],
  ]
  for (const [name, argument] of cases) {
    test(name, async () => {
      for (const { code } of await overSockets('get', argument)) {
        assert.equal(code, 'SAILS:HOOK:SOCKETS:PARSE_VIRTUAL_REQ')
      }
    })
  }
})

interface Message {
  readonly url: string
  readonly data?: unknown
}

describe('a request has the status of HTTP:', () => {
  const deep = (levels: number, inner: unknown): unknown => (levels === 0 ? inner : { a: deep(levels - 1, inner) })
  const not = (levels: number): object => (levels === 0 ? { name: 'x' } : { not: not(levels - 1) })
  const cases: readonly [name: string, event: string, message: Message][] = [
    ['an absolute URL', 'get', { url: 'http://evil.example/pet' }],
    ['a model named as a property of objects', 'get', { url: '/__proto__' }],
    ['a record named as a property of objects', 'get', { url: '/pet/constructor' }],
    ['an attribute named as a property of objects', 'post', { url: '/pet', data: JSON.parse('{"__proto__":{"a":1}}') }],
    ['an operator in place of a key', 'delete', { url: '/pet', data: { id: { '>': 0 } } }],
    ['a deep body', 'post', { url: '/pet', data: deep(100, 1) }],
    ['a deep condition', 'get', { url: '/pet', data: { where: not(20) } }],
    ['many conditions', 'get', { url: '/pet', data: { where: { or: Array(300).fill({ name: 'x' }) } } }],
    ['a long URL', 'get', { url: `/pet?name=${'x'.repeat(20_000)}` }],
    ['a path with invalid percent encoding', 'get', { url: '/pet/%E0%A4%A' }],
    ['a model that may not be read', 'get', { url: '/secret' }],
    ['a model that may not be written', 'post', { url: '/secret', data: { text: 'x' } }],
  ]
  for (const [name, event, { url, data }] of cases) {
    test(name, async () => {
      const address = server.url + url.replace('http://evil.example', '')
      const where = JSON.stringify((data as { readonly where?: unknown } | undefined)?.where)
      const query = event === 'get' && where !== undefined ? `?${new URLSearchParams({ where })}` : ''
      const response = await fetch(address + query, {
        method: event.toUpperCase(),
        ...(event !== 'get' && { body: JSON.stringify(data), headers: { 'Content-Type': 'application/json' } }),
      })
      const body = (await response.json()) as { code?: string }
      for (const answer of await overSockets(event, { url, data })) {
        assert.equal(answer.statusCode, response.status)
        assert.equal(answer.body?.code, body.code)
      }
    })
  }
})

test('headers of a message do not identify its client', async () => {
  const forged = { cookie: 'sid=ann', host: 'evil.example', 'x-forwarded-for': '10.0.0.1', 'sec-fetch-site': 'none' }
  const long = { 'x-long': 'x'.repeat(15_000) }
  const tooLong = { 'x-long': 'x'.repeat(500_000) }
  for (const [headers, status] of [
    [forged, 403],
    [long, 403],
    [tooLong, 400],
  ] as const) {
    for (const { statusCode } of await overSockets('get', { url: '/secret', headers })) assert.equal(statusCode, status)
  }
})

describe('is bounded by a named limit:', () => {
  const open = async (limits: object, url = 'memory:') => {
    const limited = (await createService({ models, database: url, limits })) as unknown as Service
    return { limited, server: await limited.listen(0), [Symbol.asyncDispose]: () => limited.close() }
  }

  test('the number of sockets', async () => {
    await using opened = await open({ maxSockets: 2 })
    const { url } = opened.server
    await using _first = await RawSocket.connect(url)
    await using _second = await RawPolling.connect(url)
    assert.equal((await refusedUpgrade(`${url}/socket.io/?EIO=4&transport=websocket`)).status, 503)
    assert.equal((await fetch(`${url}/socket.io/?EIO=4&transport=polling`)).status, 503)
  })

  test('the rate of messages', async () => {
    await using opened = await open({ maxMessagesPerSecond: 5 })
    await using socket = await RawSocket.connect(opened.server.url)
    const answers = await Promise.all(Array.from({ length: 9 }, () => socket.ask('get', { url: '/pet' })))
    const refused = answers.find(({ statusCode }) => statusCode === 429)
    assert.equal((refused?.body as { limit?: string } | undefined)?.limit, 'maxMessagesPerSecond')
    for (let count = 0; count < 50; count++) socket.send('42["get",{"url":"/pet"}]')
    await socket.closed
  })

  test('the records that a socket is subscribed to', async () => {
    await using opened = await open({ maxSubscriptions: 3 })
    for (let count = 0; count < 5; count++) await opened.limited.system.records.pet?.create({ name: 'Rex' })
    await using socket = await RawSocket.connect(opened.server.url)
    await socket.ask('get', { url: '/pet?limit=2' })
    socket.send('42["get",{"url":"/pet?limit=5"}]')
    await socket.closed
  })
})

test('reserved names of events have no effect', async () => {
  await using socket = await RawSocket.connect(server.url)
  await using polling = await RawPolling.connect(server.url)
  const names = [
    'connect',
    'disconnect',
    'disconnecting',
    'error',
    'newListener',
    'join',
    'subscribe',
    '__proto__',
    'pet',
  ]
  for (const name of names) {
    socket.send(`421${JSON.stringify([name, { url: '/pet' }])}`)
    await polling.post(`421${JSON.stringify([name, { url: '/pet' }])}`)
  }
  assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  assert.equal((await polling.ask('get', { url: '/pet' }, 2)).statusCode, 200)
  assert.deepEqual(socket.received, [])
})

test('the id of a session cannot be guessed, and is not the id in events and the change log', async () => {
  const clients = await Promise.all(Array.from({ length: 20 }, () => RawPolling.open(server.url)))
  assert.equal(new Set(clients.map(({ sid }) => sid)).size, clients.length)
  const [client] = clients as [RawPolling]
  await client.post('40')
  const { sid: publicId } = JSON.parse((await client.until((packet) => packet.startsWith('40'))).slice(2))
  for (const guess of [publicId, '', '0', '__proto__', `${client.sid}x`, client.sid.slice(0, -1)]) {
    const url = `${server.url}/socket.io/?EIO=4&transport=polling&sid=${guess}`
    assert.equal((await fetch(url, { method: 'POST', body: '42["get",{"url":"/pet"}]' })).status, 400)
    assert.equal((await refusedUpgrade(url.replace('polling', 'websocket'))).status, 400)
  }
  for (const client of clients) await client[Symbol.asyncDispose]()
})

describe('malformed WebSocket frames end only their own connection:', () => {
  const masked = (opcode: number, payload: string, length = payload.length): Buffer =>
    Buffer.concat([Buffer.from([opcode, 0x80 | length, 0, 0, 0, 0]), Buffer.from(payload)])
  const cases: readonly [name: string, bytes: Buffer][] = [
    ['an unknown opcode', masked(0x83, 'x')],
    ['reserved bits', masked(0xf1, 'x')],
    ['a frame without a mask', Buffer.from([0x81, 1, 0x32])],
    ['a length of 2^63', Buffer.from([0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['a continuation without a beginning', masked(0x80, 'x')],
    ['a second beginning within a fragmented message', Buffer.concat([masked(0x01, '42["'), masked(0x01, 'get"]')])],
    ['a fragmented ping', masked(0x09, 'x')],
    ['a ping of 126 bytes', Buffer.concat([Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0]), Buffer.alloc(126)])],
    ['a closing frame of one byte', masked(0x88, 'x')],
    [
      'a closing frame with an invalid code',
      Buffer.concat([Buffer.from([0x88, 0x82, 0, 0, 0, 0]), Buffer.from([0, 1])]),
    ],
    ['random bytes', randomBytes(1_000)],
  ]
  for (const [name, bytes] of cases) {
    test(name, async () => {
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(
        'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n' +
          'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
      )
      await once(socket, 'data')
      socket.resume()
      socket.write(bytes)
      await once(socket, 'close')
      await isServed()
    })
  }
})

test('any payload of long polling is answered, and ends at most its own session', async () => {
  const separator = fc.constantFrom('\x1e', ':', '1:', '10:', '99999999999:', '-1:', 'NaN:', '1e9:')
  const packet = fc.constantFrom(
    '2',
    '3',
    '40',
    '41',
    '42["get",{"url":"/pet"}]',
    '451-[]',
    '4599999999-["x"]',
    'b4AA',
    '6',
  )
  const pieces = fc.oneof(separator, packet, fc.string({ unit: anyCharacter, maxLength: 5 }))
  const payload = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''))
  await fc.assert(
    fc.asyncProperty(payload, fc.constantFrom(3, 4), async (body, version) => {
      const polling = await RawPolling.open(server.url, { version: version as 3 | 4 })
      const { status } = await polling.request({ method: 'POST', body: new TextEncoder().encode(body) })
      assert.ok(status === 200 || status === 400, String(status))
      await polling[Symbol.asyncDispose]()
    }),
    { numRuns: 60 },
  )
  await isServed()
})

describe('a megabyte of small packets does not stop the service:', () => {
  const cases: readonly [name: string, version: 3 | 4, body: string][] = [
    ['empty packets', 4, '\x1e'.repeat(1_000_000)],
    ['pongs', 4, '3\x1e'.repeat(500_000)],
    ['empty packets', 3, '0:'.repeat(500_000)],
    ['pings', 3, '1:2'.repeat(300_000)],
    ['packets of another type', 3, '2:b4'.repeat(250_000)],
    ['one long length', 3, '1'.repeat(1_000_000)],
    ['one long length before a packet', 3, `${'1'.repeat(1_000_000)}:2`],
  ]
  for (const [name, version, body] of cases) {
    test(`Engine.IO ${version}: ${name}`, async () => {
      await using other = await RawSocket.connect(server.url)
      const polling = await RawPolling.open(server.url, { version })
      const response = polling.request({ method: 'POST', body })
      assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
      assert.equal((await response).status, 400)
      await polling[Symbol.asyncDispose]()
    })
  }
})

test('a client that disconnects while its socket waits to be opened, at a server of the application', async () => {
  const own = createServer(service.handler)
  const closed = Promise.withResolvers<void>()
  own.on('upgrade', (req, socket, head) => {
    // As if many had connected at once, so that this one is opened in a later turn.
    while (eventLoopTurn.usedMs < 20);
    service.upgrade(req, socket, head)
    socket.once('close', closed.resolve)
    client.resetAndDestroy()
  })
  await once(own.listen(0, '127.0.0.1'), 'listening')
  const { port } = own.address() as AddressInfo
  const client = connect(port, '127.0.0.1').on('error', () => {})
  client.write(
    [
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      '',
      '',
    ].join('\r\n'),
  )
  await closed.promise
  await using socket = await RawSocket.connect(`http://127.0.0.1:${port}`)
  assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  own.close()
})

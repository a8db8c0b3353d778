import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RawSocket, refusedUpgrade } from '../../../test/raw-socket.ts'
import type { Event, Message, Peer } from '../../protocol/event.ts'
import type { LiveService, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { defaultLimits, type Limits } from '../../support/limits.ts'
import { type SocketOptions, type SocketServer, serveSockets } from './serve-sockets.ts'

type Handle = (request: ServiceRequest) => ServiceResponse | Promise<ServiceResponse>

const echo: Handle = ({ method, path, query, body }) => ({
  status: 200,
  headers: {},
  body: { method, path, query, body: body ?? null },
})

interface Options extends Partial<Omit<SocketOptions, 'limits'>> {
  readonly limits?: Partial<Limits>
  readonly handle?: Handle
  readonly connect?: (peer: Peer) => Disposable
}

/** Sockets on a server of their own, in front of a service that does as a test says. */
async function start({ limits, handle = echo, connect, ...options }: Options = {}) {
  const peers = new Set<Peer>()
  const reported: unknown[] = []
  const service: LiveService = {
    handle,
    connect:
      connect ??
      ((peer) => {
        peers.add(peer)
        return { [Symbol.dispose]: () => void peers.delete(peer) }
      }),
  }
  const sockets = serveSockets(service, {
    report: (error) => reported.push(error),
    ...options,
    limits: { ...defaultLimits, ...limits },
  })
  const server = createServer((_, res) => res.end())
  server.on('upgrade', (req, socket, head) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A client may go as it likes; to write after our own goodbye is a mistake of ours.
      if (error.code === 'ERR_STREAM_WRITE_AFTER_END') reported.push(error)
    })
    if (!sockets.upgrade(req, socket, head))
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    sockets,
    peers,
    reported,
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await sockets.stop()
      assert.deepEqual(reported, [])
    },
  }
}

/** Answers when it is told to. */
function waiting() {
  const asked: string[] = []
  const answers = new Map<string, () => void>()
  const handle: Handle = (request) => {
    asked.push(request.path)
    return new Promise((resolve) => answers.set(request.path, () => resolve(echo(request))))
  }
  return { asked, answer: (path: string) => answers.get(path)?.(), handle }
}

const created = (id: number, text = 'Rex'): Message => {
  const event: Event = { verb: 'created', model: 'pet', id, data: { id, name: text } }
  return { event }
}

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await turn()
}

const empty = (sockets: SocketServer): Promise<void> => until(() => sockets.size === 0)
const onlyPeer = (peers: ReadonlySet<Peer>): Peer => [...peers][0] as Peer

describe('an upgrade is refused', () => {
  const cases: readonly [name: string, path: string, headers: Record<string, string>, status: number, body: object][] =
    [
      ['without a transport', '/socket.io/?EIO=4', {}, 400, { code: 0, message: 'Transport unknown' }],
      ['for polling', '/socket.io/?EIO=4&transport=polling', {}, 400, { code: 0, message: 'Transport unknown' }],
      [
        'for no version',
        '/socket.io/?transport=websocket',
        {},
        400,
        { code: 5, message: 'Unsupported protocol version' },
      ],
      [
        'for version 2',
        '/socket.io/?EIO=2&transport=websocket',
        {},
        400,
        { code: 5, message: 'Unsupported protocol version' },
      ],
      [
        'for a session',
        '/socket.io/?EIO=4&transport=websocket&sid=x',
        {},
        400,
        { code: 1, message: 'Session ID unknown' },
      ],
      [
        'to a page of another site',
        '/socket.io/?EIO=4&transport=websocket',
        { Origin: 'http://evil.example' },
        403,
        { code: 4, message: 'Forbidden' },
      ],
    ]
  for (const [name, path, headers, status, body] of cases) {
    test(name, async () => {
      await using served = await start()
      assert.deepEqual(await refusedUpgrade(served.url + path, headers), { status, body })
      assert.equal(served.sockets.size, 0)
    })
  }

  test('past the number of sockets', async () => {
    await using served = await start({ limits: { maxSockets: 1 } })
    await using _ = await RawSocket.connect(served.url)
    const { status } = await refusedUpgrade(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    assert.equal(status, 503)
  })

  test('when it is no WebSocket', async () => {
    await using served = await start()
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    socket.write(
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 400 /)
    socket.destroy()
    assert.equal(served.sockets.size, 0)
  })

  test('and may go meanwhile without harm', async () => {
    await using served = await start()
    const socket = new PassThrough()
    served.sockets.upgrade({ url: '/socket.io/', headers: {} } as IncomingMessage, socket, Buffer.alloc(0))
    socket.emit('error', new Error('reset'))
    assert.ok(socket.destroyed)
  })

  test('elsewhere, by somebody else', async () => {
    await using served = await start()
    for (const path of ['/', '/socket.iox/?EIO=4&transport=websocket', '/socket.io/x?EIO=4&transport=websocket']) {
      assert.equal((await refusedUpgrade(served.url + path)).status, 404)
    }
  })
})

describe('the third generation', () => {
  test('is served at once', async () => {
    await using served = await start()
    await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=3&transport=websocket`)
    const opening = JSON.parse((await socket.until((frame) => frame.startsWith('0'))).slice(1))
    const { sid, ...rest } = opening
    assert.match(sid, /^[\w-]{20,}$/)
    assert.deepEqual(rest, { upgrades: [], pingInterval: 25_000, pingTimeout: 60_000, maxPayload: 1_048_576 })
    await socket.until((frame) => frame === '40')
    assert.deepEqual(await socket.ask('get', { url: '/pet?a=1', data: { b: 2 } }), {
      body: { method: 'GET', path: '/pet', query: 'a=1', body: { b: 2 } },
      headers: {},
      statusCode: 200,
    })
  })

  test('asks whether we are there', async () => {
    await using served = await start()
    await using socket = await RawSocket.connect(served.url)
    socket.send('2')
    await socket.until((frame) => frame === '3')
    socket.send('2probe')
    await socket.until((frame) => frame === '3probe')
  })

  test('is told that there is no other namespace', async () => {
    await using served = await start()
    await using socket = await RawSocket.connect(served.url)
    socket.send('40/admin?x=1')
    assert.equal(await socket.until((frame) => frame.startsWith('44')), '44/admin,"Invalid namespace"')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('the fourth generation', () => {
  const address = '/socket.io/?EIO=4&transport=websocket'

  test('is served when it has connected', async () => {
    await using served = await start()
    await using socket = await RawSocket.open(served.url + address)
    const { sid } = JSON.parse((await socket.until((frame) => frame.startsWith('0'))).slice(1))
    socket.send('40{"token":1}')
    const connected = await socket.until((frame) => frame.startsWith('40'))
    assert.deepEqual(JSON.parse(connected.slice(2)), { sid })
    socket.send('40')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.deepEqual(socket.heard, [], 'a second connection to the same namespace is the first')
  })

  test('is not served before', async () => {
    await using served = await start()
    await using socket = await RawSocket.open(served.url + address)
    socket.send('420["get",{"url":"/pet"}]')
    assert.equal(await socket.closed, 1002)
  })

  test('is told that there is no other namespace', async () => {
    await using served = await start()
    await using socket = await RawSocket.open(served.url + address)
    socket.send('40/admin,{}')
    assert.equal(await socket.until((frame) => frame.startsWith('44')), '44/admin,{"message":"Invalid namespace"}')
  })
})

test('an address of its own', async () => {
  await using served = await start({ path: 'live/' })
  await using socket = await RawSocket.open(`${served.url}/live?EIO=3&transport=websocket`)
  await socket.until((frame) => frame === '40')
  assert.equal((await refusedUpgrade(`${served.url}/socket.io/?EIO=3&transport=websocket`)).status, 404)
})

describe('a message', () => {
  test('that is no request is complained about, and the socket goes on', async () => {
    await using served = await start()
    await using socket = await RawSocket.connect(served.url)
    const told = await socket.ask('get', {})
    assert.deepEqual(told, {
      code: 'SAILS:HOOK:SOCKETS:PARSE_VIRTUAL_REQ',
      name: 'Error',
      status: 400,
      message: 'Failed to parse incoming socket.io request.',
      details: 'No url provided in request',
    })
    socket.send('42["get",{"url":5}]')
    const event = await socket.until((frame) => frame.startsWith('42'))
    const [name, payload] = JSON.parse(event.slice(2))
    assert.equal(name, 'sails:parseError')
    assert.equal(payload.code, 'SAILS:HOOK:SOCKETS:PARSE_VIRTUAL_REQ')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })

  test('of a name that is no method gets no answer', async () => {
    const asked: string[] = []
    await using served = await start({
      handle(request) {
        asked.push(request.path)
        return echo(request)
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.send('429["nosuch",{"url":"/pet"}]')
    socket.send('428["constructor",{"url":"/pet"}]')
    assert.equal((await socket.ask('get', { url: '/user' })).statusCode, 200)
    assert.deepEqual(asked, ['/user'])
    assert.deepEqual(socket.heard, [])
  })

  test('that nobody waits for is done all the same', async () => {
    const asked: string[] = []
    await using served = await start({
      handle(request) {
        asked.push(request.path)
        return echo(request)
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.send('42["patch",{"url":"/pet/1"}]')
    await socket.ask('get', { url: '/user' })
    assert.deepEqual(asked, ['/pet/1', '/user'])
    assert.deepEqual(socket.heard, [])
  })

  test('has the headers of the connection, and its own', async () => {
    let seen: ServiceRequest | undefined
    await using served = await start({
      handle(request) {
        seen = request
        return echo(request)
      },
    })
    await using socket = await RawSocket.connect(served.url, { Cookie: 'sid=1', 'X-Early': 'yes' })
    await socket.ask('get', { url: '/pet', headers: { 'X-Late': 'yes', Cookie: 'sid=2', Host: 'evil.example' } })
    const { cookie, host, 'x-early': early, 'x-late': late } = seen?.headers ?? {}
    assert.deepEqual([cookie, host, early, late], ['sid=1', new URL(served.url).host, 'yes', 'yes'])
    assert.equal(seen?.peer, onlyPeer(served.peers))
  })
})

describe('what is not the protocol closes the connection, and no other', () => {
  const cases: readonly [name: string, frame: string | Uint8Array, code: number][] = [
    ['an empty frame', '', 1002],
    ['words', 'hello', 1002],
    ['an opening', '0{}', 1002],
    ['a binary event', '451-["get",{"_placeholder":true,"num":0}]', 1002],
    ['an event elsewhere', '42/admin,["get",{}]', 1002],
    ['bytes', new Uint8Array([4, 1, 2]), 1003],
    ['too many bytes', `42["get",{"url":"/${'x'.repeat(2000)}"}]`, 1009],
    ['a goodbye', '41', 1000],
    ['an end', '1', 1000],
  ]
  for (const [name, frame, code] of cases) {
    test(name, async () => {
      await using served = await start({ limits: { maxMessageBytes: 1000 } })
      await using other = await RawSocket.connect(served.url)
      await using socket = await RawSocket.connect(served.url)
      socket.send(frame)
      assert.equal(await socket.closed, code)
      await until(() => served.peers.size === 1)
      assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
    })
  }

  test('what is no WebSocket frame', async () => {
    await using served = await start()
    await using other = await RawSocket.connect(served.url)
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    socket.write(
      'GET /socket.io/?EIO=3&transport=websocket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await once(socket, 'data')
    socket.resume()
    // Not masked, reserved bits, a control frame that is too long: the worst of all in one.
    socket.write(Buffer.from([0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))
    await once(socket, 'end')
    socket.destroy()
    assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
  })

  test('text that is no UTF-8', async () => {
    await using served = await start()
    await using socket = await RawSocket.connect(served.url)
    socket.ws.send(Buffer.from([0x34, 0x32, 0xff, 0xfe]), { binary: false })
    assert.equal(await socket.closed, 1007)
  })
})

describe('what nobody expected', () => {
  test('from the service becomes an answer', async () => {
    const handles: Handle[] = [
      () => {
        throw new Error('at once')
      },
      () => Promise.reject(new Error('later')),
      () => ({ status: 200, headers: {}, body: { deep: 1n as never } }),
    ]
    for (const handle of handles) {
      const reported: unknown[] = []
      await using served = await start({ handle, report: (error) => reported.push(error) })
      await using socket = await RawSocket.connect(served.url)
      const { statusCode, body } = await socket.ask('get', { url: '/pet' })
      assert.equal(statusCode, 500)
      assert.equal(body.code, 'E_INTERNAL')
      assert.equal(reported.length, 1)
    }
  })

  test('when a client connects ends that client', async () => {
    const reported: unknown[] = []
    const broken = () => {
      throw new Error('no room')
    }
    await using served = await start({ connect: broken, report: (error) => reported.push(error) })
    const socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    socket.send('40')
    assert.equal(await socket.closed, 1011)
    assert.equal(reported.length, 1)
    await empty(served.sockets)
  })
})

describe('requests of one socket', () => {
  test('are worked on together, and answered as they are done', async () => {
    const { asked, answer, handle } = waiting()
    await using served = await start({ handle })
    await using socket = await RawSocket.connect(served.url)
    const first = socket.ask('get', { url: '/1' })
    const second = socket.ask('get', { url: '/2' })
    await until(() => asked.length === 2)
    answer('/2')
    assert.equal((await second).body.path, '/2')
    answer('/1')
    assert.equal((await first).body.path, '/1')
  })

  test('wait for their turn past a number, in order', async () => {
    const { asked, answer, handle } = waiting()
    await using served = await start({ handle, limits: { maxRequestsPerSocket: 2 } })
    await using socket = await RawSocket.connect(served.url)
    const asks = [1, 2, 3, 4].map((index) => socket.ask('get', { url: `/${index}` }))
    await until(() => asked.length === 2)
    for (let turns = 0; turns < 20; turns++) await turn()
    assert.deepEqual(asked, ['/1', '/2'])
    for (const path of ['/2', '/1', '/3', '/4']) {
      await until(() => asked.includes(path))
      answer(path)
    }
    await Promise.all(asks)
    assert.deepEqual(asked, ['/1', '/2', '/3', '/4'])
  })

  test('are not even read while too many wait', async () => {
    const { asked, answer, handle } = waiting()
    await using served = await start({ handle, limits: { maxRequestsPerSocket: 2 } })
    await using socket = await RawSocket.connect(served.url)
    const data = { text: 'x'.repeat(500_000) }
    const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
    const asks = paths.map((url) => socket.ask('post', { url, data }))
    await until(() => asked.length === 2)
    for (let turns = 0; turns < 500; turns++) await turn()
    assert.ok(socket.ws.bufferedAmount > 10_000_000, `${socket.ws.bufferedAmount} bytes wait with the client`)
    for (const path of paths) {
      await until(() => asked.includes(path))
      answer(path)
    }
    await Promise.all(asks)
    assert.deepEqual(asked, paths)
  })

  test('do not stand in the way of those of another', async () => {
    const { asked, handle } = waiting()
    await using served = await start({
      handle: (request) => (request.path === '/quick' ? echo(request) : handle(request)),
      limits: { maxRequestsPerSocket: 1 },
    })
    await using slow = await RawSocket.connect(served.url)
    await using quick = await RawSocket.connect(served.url)
    for (let index = 0; index < 5; index++) slow.send(`42["get",{"url":"/${index}"}]`)
    await until(() => asked.length === 1)
    assert.equal((await quick.ask('get', { url: '/quick' })).statusCode, 200)
  })

  test('past a number in a second are refused, and who goes on is sent away for good', async () => {
    const clock = { now: () => 0 }
    await using served = await start({ clock, limits: { maxMessagesPerSecond: 3 } })
    await using other = await RawSocket.connect(served.url)
    await using socket = await RawSocket.connect(served.url)
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((id) => socket.ask('get', { url: `/${id}` })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 200, 429, 429, 429],
    )
    assert.deepEqual(answers[3], {
      body: {
        type: 'about:blank',
        title: 'Too many requests',
        status: 429,
        code: 'E_TOO_MANY_REQUESTS',
        detail: 'A socket may send 3 messages in a second',
        limit: 'maxMessagesPerSecond',
      },
      headers: { 'Retry-After': '1' },
      statusCode: 429,
    })
    socket.send('42["get",{"url":"/7"}]')
    assert.equal(await socket.closed, 1008)
    assert.deepEqual(socket.heard, ['41'])
    assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('an event', () => {
  test('is one frame for all who hear it', async () => {
    await using served = await start()
    await using a = await RawSocket.connect(served.url)
    await using b = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    b.send('40')
    await b.until((frame) => frame.startsWith('40'))
    await until(() => served.peers.size === 2)
    let encoded = 0
    const message = {
      event: {
        verb: 'created' as const,
        model: 'pet',
        id: 1,
        get data() {
          encoded++
          return { id: 1, name: 'Réx' }
        },
      },
    }
    for (const peer of served.peers) assert.equal(peer.send(message), true)
    for (const socket of [a, b]) {
      const frame = await socket.until((frame) => frame.startsWith('42'))
      assert.equal(frame, '42["pet",{"verb":"created","id":1,"data":{"id":1,"name":"Réx"}}]')
    }
    assert.equal(encoded, 1)
  })

  test('that comes while something is read follows what was read', async () => {
    const { asked, answer, handle } = waiting()
    await using served = await start({ handle })
    await using socket = await RawSocket.connect(served.url)
    socket.send('427["get",{"url":"/pet"}]')
    await until(() => asked.length === 1)
    assert.equal(onlyPeer(served.peers).send(created(1)), true)
    await turn()
    answer('/pet')
    await until(() => socket.heard.length === 2)
    assert.match(socket.heard.join(' '), /^437.* 42/)
  })

  test('to one who is gone goes nowhere', async () => {
    await using served = await start()
    const socket = await RawSocket.connect(served.url)
    const peer = onlyPeer(served.peers)
    socket.ws.close()
    await empty(served.sockets)
    assert.equal(peer.send(created(1)), false)
    peer.reset()
    assert.equal(served.peers.size, 0)
  })
})

test('after the goodbye of either side nothing more is said', async () => {
  await using served = await start()
  const socket = await RawSocket.connect(served.url)
  const peer = onlyPeer(served.peers)
  socket.ws.close(1000)
  let isHeard = true
  while (served.sockets.size > 0) {
    const isTold = peer.send(created(1))
    assert.ok(isHeard || !isTold, 'once it is gone it stays gone')
    isHeard = isTold
    await turn()
  }
  assert.equal(await socket.closed, 1000)
})

describe('who does not take what it is told', () => {
  const limits = { maxQueuedBytes: 300_000 }

  test('is cut off, while others go on', async () => {
    await using served = await start({ limits })
    await using slow = await RawSocket.connect(served.url)
    const [slowPeer] = served.peers
    slow.ws.pause()
    await using healthy = await RawSocket.connect(served.url)
    const text = 'x'.repeat(100_000)
    let sent = 0
    let taken = 0
    // The buffers of the system take some of it first.
    for (; slowPeer?.send(created(sent, text)); sent++) {
      const [, peer] = served.peers
      assert.equal(peer?.send(created(sent, text)), true)
      await healthy.until((frame) => frame.startsWith('42'))
      taken++
      assert.ok(sent < 1000, 'there is no end to it')
    }
    assert.equal(served.peers.size, 1)
    assert.equal(taken, sent)
    assert.equal((await healthy.ask('get', { url: '/pet' })).statusCode, 200)
    slow.ws.resume()
    assert.equal(await slow.closed, 1006)
  })

  test('is cut off for what waits behind a reading, too', async () => {
    const { asked, handle } = waiting()
    await using served = await start({ limits, handle })
    await using socket = await RawSocket.connect(served.url)
    socket.send('42["get",{"url":"/pet"}]')
    await until(() => asked.length === 1)
    const peer = onlyPeer(served.peers)
    let sent = 0
    while (peer.send(created(sent, 'x'.repeat(50_000)))) assert.ok(sent++ < 100, 'there is no end to it')
    assert.equal(await socket.closed, 1006)
    assert.equal(served.peers.size, 0)
  })

  test('may take a large answer, however slowly', async () => {
    const large = 'x'.repeat(5_000_000)
    await using served = await start({ limits, handle: () => ({ status: 200, headers: {}, body: large }) })
    await using socket = await RawSocket.connect(served.url)
    const asking = socket.ask('get', { url: '/pet' })
    socket.ws.pause()
    const peer = onlyPeer(served.peers)
    for (let index = 0; index < 20; index++) {
      for (let turns = 0; turns < 5; turns++) await turn()
      assert.equal(peer.send(created(index)), true)
    }
    socket.ws.resume()
    assert.equal((await asking).body.length, large.length)
  })

  test('may be behind again and again, as long as it catches up', async () => {
    await using served = await start({ limits: { maxQueuedBytes: 20_000_000 } })
    await using socket = await RawSocket.connect(served.url)
    const peer = onlyPeer(served.peers)
    const text = 'x'.repeat(1_000_000)
    for (let round = 0; round < 5; round++) {
      socket.ws.pause()
      for (let index = 0; index < 15; index++) assert.equal(peer.send(created(index, text)), true)
      socket.ws.resume()
      await until(() => socket.heard.length === 15)
      socket.heard.length = 0
    }
  })

  test('is asked for no more questions until it has taken the answers', async () => {
    const asked: string[] = []
    await using served = await start({
      limits: { maxRequestsPerSocket: 2 },
      handle(request) {
        asked.push(request.path)
        return { status: 200, headers: {}, body: 'x'.repeat(10_000_000) }
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.ws.pause()
    for (let index = 0; index < 10; index++) socket.send(`42${index}["get",{"url":"/${index}"}]`)
    await until(() => asked.length > 0)
    for (let turns = 0; turns < 200; turns++) await turn()
    assert.ok(asked.length < 5, `${asked.length} answers wait`)
    socket.ws.resume()
    await socket.until((frame) => frame.startsWith('439['))
    assert.equal(asked.length, 10)
  })

  test('does not fill our memory with answers to its pings', async () => {
    await using served = await start({ limits: { maxQueuedBytes: 3_000, maxMessagesPerSecond: 10_000_000 } })
    await using socket = await RawSocket.connect(served.url)
    socket.ws.pause()
    const ping = `2${'x'.repeat(100_000)}`
    for (let index = 0; index < 200 && served.sockets.size > 0; index++) {
      socket.send(ping)
      for (let turns = 0; turns < 3; turns++) await turn()
    }
    await empty(served.sockets)
  })
})

test('reset is goodbye: the client comes back and asks anew', async () => {
  await using served = await start()
  await using socket = await RawSocket.connect(served.url)
  const peer = onlyPeer(served.peers)
  peer.reset()
  assert.equal(peer.send(created(1)), false)
  assert.equal(await socket.closed, 1013)
  assert.deepEqual(socket.heard, [], 'a goodbye in the protocol would keep it from coming back')
  assert.equal(served.peers.size, 0)
})

describe('silence', () => {
  const limits = { pingIntervalMs: 25_000, pingTimeoutMs: 60_000 }

  test('in the fourth generation is asked about', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await start({ clock, limits })
    await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    socket.send('40')
    await socket.until((frame) => frame.startsWith('40'))
    time = 24_999
    served.sockets.beat()
    time = 25_000
    served.sockets.beat()
    served.sockets.beat()
    await socket.until((frame) => frame === '2')
    socket.send('3')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.deepEqual(
      socket.heard.filter((frame) => frame === '2'),
      [],
    )
    time = 50_000
    served.sockets.beat()
    await socket.until((frame) => frame === '2')
  })

  for (const version of [3, 4]) {
    test(`of ${version} that goes on is an end`, async () => {
      const clock = { now: () => time }
      let time = 0
      await using served = await start({ clock, limits })
      await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=${version}&transport=websocket`)
      if (version === 4) socket.send('40')
      await socket.until((frame) => frame.startsWith('40'))
      time = 85_000
      served.sockets.beat()
      assert.equal(served.sockets.size, 1)
      time = 85_001
      served.sockets.beat()
      assert.equal(await socket.closed, 1006)
      await empty(served.sockets)
      assert.equal(served.peers.size, 0)
    })
  }

  test('about what it wants to be is an end, whatever else it says', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await start({ clock, limits: { ...limits, connectTimeoutMs: 45_000 } })
    await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    await until(() => served.sockets.size === 1)
    time = 45_000
    served.sockets.beat()
    await socket.until((frame) => frame === '2')
    socket.send('3')
    assert.equal(served.sockets.size, 1)
    time = 45_001
    served.sockets.beat()
    assert.equal(await socket.closed, 1008)
    await empty(served.sockets)
  })

  test('ends with anything that is said', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await start({ clock, limits })
    await using socket = await RawSocket.connect(served.url)
    time = 80_000
    socket.send('2')
    await socket.until((frame) => frame === '3')
    time = 120_000
    served.sockets.beat()
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('stop', () => {
  test('says goodbye so that clients come back', async () => {
    await using served = await start()
    const sockets = await Promise.all([RawSocket.connect(served.url), RawSocket.connect(served.url)])
    await served.sockets.stop()
    for (const socket of sockets) {
      assert.equal(await socket.closed, 1001)
      assert.ok(!socket.heard.includes('41'))
    }
    assert.equal(served.peers.size, 0)
  })

  test('lets requests under way finish, and takes no more', async () => {
    const { asked, answer, handle } = waiting()
    await using served = await start({ handle })
    await using socket = await RawSocket.connect(served.url)
    const asking = socket.ask('get', { url: '/1' })
    await until(() => asked.length === 1)
    const stopping = served.sockets.stop()
    socket.send('427["get",{"url":"/2"}]')
    socket.send('2')
    await socket.until((frame) => frame === '3')
    assert.equal((await refusedUpgrade(`${served.url}/socket.io/?EIO=4&transport=websocket`)).status, 503)
    answer('/1')
    assert.equal((await asking).body.path, '/1')
    assert.equal(await socket.closed, 1001)
    await stopping
    assert.deepEqual(asked, ['/1'])
  })

  test('cuts off those who are not done in time', async () => {
    await using served = await start({ handle: () => new Promise(() => {}), limits: { stopTimeoutMs: 50 } })
    await using socket = await RawSocket.connect(served.url)
    socket.send('421["get",{"url":"/1"}]')
    socket.send('2')
    await socket.until((frame) => frame === '3')
    await served.sockets.stop()
    assert.equal(await socket.closed, 1006)
  })
})

describe('over HTTP on the same port', () => {
  const ask = async (method: string, path: string, query = '') => {
    await using served = await start()
    return served.sockets.overHttp.handle({ method, path, query, headers: {} })
  }

  test('those who try another transport are told that there is none', async () => {
    for (const path of ['/socket.io', '/socket.io/', '/socket.io/socket.io.js']) {
      const { status, body } = await ask('GET', path, 'EIO=3&transport=polling')
      assert.deepEqual([status, body], [400, { code: 0, message: 'Transport unknown' }])
    }
    assert.equal((await ask('POST', '/socket.io/', 'transport=polling')).status, 400)
  })

  test('a WebSocket must be asked for as one', async () => {
    const { status, body } = await ask('GET', '/socket.io/', 'EIO=3&transport=websocket')
    assert.deepEqual([status, body], [400, { code: 3, message: 'Bad request' }])
  })

  test('browsers find the script they wait for', async () => {
    const { status, headers, body } = await ask('GET', '/__getcookie')
    assert.equal(status, 200)
    assert.equal(headers['Content-Type'], 'application/javascript; charset=utf-8')
    assert.deepEqual({ ...(body as object) }, { encoded: '_sailsIoJSConnect();' })
  })

  test('everything else is the service', async () => {
    for (const path of ['/', '/pet', '/socket.iox', '/__getcookie/1']) {
      assert.deepEqual((await ask('GET', path)).body, { method: 'GET', path, query: '', body: null })
    }
    assert.equal((await ask('POST', '/__getcookie')).status, 200)
  })
})

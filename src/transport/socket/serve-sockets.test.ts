import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { RawSocket, refusedUpgrade } from '../../../test/support/raw-socket.ts'
import { pausedHandler, startSockets, until } from '../../../test/support/socket-server.ts'

const binary = { 'Content-Type': 'application/octet-stream' }

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
      await using served = await startSockets()
      assert.deepEqual(await refusedUpgrade(served.url + path, headers), { status, body })
      assert.equal(served.sockets.size, 0)
    })
  }

  test('above maxSockets', async () => {
    await using served = await startSockets({ limits: { maxSockets: 1 } })
    await using _ = await RawSocket.connect(served.url)
    const { status } = await refusedUpgrade(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    assert.equal(status, 503)
  })

  test('for an invalid WebSocket handshake', async () => {
    await using served = await startSockets()
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    socket.write(
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    )
    const [answer] = await once(socket, 'data')
    assert.match(String(answer), /^HTTP\/1\.1 400 /)
    socket.destroy()
    assert.equal(served.sockets.size, 0)
  })

  test('and a reset of the connection meanwhile is ignored', async () => {
    await using served = await startSockets()
    const socket = new PassThrough()
    served.sockets.upgrade(
      { url: '/socket.io/', headers: {}, rawHeaders: [] as string[] } as IncomingMessage,
      socket,
      Buffer.alloc(0),
    )
    socket.emit('error', new Error('reset'))
    await eventually(() => socket.destroyed)
  })

  test('a request with another path is not handled', async () => {
    await using served = await startSockets()
    for (const path of ['/', '/socket.iox/?EIO=4&transport=websocket', '/socket.io/x?EIO=4&transport=websocket']) {
      assert.equal((await refusedUpgrade(served.url + path)).status, 404)
    }
  })
})

describe('a request of long polling is refused', () => {
  const open = '/socket.io/?EIO=4&transport=polling'
  const cases: readonly [name: string, path: string, init: RequestInit, status: number, code: number][] = [
    ['without a transport', '/socket.io/?EIO=4', {}, 400, 0],
    ['for an unknown transport', '/socket.io/?EIO=4&transport=webtransport', {}, 400, 0],
    ['for no version', '/socket.io/?transport=polling', {}, 400, 5],
    ['for version 2', '/socket.io/?EIO=2&transport=polling', {}, 400, 5],
    ['for an unknown session', `${open}&sid=x`, {}, 400, 1],
    ['for a session named as a property of objects', `${open}&sid=__proto__`, {}, 400, 1],
    ['for JSONP', `${open}&j=0`, {}, 400, 3],
    ['for a WebSocket without a handshake', '/socket.io/?EIO=4&transport=websocket', {}, 400, 3],
    ['that opens a session by POST', open, { method: 'POST', body: '40' }, 400, 2],
    ['by another method', `${open}&sid=x`, { method: 'DELETE' }, 400, 2],
    ['with a binary body', `${open}&sid=x`, { method: 'POST', body: new Uint8Array(1), headers: binary }, 400, 3],
    ['to a page of another site', open, { headers: { Origin: 'http://evil.example' } }, 403, 4],
    ['to a script element of another site', open, { headers: { 'Sec-Fetch-Site': 'cross-site' } }, 403, 4],
    ['to an image of the same site', open, { headers: { 'Sec-Fetch-Site': 'same-site' } }, 403, 4],
  ]
  for (const [name, path, init, status, code] of cases) {
    test(name, async () => {
      await using served = await startSockets()
      const response = await fetch(served.url + path, init)
      const body = (await response.json()) as { code: number }
      assert.deepEqual([response.status, body.code], [status, code])
      assert.equal(response.headers.get('access-control-allow-origin'), null)
      assert.equal(served.sockets.size, 0)
    })
  }

  test('for a host that the service does not have', async () => {
    await using served = await startSockets()
    const { port } = new URL(served.url)
    const request = get({ port, path: open, headers: { Host: 'rebound.example' } })
    const [response] = await once(request, 'response')
    assert.equal(response.statusCode, 403)
    response.resume()
  })
})

describe('a client of Engine.IO 3', () => {
  test('is connected at once', async () => {
    await using served = await startSockets()
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

  test('receives a pong for its ping', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.connect(served.url)
    socket.send('2')
    await socket.until((frame) => frame === '3')
    socket.send('2probe')
    await socket.until((frame) => frame === '3probe')
  })

  test('receives an error for another namespace', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.connect(served.url)
    socket.send('40/admin?x=1')
    assert.equal(await socket.until((frame) => frame.startsWith('44')), '44/admin,"Invalid namespace"')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('a client of Engine.IO 4', () => {
  const address = '/socket.io/?EIO=4&transport=websocket'

  test('is connected after its connect packet', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.open(served.url + address)
    const { sid } = JSON.parse((await socket.until((frame) => frame.startsWith('0'))).slice(1))
    socket.send('40{"token":1}')
    const connected = await socket.until((frame) => frame.startsWith('40'))
    assert.deepEqual(JSON.parse(connected.slice(2)), { sid })
    socket.send('40')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.deepEqual(socket.received, [], 'a second connect packet has no effect')
  })

  test('cannot send requests before its connect packet', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.open(served.url + address)
    socket.send('420["get",{"url":"/pet"}]')
    assert.equal(await socket.closed, 1002)
  })

  test('receives an error for another namespace', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.open(served.url + address)
    socket.send('40/admin,{}')
    assert.equal(await socket.until((frame) => frame.startsWith('44')), '44/admin,{"message":"Invalid namespace"}')
  })
})

test('the path is configurable', async () => {
  await using served = await startSockets({ path: 'live/' })
  await using socket = await RawSocket.open(`${served.url}/live?EIO=3&transport=websocket`)
  await socket.until((frame) => frame === '40')
  assert.equal((await refusedUpgrade(`${served.url}/socket.io/?EIO=3&transport=websocket`)).status, 404)
})

describe('stop', () => {
  test('sends closing frames after which clients reconnect', async () => {
    await using served = await startSockets()
    const sockets = await Promise.all([RawSocket.connect(served.url), RawSocket.connect(served.url)])
    await served.sockets.stop()
    for (const socket of sockets) {
      assert.equal(await socket.closed, 1001)
      assert.ok(!socket.received.includes('41'))
    }
    assert.equal(served.peers.size, 0)
  })

  test('finishes running requests and accepts no more', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using served = await startSockets({ handle })
    await using socket = await RawSocket.connect(served.url)
    const response = socket.ask('get', { url: '/1' })
    await until(() => requested.length === 1)
    const stopping = served.sockets.stop()
    socket.send('427["get",{"url":"/2"}]')
    socket.send('2')
    await socket.until((frame) => frame === '3')
    assert.equal((await refusedUpgrade(`${served.url}/socket.io/?EIO=4&transport=websocket`)).status, 503)
    respond('/1')
    assert.equal((await response).body.path, '/1')
    assert.equal(await socket.closed, 1001)
    await stopping
    assert.deepEqual(requested, ['/1'])
  })

  test('terminates connections after stopTimeoutMs', async () => {
    await using served = await startSockets({ handle: () => new Promise(() => {}), limits: { stopTimeoutMs: 50 } })
    await using socket = await RawSocket.connect(served.url)
    socket.send('421["get",{"url":"/1"}]')
    socket.send('2')
    await socket.until((frame) => frame === '3')
    await served.sockets.stop()
    assert.equal(await socket.closed, 1006)
  })
})

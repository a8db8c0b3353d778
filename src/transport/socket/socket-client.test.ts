import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RawSocket } from '../../../test/support/raw-socket.ts'
import {
  allClosed,
  created,
  echo,
  type Handle,
  onlyPeer,
  pausedHandler,
  startSockets,
  until,
} from '../../../test/support/socket-server.ts'
import type { ServiceRequest } from '../../protocol/request.ts'

describe('a message', () => {
  test('that is not a request is answered with an error, and the socket stays open', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.connect(served.url)
    const error = await socket.ask('get', {})
    assert.deepEqual(error, {
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

  test('whose answer is a stream is refused, and the stream is ended', async () => {
    const ended: string[] = []
    const answer: Handle = ({ path }) => {
      const iterator = {
        next: async () => ({ done: false, value: 'a' }) as const,
        async return() {
          ended.push(path)
          return { done: true, value: undefined } as const
        },
      }
      return { status: 200, headers: {}, stream: { [Symbol.asyncIterator]: () => iterator } }
    }
    await using served = await startSockets({ handle: answer })
    await using socket = await RawSocket.connect(served.url)
    assert.equal((await socket.ask('get', { url: '/file' })).statusCode, 400)
    assert.deepEqual(ended, ['/file'])
  })

  test('not named for a method is ignored', async () => {
    const requested: string[] = []
    await using served = await startSockets({
      handle(request) {
        requested.push(request.path)
        return echo(request)
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.send('429["nosuch",{"url":"/pet"}]')
    socket.send('428["constructor",{"url":"/pet"}]')
    assert.equal((await socket.ask('get', { url: '/user' })).statusCode, 200)
    assert.deepEqual(requested, ['/user'])
    assert.deepEqual(socket.received, [])
  })

  test('without an acknowledgement id is executed', async () => {
    const requested: string[] = []
    await using served = await startSockets({
      handle(request) {
        requested.push(request.path)
        return echo(request)
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.send('42["patch",{"url":"/pet/1"}]')
    await socket.ask('get', { url: '/user' })
    assert.deepEqual(requested, ['/pet/1', '/user'])
    assert.deepEqual(socket.received, [])
  })

  test('has the headers of the connection and its own', async () => {
    let seen: ServiceRequest | undefined
    await using served = await startSockets({
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

describe('an unexpected error', () => {
  test('of the service is answered with status 500', async () => {
    const handles: Handle[] = [
      () => {
        throw new Error('synchronous')
      },
      () => Promise.reject(new Error('asynchronous')),
      () => ({ status: 200, headers: {}, body: { deep: 1n as never } }),
    ]
    for (const handle of handles) {
      const reported: unknown[] = []
      await using served = await startSockets({ handle, onError: (error) => reported.push(error) })
      await using socket = await RawSocket.connect(served.url)
      const { statusCode, body } = await socket.ask('get', { url: '/pet' })
      assert.equal(statusCode, 500)
      assert.equal(body.code, 'E_INTERNAL')
      assert.equal(reported.length, 1)
    }
  })

  test('while a client connects closes its connection', async () => {
    const reported: unknown[] = []
    const broken = () => {
      throw new Error('failed')
    }
    await using served = await startSockets({ connect: broken, onError: (error) => reported.push(error) })
    const socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    socket.send('40')
    assert.equal(await socket.closed, 1011)
    assert.equal(reported.length, 1)
    await allClosed(served.sockets)
  })
})

describe('requests of one socket', () => {
  test('run concurrently, and are answered in the order they finish', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using served = await startSockets({ handle })
    await using socket = await RawSocket.connect(served.url)
    const first = socket.ask('get', { url: '/1' })
    const second = socket.ask('get', { url: '/2' })
    await until(() => requested.length === 2)
    respond('/2')
    assert.equal((await second).body.path, '/2')
    respond('/1')
    assert.equal((await first).body.path, '/1')
  })

  test('above maxRequestsPerSocket wait, in order', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using served = await startSockets({ handle, limits: { maxRequestsPerSocket: 2 } })
    await using socket = await RawSocket.connect(served.url)
    const responses = [1, 2, 3, 4].map((index) => socket.ask('get', { url: `/${index}` }))
    await until(() => requested.length === 2)
    for (let turns = 0; turns < 20; turns++) await turn()
    assert.deepEqual(requested, ['/1', '/2'])
    for (const path of ['/2', '/1', '/3', '/4']) {
      await until(() => requested.includes(path))
      respond(path)
    }
    await Promise.all(responses)
    assert.deepEqual(requested, ['/1', '/2', '/3', '/4'])
  })

  test('are not read while too many wait', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using served = await startSockets({ handle, limits: { maxRequestsPerSocket: 2 } })
    await using socket = await RawSocket.connect(served.url)
    const data = { text: 'x'.repeat(500_000) }
    const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
    const responses = paths.map((url) => socket.ask('post', { url, data }))
    await until(() => requested.length === 2)
    for (let turns = 0; turns < 500; turns++) await turn()
    assert.ok(socket.ws.bufferedAmount > 10_000_000, `${socket.ws.bufferedAmount} bytes are buffered by the client`)
    for (const path of paths) {
      await until(() => requested.includes(path))
      respond(path)
    }
    await Promise.all(responses)
    assert.deepEqual(requested, paths)
  })

  test('do not delay those of another socket', async () => {
    const { requested, handle } = pausedHandler()
    await using served = await startSockets({
      handle: (request) => (request.path === '/quick' ? echo(request) : handle(request)),
      limits: { maxRequestsPerSocket: 1 },
    })
    await using slow = await RawSocket.connect(served.url)
    await using quick = await RawSocket.connect(served.url)
    for (let index = 0; index < 5; index++) slow.send(`42["get",{"url":"/${index}"}]`)
    await until(() => requested.length === 1)
    assert.equal((await quick.ask('get', { url: '/quick' })).statusCode, 200)
  })

  test('above maxMessagesPerSecond are refused; at twice the rate the client is disconnected', async () => {
    const clock = { now: () => 0 }
    await using served = await startSockets({ clock, limits: { maxMessagesPerSecond: 3 } })
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
        detail: 'A socket may send 3 messages per second',
        limit: 'maxMessagesPerSecond',
      },
      headers: { 'Retry-After': '1' },
      statusCode: 429,
    })
    socket.send('42["get",{"url":"/7"}]')
    assert.equal(await socket.closed, 1008)
    assert.deepEqual(socket.received, ['41'])
    assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('an event', () => {
  test('is encoded once for all receivers', async () => {
    await using served = await startSockets()
    await using a = await RawSocket.connect(served.url)
    await using b = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    b.send('40')
    await b.until((frame) => frame.startsWith('40'))
    await until(() => served.peers.size === 2)
    let encoded = 0
    const event = {
      verb: 'created' as const,
      model: 'pet',
      id: 1,
      get data() {
        encoded++
        return { id: 1, name: 'Réx' }
      },
    }
    for (const peer of served.peers) assert.equal(peer.send(event), true)
    for (const socket of [a, b]) {
      const frame = await socket.until((frame) => frame.startsWith('42'))
      assert.equal(frame, '42["pet",{"verb":"created","id":1,"data":{"id":1,"name":"Réx"}}]')
    }
    assert.equal(encoded, 1)
  })

  test('that arrives during a request is sent after the response', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using served = await startSockets({ handle })
    await using socket = await RawSocket.connect(served.url)
    socket.send('427["get",{"url":"/pet"}]')
    await until(() => requested.length === 1)
    assert.equal(onlyPeer(served.peers).send(created(1)), true)
    await turn()
    respond('/pet')
    await until(() => socket.received.length === 2)
    assert.match(socket.received.join(' '), /^437.* 42/)
  })

  test('for a closed connection is discarded', async () => {
    await using served = await startSockets()
    const socket = await RawSocket.connect(served.url)
    const peer = onlyPeer(served.peers)
    socket.ws.close()
    await allClosed(served.sockets)
    assert.equal(peer.send(created(1)), false)
    peer.reset()
    assert.equal(served.peers.size, 0)
  })
})

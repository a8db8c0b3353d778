import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { RawPolling } from '../../../test/support/raw-polling.ts'
import { RawSocket } from '../../../test/support/raw-socket.ts'
import {
  allClosed,
  created,
  onlyPeer,
  pausedHandler,
  startSockets,
  until,
} from '../../../test/support/socket-server.ts'
import { WaitingBytes } from '../../support/waiting-bytes.ts'

describe('the limits of long polling:', () => {
  test('maxMessageBytes limits a payload', async () => {
    await using server = await startSockets({ limits: { maxMessageBytes: 1_000 } })
    await using polling = await RawPolling.connect(server.url)
    const response = await polling.request({ method: 'POST', body: `42["get",{"url":"/${'x'.repeat(2_000)}"}]` })
    assert.equal(response.status, 413)
  })

  test('maxSockets counts the sessions', async () => {
    await using server = await startSockets({ limits: { maxSockets: 1 } })
    await using _ = await RawPolling.open(server.url)
    const response = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling`)
    assert.equal(response.status, 503)
  })

  test('maxQueuedBytes limits the events that wait for the next poll', async () => {
    await using server = await startSockets({ limits: { maxQueuedBytes: 300_000 } })
    await RawPolling.connect(server.url)
    const peer = onlyPeer(server.peers)
    let sent = 0
    while (peer.send(created(sent, 'x'.repeat(50_000)))) assert.ok(++sent < 100, 'the limit has no effect')
    assert.equal(sent, 5)
    await allClosed(server.sockets)
    assert.equal(server.peers.size, 0)
  })

  test('a client that polls may fall behind repeatedly', async () => {
    await using server = await startSockets({ limits: { maxQueuedBytes: 300_000 } })
    await using polling = await RawPolling.connect(server.url)
    const peer = onlyPeer(server.peers)
    for (let round = 0; round < 5; round++) {
      for (let id = 0; id < 5; id++) assert.equal(peer.send(created(id, 'x'.repeat(50_000))), true)
      assert.equal((await polling.poll()).length, 5)
    }
  })

  test('maxMessagesPerSecond counts the packets of a payload', async () => {
    const clock = { now: () => 0 }
    await using server = await startSockets({ clock, limits: { maxMessagesPerSecond: 3 } })
    await using polling = await RawPolling.connect(server.url)
    const packets = [1, 2, 3, 4].map((id) => `42${id}["get",{"url":"/${id}"}]`)
    await polling.post(...packets)
    const codes = new Map<string, number>()
    while (codes.size < 4) {
      for (const packet of await polling.poll()) {
        codes.set(packet.slice(2, 3), JSON.parse(packet.slice(3))[0].statusCode)
      }
    }
    assert.deepEqual(Object.fromEntries(codes), { 1: 200, 2: 200, 3: 429, 4: 429 })
    const poll = polling.poll()
    await polling.post('43', '43', '43')
    assert.ok((await poll).includes('41'), 'a disconnect packet, after which a client does not reconnect')
  })

  for (const version of [3, 4] as const) {
    test(`maxMessagesPerSecond limits the packets of a payload of Engine.IO ${version} before they are decoded`, async () => {
      await using server = await startSockets({ limits: { maxMessagesPerSecond: 3 } })
      const polling = await RawPolling.connect(server.url, { version })
      const body = version === 3 ? '1:2'.repeat(7) : Array(7).fill('3').join('\x1e')
      // The version of a session is that of its first request.
      const url = polling.url.replace(/EIO=./, 'EIO=4')
      const response = await fetch(url, { method: 'POST', body })
      assert.deepEqual(
        [response.status, ((await response.json()) as { message: string }).message],
        [400, 'Too many packets in one payload'],
      )
      await allClosed(server.sockets)
    })
  }

  test('a response that is not read delays the next poll', async () => {
    await using server = await startSockets({ limits: { maxQueuedBytes: 50_000_000 } })
    await using polling = await RawPolling.connect(server.url)
    const peer = onlyPeer(server.peers)
    assert.equal(peer.send(created(1, 'x'.repeat(30_000_000))), true)
    const [unread] = (await once(get(polling.url), 'response')) as [IncomingMessage]
    let polled = false
    const next = polling.poll().then((packets) => {
      polled = true
      return packets
    })
    peer.send(created(2))
    for (let turns = 0; turns < 200; turns++) await turn()
    assert.equal(polled, false)
    unread.resume()
    assert.equal((await next).length, 1)
  })

  test('streamIdleTimeoutMs limits the time in which a client does not poll', async () => {
    const seen: string[] = []
    await using server = await startSockets({
      limits: { streamIdleTimeoutMs: 50 },
      observe: (observation) => observation.kind === 'clientDisconnected' && seen.push(observation.limit),
    })
    await RawPolling.connect(server.url)
    assert.equal(onlyPeer(server.peers).send(created(1, 'x'.repeat(100_000))), true)
    await allClosed(server.sockets)
    assert.deepEqual(seen, ['streamIdleTimeoutMs'])
  })

  test('streamIdleTimeoutMs limits the time in which a response is not read, and the session ends', async () => {
    await using server = await startSockets({ limits: { streamIdleTimeoutMs: 50, maxQueuedBytes: 50_000_000 } })
    const polling = await RawPolling.connect(server.url)
    assert.equal(onlyPeer(server.peers).send(created(1, 'x'.repeat(30_000_000))), true)
    const [response] = (await once(get(polling.url), 'response')) as [IncomingMessage]
    await allClosed(server.sockets)
    response.destroy()
  })

  test('maxWaitingBytes is shared by all connections', async () => {
    const waiting = new WaitingBytes(500_000)
    await using server = await startSockets({ waiting, limits: { maxQueuedBytes: 1_000_000_000 } })
    await RawPolling.connect(server.url)
    const slow = onlyPeer(server.peers)
    await using socket = await RawSocket.connect(server.url)
    let sent = 0
    while (slow.send(created(sent, 'x'.repeat(100_000)))) assert.ok(++sent < 100, 'the budget has no effect')
    assert.equal(server.sockets.size, 1)
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.equal(waiting.total, 0)
  })

  test('maxQueuedBytes counts the responses to pings', async () => {
    await using server = await startSockets({ limits: { maxQueuedBytes: 5_000, maxMessagesPerSecond: 1_000_000 } })
    const polling = await RawPolling.connect(server.url, { version: 3 })
    await polling.request({ method: 'POST', body: '1:2'.repeat(100) })
    await allClosed(server.sockets)
  })

  test('no more requests are read while too many wait', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using server = await startSockets({ handle, limits: { maxRequestsPerSocket: 2 } })
    await using polling = await RawPolling.connect(server.url)
    await polling.post(...[1, 2, 3, 4].map((id) => `42${id}["get",{"url":"/${id}"}]`))
    await until(() => requested.length === 2)
    const post = polling.post('425["get",{"url":"/5"}]')
    for (let turns = 0; turns < 100; turns++) await turn()
    assert.deepEqual(requested, ['/1', '/2'])
    for (const path of ['/1', '/2', '/3', '/4', '/5']) {
      await until(() => requested.includes(path))
      respond(path)
    }
    await post
    assert.deepEqual(requested, ['/1', '/2', '/3', '/4', '/5'])
  })

  for (const version of [3, 4] as const) {
    test(`connectTimeoutMs ends a session of Engine.IO ${version} that is not used`, async () => {
      const clock = { now: () => time }
      let time = 0
      await using server = await startSockets({ clock })
      await RawPolling.open(server.url, { version })
      time = 45_000
      server.sockets.heartbeat()
      assert.equal(server.sockets.size, 1)
      time = 45_001
      server.sockets.heartbeat()
      await allClosed(server.sockets)
      assert.equal(server.peers.size, 0)
    })
  }

  // With Engine.IO 3 a session is connected by its second request, such as that for an upgrade: silent ones end by the heartbeat.
  test('connectTimeoutMs ends the WebSocket to which such a session of Engine.IO 4 was to be upgraded', async () => {
    const clock = { now: () => time }
    let time = 0
    await using server = await startSockets({ clock })
    const polling = await RawPolling.open(server.url)
    const { port } = new URL(server.url)
    const socket = connect(Number(port), '127.0.0.1')
    const { pathname, search } = new URL(polling.url.replace('transport=polling', 'transport=websocket'))
    const head = [
      `GET ${pathname}${search} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await once(socket, 'data')
    const closed = once(socket, 'close')
    time = 45_001
    server.sockets.heartbeat()
    await closed
  })
})

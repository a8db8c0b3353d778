import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Socket } from 'engine.io'
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
import { EncodedJson } from '../../protocol/json.ts'

const webSocketOf = ({ url }: RawPolling): string => url.replace('transport=polling', 'transport=websocket')

/** Probes a WebSocket of the session, while a poll waits, and completes the upgrade. */
async function upgrade(polling: RawPolling): Promise<RawSocket> {
  const socket = await RawSocket.open(webSocketOf(polling))
  socket.send('2probe')
  await socket.until((frame) => frame === '3probe')
  await polling.poll()
  socket.send('5')
  return socket
}

for (const version of [3, 4] as const) {
  describe(`long polling of Engine.IO ${version}:`, () => {
    test('a client sends requests and receives events', async () => {
      await using server = await startSockets()
      await using polling = await RawPolling.connect(server.url, { version })
      assert.deepEqual(polling.handshake, {
        sid: polling.sid,
        upgrades: ['websocket'],
        pingInterval: 25_000,
        pingTimeout: 60_000,
        maxPayload: 1_048_576,
      })
      const { statusCode, body } = await polling.ask('get', { url: '/pet?a=1', data: { b: 'é😀' } })
      assert.deepEqual([statusCode, body], [200, { method: 'GET', path: '/pet', query: 'a=1', body: { b: 'é😀' } }])
      const poll = polling.poll()
      assert.equal(onlyPeer(server.peers).send(created(1, 'é😀')), true)
      assert.deepEqual(await poll, ['42["pet",{"verb":"created","id":1,"data":{"id":1,"name":"é😀"}}]'])
    })

    test('a session can be upgraded to a WebSocket, and no event is lost', async () => {
      await using server = await startSockets()
      await using polling = await RawPolling.connect(server.url, { version })
      const peer = onlyPeer(server.peers)
      assert.equal(peer.send(created(1)), true)
      const [first] = await polling.poll()
      assert.equal(peer.send(created(2)), true)
      await using socket = await RawSocket.open(webSocketOf(polling))
      socket.send('2probe')
      await socket.until((frame) => frame === '3probe')
      const [second] = await polling.poll()
      const last = polling.poll()
      assert.equal(peer.send(created(3)), true)
      const [third] = await last
      socket.send('5')
      assert.equal(peer.send(created(4)), true)
      const fourth = await socket.until((frame) => frame.startsWith('42'))
      const ids = [first, second, third, fourth].map((packet) => JSON.parse(String(packet).slice(2))[1].id)
      assert.deepEqual(ids, [1, 2, 3, 4])
      assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
      assert.equal(server.sockets.size, 1)
    })

    describe('a long answer, of which the library makes no text,', () => {
      const text = 'aé😀'.repeat(100_000)
      const json = Buffer.from(JSON.stringify(['a', text]))
      // The parts end within characters.
      const parts = Array.from({ length: Math.ceil(json.length / 65_539) }, (_, index) =>
        json.subarray(index * 65_539, (index + 1) * 65_539),
      )
      const start = () => startSockets({ handle: () => ({ status: 200, headers: {}, body: new EncodedJson(parts) }) })
      const request = (ack: number): string => `42${ack}["get",{"url":"/pet"}]`
      const bodyOf = (packet: string): unknown => JSON.parse(packet.slice(packet.indexOf('[')))[0].body
      const isAnswer = (packet: string): boolean => packet.startsWith('43')

      test('is sent in parts to one poll, also with others', async (t) => {
        await using server = await start()
        await using polling = await RawPolling.connect(server.url, { version })
        const send = t.mock.method(Socket.prototype, 'send')
        const end = t.mock.method(ServerResponse.prototype, 'end')
        assert.equal(onlyPeer(server.peers).send(created(1)), true)
        await polling.post(request(1), request(2))
        const packets = await polling.poll()
        assert.equal(packets.map((packet) => packet.slice(0, 3)).join(), '42[,431,432')
        for (const packet of packets.filter(isAnswer)) assert.deepEqual(bodyOf(packet), ['a', text])
        for (const { arguments: given } of [...send.mock.calls, ...end.mock.calls])
          assert.ok(String(given[0]).length < 1_000)
        assert.equal((await polling.ask('get', { url: '/pet' }, 4)).statusCode, 200)
        assert.equal(server.reported.length, 0)
      })

      test('is a frame over the WebSocket', async (t) => {
        await using server = await start()
        await using polling = await RawPolling.connect(server.url, { version })
        await using socket = await upgrade(polling)
        const send = t.mock.method(Socket.prototype, 'send')
        assert.deepEqual((await socket.ask('get', { url: '/pet' })).body, ['a', text])
        assert.deepEqual((await socket.ask('get', { url: '/pet' })).body, ['a', text])
        for (const { arguments: given } of send.mock.calls) assert.ok(String(given[0]).length < 1_000)
        assert.equal(server.reported.length, 0)
      })

      test('is a frame where the session is upgraded before a poll arrives', async () => {
        await using server = await start()
        await using polling = await RawPolling.connect(server.url, { version })
        await using socket = await RawSocket.open(webSocketOf(polling))
        socket.send('2probe')
        await socket.until((frame) => frame === '3probe')
        await polling.poll()
        await polling.post(request(1))
        socket.send('5')
        assert.deepEqual(bodyOf(await socket.until(isAnswer)), ['a', text])
      })

      test('ends the session when its connection is closed', async () => {
        // More than the system buffers.
        const body = new EncodedJson(Array.from({ length: 300 }, () => Buffer.alloc(65_536, '1')))
        await using server = await startSockets({ handle: () => ({ status: 200, headers: {}, body }) })
        await using polling = await RawPolling.connect(server.url, { version })
        await polling.post(request(1))
        const poll = get(polling.url, { agent: false })
        const [response] = (await once(poll, 'response')) as [IncomingMessage]
        response.destroy()
        await allClosed(server.sockets)
        assert.equal(server.reported.length, 0)
      })
    })
  })
}

for (const [what, length] of [
  ['several answers', 8],
  ['a long answer', 1],
] as const)
  test(`${what} to one poll are sent in parts`, async (t) => {
    const body = 'x'.repeat(1_000_000 / length)
    await using server = await startSockets({ handle: () => ({ status: 200, headers: {}, body }) })
    await using polling = await RawPolling.connect(server.url)
    const end = t.mock.method(ServerResponse.prototype, 'end')
    await polling.post(...Array.from({ length }, (_, ack) => `42${ack}["get",{"url":"/pet"}]`))
    // On a slow machine the first poll is answered before all requests are.
    const packets: string[] = []
    while (packets.length < length) packets.push(...(await polling.poll()))
    for (const packet of packets) assert.ok(packet.includes(body))
    for (const { arguments: given } of end.mock.calls) assert.ok(String(given[0]).length < 1_000)
  })

test('a session ends when the connection of its poll is closed', async () => {
  await using server = await startSockets()
  await using polling = await RawPolling.connect(server.url)
  assert.equal(server.sockets.size, 1)
  const poll = get(polling.url, { agent: false })
  const failed = once(poll, 'error')
  await once(poll, 'finish')
  await polling.post('3') // the answer to a ping: the poll has arrived before it
  poll.destroy()
  await failed
  await allClosed(server.sockets)
})

test('the request of an upgrade is not kept while its connection is open', async () => {
  await using server = await startSockets()
  const { sockets } = server
  const requests: WeakRef<IncomingMessage>[] = []
  const accept = sockets.upgrade
  sockets.upgrade = (req, connection, head) => {
    requests.push(new WeakRef(req))
    return accept(req, connection, head)
  }
  await using polling = await RawPolling.connect(server.url)
  await using socket = await upgrade(polling)
  assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  for (let tries = 0; tries < 20 && requests[0]?.deref(); tries++) {
    await turn()
    collectGarbage()
  }
  assert.deepEqual(
    requests.map((request) => request.deref()?.url),
    [undefined],
  )
  assert.equal(sockets.size, 1)
})

describe('a protocol violation closes the session:', () => {
  const payloads: readonly [name: string, version: 3 | 4, payload: string][] = [
    ['an empty payload', 4, ''],
    ['text that is no packet', 4, 'hello'],
    ['an empty packet', 4, '42["get",{"url":"/"}]\x1e'],
    ['binary data as text', 4, 'bAQID'],
    ['a binary event', 4, '451-["get",{"_placeholder":true,"num":0}]'],
    ['an event in another namespace', 4, '42/admin,["get",{}]'],
    ['a ping, which only servers send', 4, '2'],
    ['an empty payload', 3, ''],
    ['a wrong length', 3, '100:42["get"]'],
    ['a negative length', 3, '-5:42["get"]'],
    ['a length that is no number', 3, 'x:2'],
    ['a payload without a length', 3, '42["get",{"url":"/"}]'],
    ['binary data as text', 3, '6:b4AQID'],
    ['a pong, which only servers send', 3, '1:3'],
  ]
  for (const [name, version, payload] of payloads) {
    test(`Engine.IO ${version}: ${name}`, async () => {
      await using server = await startSockets()
      await using other = await RawSocket.connect(server.url)
      await using polling = await RawPolling.connect(server.url, { version })
      await (await polling.request({ method: 'POST', body: payload })).text()
      // A poll may still fetch the closing packet.
      while ((await polling.request()).status === 200);
      assert.equal(server.sockets.size, 1)
      assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
    })
  }

  test('two polls at once', async () => {
    await using server = await startSockets()
    await using polling = await RawPolling.connect(server.url)
    const responses = await Promise.all([polling.request(), polling.request()])
    assert.ok(responses.some(({ status }) => status === 400))
    await allClosed(server.sockets)
  })

  test('a second upgrade is refused, and the first stays', async () => {
    await using server = await startSockets()
    await using polling = await RawPolling.connect(server.url)
    await using socket = await upgrade(polling)
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    await assert.rejects(RawSocket.open(webSocketOf(polling)), /400/)
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

describe('an upgraded session', () => {
  test('is disconnected after streamIdleTimeoutMs, also while it sends messages', async () => {
    await using server = await startSockets({
      limits: { streamIdleTimeoutMs: 50 },
      handle: () => ({ status: 200, headers: {}, body: 'x'.repeat(30_000_000) }),
    })
    const polling = await RawPolling.connect(server.url, { version: 3 })
    await using socket = await upgrade(polling)
    socket.ws.pause()
    socket.send('421["get",{"url":"/pet"}]')
    while (server.sockets.size > 0) {
      socket.send('2')
      await turn()
    }
  })

  test('is terminated above maxQueuedBytes', async () => {
    await using server = await startSockets({ limits: { maxQueuedBytes: 300_000 } })
    await using polling = await RawPolling.connect(server.url)
    await using socket = await upgrade(polling)
    await socket.ask('get', { url: '/pet' })
    socket.ws.pause()
    const peer = onlyPeer(server.peers)
    let sent = 0
    while (peer.send(created(sent, 'x'.repeat(100_000)))) {
      assert.ok(sent++ < 1_000, 'the limit has no effect')
      await turn()
    }
    socket.ws.resume()
    assert.equal(await socket.closed, 1006)
    await allClosed(server.sockets)
  })

  test('ends with its connection', async () => {
    await using server = await startSockets()
    await using polling = await RawPolling.connect(server.url)
    const socket = await upgrade(polling)
    await socket.ask('get', { url: '/pet' })
    socket.ws.terminate()
    await allClosed(server.sockets)
    assert.equal(server.peers.size, 0)
  })
})

describe('stop', () => {
  test('answers a waiting poll with a close packet', async () => {
    await using server = await startSockets()
    await using polling = await RawPolling.connect(server.url)
    const poll = polling.poll()
    await until(() => server.sockets.size === 1)
    for (let turns = 0; turns < 20; turns++) await turn()
    await server.sockets.stop()
    assert.deepEqual(await poll, ['1'])
  })

  test('lets a client fetch the responses of running requests', async () => {
    const { requested, respond, handle } = pausedHandler()
    await using server = await startSockets({ handle })
    const polling = await RawPolling.connect(server.url)
    await polling.post('421["get",{"url":"/1"}]')
    await until(() => requested.length === 1)
    const stopping = server.sockets.stop()
    respond('/1')
    assert.match((await polling.poll()).join(' '), /^431\[/)
    await stopping
    assert.equal((await polling.request()).status, 400)
  })

  test('does not wait for the next poll of an idle client', async () => {
    await using server = await startSockets()
    const polling = await RawPolling.connect(server.url)
    await server.sockets.stop()
    assert.equal((await polling.request()).status, 400)
  })

  test('terminates sessions after stopTimeoutMs', async () => {
    await using server = await startSockets({
      handle: () => new Promise(() => {}),
      limits: { stopTimeoutMs: 50 },
    })
    const polling = await RawPolling.connect(server.url)
    await polling.post('421["get",{"url":"/1"}]')
    await server.sockets.stop()
    assert.equal(server.sockets.size, 0)
  })
})

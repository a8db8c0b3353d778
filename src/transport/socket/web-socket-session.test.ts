import assert from 'node:assert/strict'
import { once } from 'node:events'
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

describe('a protocol violation closes only its own connection:', () => {
  const cases: readonly [name: string, frame: string | Uint8Array, code: number][] = [
    ['an empty frame', '', 1002],
    ['text that is no packet', 'hello', 1002],
    ['an open packet', '0{}', 1002],
    ['a binary event', '451-["get",{"_placeholder":true,"num":0}]', 1002],
    ['an event in another namespace', '42/admin,["get",{}]', 1002],
    ['a binary frame', new Uint8Array([4, 1, 2]), 1003],
    ['a frame larger than maxMessageBytes', `42["get",{"url":"/${'x'.repeat(2000)}"}]`, 1009],
    ['a disconnect packet, which is not a violation', '41', 1000],
    ['a close packet, which is not a violation', '1', 1000],
  ]
  for (const [name, frame, code] of cases) {
    test(name, async () => {
      await using served = await startSockets({ limits: { maxMessageBytes: 1000 } })
      await using other = await RawSocket.connect(served.url)
      await using socket = await RawSocket.connect(served.url)
      socket.send(frame)
      assert.equal(await socket.closed, code)
      await until(() => served.peers.size === 1)
      assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
    })
  }

  test('an invalid WebSocket frame', async () => {
    await using served = await startSockets()
    await using other = await RawSocket.connect(served.url)
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    socket.write(
      'GET /socket.io/?EIO=3&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await once(socket, 'data')
    socket.resume()
    // Not masked, with reserved bits set, and a control frame that is too long.
    socket.write(Buffer.from([0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))
    await once(socket, 'end')
    socket.destroy()
    assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
  })

  test('text that is not UTF-8', async () => {
    await using served = await startSockets()
    await using socket = await RawSocket.connect(served.url)
    socket.ws.send(Buffer.from([0x34, 0x32, 0xff, 0xfe]), { binary: false })
    assert.equal(await socket.closed, 1007)
  })
})

/** A masked text frame of fewer than 126 characters. */
const maskedFrame = (text: string) =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])

for (const [name, query] of [
  ['WebSockets', 'EIO=3&transport=websocket'],
  ['upgraded long polling', 'EIO=4&transport=websocket&sid='],
] as const) {
  test(`a client that goes on sending after its connection was closed is not read, ${name}`, async () => {
    await using served = await startSockets({ limits: { maxMessagesPerSecond: 10 } })
    const isUpgraded = name !== 'WebSockets'
    await using polling = isUpgraded ? await RawPolling.connect(served.url) : undefined
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {}) // a reset: the server has not read all of it
    socket.write(
      `GET /socket.io/?${query}${polling ? new URL(polling.url).searchParams.get('sid') : ''} HTTP/1.1\r\nHost: localhost\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await once(socket, 'data')
    if (isUpgraded) socket.write(Buffer.concat([maskedFrame('2probe'), maskedFrame('5')]))
    socket.resume()
    const flood = Buffer.concat(Array.from({ length: 1_000 }, () => maskedFrame('42["get",{"url":"/pet"}]')))
    const timer = setInterval(() => socket.write(flood), 10)
    try {
      await closed
    } finally {
      clearInterval(timer)
    }
    assert.ok(socket.bytesWritten < 10_000_000, `${socket.bytesWritten} bytes were sent`)
  })
}

test('after a closing frame of either side nothing is sent', async () => {
  await using served = await startSockets()
  const socket = await RawSocket.connect(served.url)
  const peer = onlyPeer(served.peers)
  socket.ws.close(1000)
  let wasSent = true
  while (served.sockets.size > 0) {
    const isSent = peer.send(created(1))
    assert.ok(wasSent || !isSent, 'a closed connection stays closed')
    wasSent = isSent
    await turn()
  }
  assert.equal(await socket.closed, 1000)
})

describe('a client that does not read', () => {
  const limits = { maxQueuedBytes: 300_000 }

  test('is disconnected above maxQueuedBytes, and others are not delayed', async () => {
    await using served = await startSockets({ limits })
    await using slow = await RawSocket.connect(served.url)
    const [slowPeer] = served.peers
    slow.ws.pause()
    await using healthy = await RawSocket.connect(served.url)
    const text = 'x'.repeat(100_000)
    let sent = 0
    let received = 0
    // The buffers of the operating system are filled first.
    for (; slowPeer?.send(created(sent, text)); sent++) {
      const [, peer] = served.peers
      assert.equal(peer?.send(created(sent, text)), true)
      await healthy.until((frame) => frame.startsWith('42'))
      received++
      assert.ok(sent < 1000, 'the limit has no effect')
    }
    assert.equal(served.peers.size, 1)
    assert.equal(received, sent)
    assert.equal((await healthy.ask('get', { url: '/pet' })).statusCode, 200)
    slow.ws.resume()
    assert.equal(await slow.closed, 1006)
  })

  test('is disconnected above maxWaitingBytes, which all connections share, and the total is right afterwards', async () => {
    const waiting = new WaitingBytes(500_000)
    await using served = await startSockets({ waiting, limits: { maxQueuedBytes: 1_000_000_000 } })
    await using slow = await RawSocket.connect(served.url)
    const [slowPeer] = served.peers
    slow.ws.pause()
    await using healthy = await RawSocket.connect(served.url)
    const text = 'x'.repeat(100_000)
    for (let sent = 0; served.peers.size === 2; sent++) {
      const [, peer] = served.peers
      slowPeer?.send(created(sent, text))
      assert.equal(peer?.send(created(sent, text)), true)
      await healthy.until((frame) => frame.startsWith('42'))
      assert.ok(sent < 1000, 'the budget has no effect')
    }
    assert.equal((await healthy.ask('get', { url: '/pet' })).statusCode, 200)
    slow.ws.resume()
    assert.equal(await slow.closed, 1006)
    assert.equal(waiting.total, 0)
  })

  test('is disconnected for events deferred by a request', async () => {
    const { requested, handle } = pausedHandler()
    await using served = await startSockets({ limits, handle })
    await using socket = await RawSocket.connect(served.url)
    socket.send('42["get",{"url":"/pet"}]')
    await until(() => requested.length === 1)
    const peer = onlyPeer(served.peers)
    let sent = 0
    while (peer.send(created(sent, 'x'.repeat(50_000)))) assert.ok(sent++ < 100, 'the limit has no effect')
    assert.equal(await socket.closed, 1006)
    assert.equal(served.peers.size, 0)
  })

  test('is disconnected after streamIdleTimeoutMs, also while it sends messages', async () => {
    const seen: string[] = []
    await using served = await startSockets({
      limits: { streamIdleTimeoutMs: 50 },
      handle: () => ({ status: 200, headers: {}, body: 'x'.repeat(30_000_000) }),
      observe: (observation) => observation.kind === 'clientDisconnected' && seen.push(observation.limit),
    })
    await using socket = await RawSocket.connect(served.url)
    socket.ws.pause()
    socket.send('421["get",{"url":"/pet"}]')
    while (served.sockets.size > 0) {
      socket.send('2')
      await turn()
    }
    assert.deepEqual(seen, ['streamIdleTimeoutMs'])
  })

  test('may receive a large response slowly', async () => {
    const large = 'x'.repeat(5_000_000)
    await using served = await startSockets({ limits, handle: () => ({ status: 200, headers: {}, body: large }) })
    await using socket = await RawSocket.connect(served.url)
    const response = socket.ask('get', { url: '/pet' })
    socket.ws.pause()
    const peer = onlyPeer(served.peers)
    for (let index = 0; index < 20; index++) {
      for (let turns = 0; turns < 5; turns++) await turn()
      assert.equal(peer.send(created(index)), true)
    }
    socket.ws.resume()
    assert.equal((await response).body.length, large.length)
  })

  test('may fall behind repeatedly if it catches up', async () => {
    await using served = await startSockets({ limits: { maxQueuedBytes: 20_000_000 } })
    await using socket = await RawSocket.connect(served.url)
    const peer = onlyPeer(served.peers)
    const text = 'x'.repeat(1_000_000)
    for (let round = 0; round < 5; round++) {
      socket.ws.pause()
      for (let index = 0; index < 15; index++) assert.equal(peer.send(created(index, text)), true)
      socket.ws.resume()
      await until(() => socket.received.length === 15)
      socket.received.length = 0
    }
  })

  test('has no more requests executed until it has received the responses', async () => {
    const requested: string[] = []
    await using served = await startSockets({
      limits: { maxRequestsPerSocket: 2 },
      handle(request) {
        requested.push(request.path)
        return { status: 200, headers: {}, body: 'x'.repeat(10_000_000) }
      },
    })
    await using socket = await RawSocket.connect(served.url)
    socket.ws.pause()
    for (let index = 0; index < 10; index++) socket.send(`42${index}["get",{"url":"/${index}"}]`)
    await until(() => requested.length > 0)
    for (let turns = 0; turns < 200; turns++) await turn()
    assert.ok(requested.length < 5, `${requested.length} responses are buffered`)
    socket.ws.resume()
    await socket.until((frame) => frame.startsWith('439['))
    assert.equal(requested.length, 10)
  })

  test('is disconnected when pongs exceed maxQueuedBytes', async () => {
    await using served = await startSockets({ limits: { maxQueuedBytes: 3_000, maxMessagesPerSecond: 10_000_000 } })
    await using socket = await RawSocket.connect(served.url)
    socket.ws.pause()
    const ping = `2${'x'.repeat(100_000)}`
    for (let index = 0; index < 200 && served.sockets.size > 0; index++) {
      socket.send(ping)
      for (let turns = 0; turns < 3; turns++) await turn()
    }
    await allClosed(served.sockets)
  })
})

test('reset closes the connection with code 1013', async () => {
  await using served = await startSockets()
  await using socket = await RawSocket.connect(served.url)
  const peer = onlyPeer(served.peers)
  peer.reset()
  assert.equal(peer.send(created(1)), false)
  assert.equal(await socket.closed, 1013)
  assert.deepEqual(socket.received, [], 'after a disconnect packet the client would not reconnect')
  assert.equal(served.peers.size, 0)
})

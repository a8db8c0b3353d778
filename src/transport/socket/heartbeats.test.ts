import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RawSocket } from '../../../test/support/raw-socket.ts'
import { allClosed, startSockets, until } from '../../../test/support/socket-server.ts'

describe('heartbeats:', () => {
  const limits = { pingIntervalMs: 25_000, pingTimeoutMs: 60_000 }

  test('in Engine.IO 4 the server sends pings', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await startSockets({ clock, limits })
    await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    socket.send('40')
    await socket.until((frame) => frame.startsWith('40'))
    time = 24_999
    served.sockets.heartbeat()
    time = 25_000
    served.sockets.heartbeat()
    served.sockets.heartbeat()
    await socket.until((frame) => frame === '2')
    socket.send('3')
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.deepEqual(
      socket.received.filter((frame) => frame === '2'),
      [],
    )
    time = 50_000
    served.sockets.heartbeat()
    await socket.until((frame) => frame === '2')
  })

  for (const version of [3, 4]) {
    test(`a silent connection of Engine.IO ${version} is terminated`, async () => {
      const clock = { now: () => time }
      let time = 0
      await using served = await startSockets({ clock, limits })
      await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=${version}&transport=websocket`)
      if (version === 4) socket.send('40')
      await socket.until((frame) => frame.startsWith('40'))
      time = 85_000
      served.sockets.heartbeat()
      assert.equal(served.sockets.size, 1)
      time = 85_001
      served.sockets.heartbeat()
      assert.equal(await socket.closed, 1006)
      await allClosed(served.sockets)
      assert.equal(served.peers.size, 0)
    })
  }

  test('a connection without a connect packet is terminated after connectTimeoutMs', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await startSockets({ clock, limits: { ...limits, connectTimeoutMs: 45_000 } })
    await using socket = await RawSocket.open(`${served.url}/socket.io/?EIO=4&transport=websocket`)
    await until(() => served.sockets.size === 1)
    time = 45_000
    served.sockets.heartbeat()
    await socket.until((frame) => frame === '2')
    socket.send('3')
    assert.equal(served.sockets.size, 1)
    time = 45_001
    served.sockets.heartbeat()
    assert.equal(await socket.closed, 1006)
    await allClosed(served.sockets)
  })

  test('any packet counts as a heartbeat', async () => {
    const clock = { now: () => time }
    let time = 0
    await using served = await startSockets({ clock, limits })
    await using socket = await RawSocket.connect(served.url)
    time = 80_000
    socket.send('2')
    await socket.until((frame) => frame === '3')
    time = 120_000
    served.sockets.heartbeat()
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

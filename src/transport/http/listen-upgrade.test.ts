import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import {
  close,
  echo,
  HttpConnection,
  problemOf,
  sent,
  start,
  statusOf,
  waiting,
  webSocket,
} from '../../../test/support/http-connection.ts'

describe('upgrades', () => {
  test('to WebSocket are refused without a handler', async () => {
    await using server = await start()
    const client = new HttpConnection(server.port)
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

  for (const [name, handshake] of [
    ['', webSocket],
    [', also with a body that has not arrived', [...webSocket.slice(0, -2), 'Content-Length: 9', '', 'part']],
  ] as const)
    test(`behind a request that is pending are not served${name}: its response is the last one`, async () => {
      const { service, asked, answer } = waiting()
      await using server = await start(service, { upgrade: () => assert.fail() })
      const client = new HttpConnection(server.port)
      client.write('GET /1 HTTP/1.1', 'Host: localhost', '', handshake.join('\r\n'))
      while (asked.length === 0) await turn()
      for (let turns = 0; turns < 10; turns++) await turn()
      answer(0)
      const text = await client.all()
      assert.deepEqual([statusOf(text), text.match(/HTTP\/1\.1/g)?.length], [200, 1])
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
    const client = new HttpConnection(server.port)
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

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  close,
  echo,
  HttpConnection,
  limits,
  sent,
  start,
  statusOf,
  waiting,
  webSocket,
} from '../../../test/support/http-connection.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { Service } from '../../protocol/request.ts'

describe('stop', () => {
  const isGone = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(false)
      }).on('error', () => resolve(true))
    })

  test('finishes requests in progress, with Connection: close', async () => {
    const { service, asked, answer } = waiting()
    const server = await start(service)
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    while (asked.length < 1) await sleep(1)
    let stopped = false
    const stopping = server.stop().then(() => {
      stopped = true
    })
    while (!(await isGone(server.port))) await sleep(1)
    assert.equal(stopped, false)
    answer(0)
    assert.match(await client.all(), /200 OK[\s\S]*\r\nConnection: close\r\n[\s\S]*"path":"\/1"/)
    await stopping
  })

  test('answers all requests that a connection has sent in one piece', { timeout: 10_000 }, async () => {
    const { service, asked, answer } = waiting()
    const server = await start(service)
    const client = new HttpConnection(server.port)
    const count = 40 // more than are begun before the first is answered, which are up to 16
    client.write(
      ...Array.from({ length: count }, (_, index) => [`GET /${index} HTTP/1.1`, 'Host: localhost', '', '']).flat(),
    )
    while (asked.length === 0) await sleep(1)
    const stopping = server.stop()
    for (let index = 0; index < count; index++) {
      while (asked.length <= index) await sleep(1)
      answer(index)
    }
    const text = await client.all()
    assert.equal(text.match(/200 OK/g)?.length, count)
    assert.equal(text.match(/Connection: close/g)?.length, 1)
    await stopping
  })

  test('receives the rest of a body in progress', async () => {
    const server = await start()
    const client = new HttpConnection(server.port)
    const expecting = 'Expect: 100-continue'
    client.write('POST /1 HTTP/1.1', 'Host: localhost', 'Content-Length: 2', expecting, '', '{')
    await client.until(/100 Continue/)
    const stopping = server.stop()
    client.write('}')
    assert.match(await client.all(), /\r\nConnection: close\r\n/)
    await stopping
  })

  test('closes idle connections, and those without a request', { timeout: 10_000 }, async () => {
    const server = await start(echo, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const idle = new HttpConnection(server.port)
    idle.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await idle.until(/none/)
    const silent = new HttpConnection(server.port)
    await once(silent.socket, 'connect')
    // After a request on a later connection the server has accepted the silent one.
    assert.equal(statusOf(await sent(server, 'GET /2 HTTP/1.1', 'Host: localhost', close, '', '')), 200)
    await server.stop()
    await Promise.all([idle.all(), silent.all()])
  })

  test('leaves an upgraded connection to its handler', { timeout: 10_000 }, async () => {
    const taken: Duplex[] = []
    const server = await start(echo, {
      limits: { ...limits, stopTimeoutMs: 600_000 },
      upgrade(_req, socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        taken.push(socket)
        return true
      },
    })
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await client.until(/none/)
    client.write(...webSocket)
    await client.until(/101/)
    const stopping = server.stop()
    taken[0]?.end('goodbye')
    assert.match(await client.all(), /goodbye$/)
    await stopping
  })

  test('closes an upgraded connection that its handler never closes', async () => {
    const server = await start(echo, {
      limits: { ...limits, stopTimeoutMs: 50 },
      upgrade(_req, socket) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        return true
      },
    })
    const client = new HttpConnection(server.port)
    client.write(...webSocket)
    await client.until(/101/)
    await server.stop()
    assert.match(await client.all(), /101/)
  })

  test('completes a response that is being sent, and then closes', { timeout: 10_000 }, async () => {
    const size = 20_000_000
    const long: Service = {
      handle: () => ({ status: 200, headers: {}, body: new EncodedJson(`"${'x'.repeat(size)}"`) }),
    }
    const server = await start(long, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    await client.until(/xxx/)
    client.socket.pause()
    const stopping = server.stop()
    client.socket.resume()
    assert.ok((await client.all()).length > size)
    await stopping
  })

  test('answers every request that was sent before it, on many busy connections', { timeout: 20_000 }, async () => {
    const server = await start(echo, { limits: { ...limits, stopTimeoutMs: 600_000 } })
    const agent = new Agent({ keepAlive: true, maxSockets: 50 })
    const lost: string[] = []
    let stoppedAt = Number.POSITIVE_INFINITY
    let answered = 0
    const ask = (): Promise<boolean> =>
      new Promise((resolve) => {
        const sentAt = performance.now()
        const request = get({ port: server.port, agent }, (response) => {
          answered++
          response.resume().on('end', () => resolve(true))
        })
        request.on('error', (error) => {
          if (sentAt < stoppedAt)
            lost.push(
              `${error.message} sent ${sentAt - stoppedAt} failed ${performance.now() - stoppedAt} reused ${request.reusedSocket}`,
            )
          resolve(false)
        })
      })
    const client = async () => {
      while (await ask());
    }
    const clients = Array.from({ length: 50 }, client)
    while (answered < 500) await sleep(1)
    stoppedAt = performance.now()
    await server.stop()
    await Promise.all(clients)
    agent.destroy()
    assert.deepEqual(lost, [])
  })

  test('closes connections after stopTimeoutMs', async () => {
    const { service, asked } = waiting()
    const server = await start(service, { limits: { ...limits, stopTimeoutMs: 50 } })
    const client = new HttpConnection(server.port)
    client.write('GET /1 HTTP/1.1', 'Host: localhost', '', '')
    while (asked.length < 1) await sleep(1)
    await server.stop()
    assert.equal(await client.all(), '')
  })

  test('may be called twice', async () => {
    await using server = await start()
    assert.equal(server.stop(), server.stop())
  })
})

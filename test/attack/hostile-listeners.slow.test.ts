import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Config, ModelDefinitions, ModelRecords, Service } from '../../src/index.ts'
import { createService } from '../../src/index.ts'
import { StreamClient } from '../support/event-stream.ts'
import { RawSocket } from '../support/raw-socket.ts'

/*
 * Hostile or broken subscribers. Each costs no more than its limit allows and does not affect other clients.
 */

const models = { pet: { attributes: { name: { type: 'string' } } } } satisfies ModelDefinitions

/** A service on a server whose connections can be inspected. */
class TestServer implements AsyncDisposable {
  readonly service: Service<typeof models>
  readonly url: string
  readonly port: number
  /** The server's ends of the connections, in order of arrival. */
  readonly sockets: readonly Socket[]
  readonly #server: Server
  readonly #reported: readonly unknown[]

  private constructor(
    service: Service<typeof models>,
    server: Server,
    sockets: readonly Socket[],
    reported: readonly unknown[],
  ) {
    this.service = service
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.url = `http://127.0.0.1:${this.port}`
    this.sockets = sockets
    this.#reported = reported
  }

  static async open(limits: Config['limits'] = {}): Promise<TestServer> {
    const reported: unknown[] = []
    const onError = (error: unknown) => reported.push(error)
    const service = await createService({ database: 'memory:', models, limits, onError })
    const sockets: Socket[] = []
    const server = createServer(service.handler)
    server.on('upgrade', service.upgrade)
    server.on('connection', (socket) => sockets.push(socket))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new TestServer(service, server, sockets, reported)
  }

  get pets(): ModelRecords<typeof models, 'pet'> {
    return this.service.system.records.pet
  }

  /** The server's end of the latest connection. */
  get latest(): Socket {
    return this.sockets.at(-1) as Socket
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close()
    this.#server.close()
    for (const socket of this.sockets) socket.destroy()
    assert.deepEqual(this.#reported, [])
  }
}

/** Counts messages without keeping them. */
async function counting(server: TestServer) {
  const socket = await RawSocket.connect(server.url)
  assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
  let received = 0
  socket.ws.removeAllListeners('message')
  socket.ws.on('message', () => received++)
  return {
    socket,
    async until(count: number): Promise<void> {
      while (received < count) await turn()
    },
  }
}

test('a consumer that never reads 100,000 events is disconnected, and buffers a bounded amount until then', async () => {
  await using server = await TestServer.open({ streamIdleTimeoutMs: 600_000 })
  const { maxQueuedBytes } = server.service.limits
  const { id } = await server.pets.create({ name: 'Rex' })
  await using silent = await RawSocket.connect(server.url)
  await silent.ask('get', { url: '/pet' })
  const silentSocket = server.latest
  silent.ws.pause()
  const stream = await StreamClient.open(server.port, '/pet', { paused: true })
  while (server.latest === silentSocket) await turn()
  const silentStream = server.latest
  const healthy = await counting(server)
  let most = 0
  for (let count = 500; count <= 100_000; count += 500) {
    const name = `a name of some length, and a number: ${count}`
    await Promise.all(Array.from({ length: 500 }, () => server.pets.update(id, { name })))
    await healthy.until(count)
    most = Math.max(most, silentSocket.writableLength, silentStream.writableLength)
  }
  assert.ok(most > 0, 'bytes were buffered')
  assert.ok(most <= maxQueuedBytes, `${most} bytes were buffered`)
  assert.ok(silentSocket.destroyed)
  silent.ws.resume()
  assert.equal(await silent.closed, 1006)
  // A stream ends with a `reset` event.
  stream.resume()
  assert.equal((await stream.rest()).at(-1)?.event, 'reset')
  await stream.close()
  await healthy.socket[Symbol.asyncDispose]()
})

/** The header of a masked text frame that announces this many bytes. */
function headOfFrame(bytes: bigint): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0xff
  head.writeBigUInt64BE(bytes, 2)
  return head
}

describe('other clients are not affected by one that', () => {
  const cases: readonly {
    readonly does: string
    readonly limits?: Config['limits']
    readonly act: (socket: RawSocket) => void
    readonly code: number
  }[] = [
    {
      does: 'requests 10,000 subscriptions over its limit',
      limits: { maxSubscriptions: 100, maxMessagesPerSecond: 1_000_000 },
      act: (socket) => {
        for (let id = 1; id <= 10_000; id++) socket.send(`42["get",{"url":"/pet/${1 + (id % 200)}"}]`)
      },
      code: 1013,
    },
    {
      does: 'sends 100,000 messages',
      act: (socket) => {
        for (let count = 0; count < 100_000; count++) socket.send(`42${count}["get",{"url":"/pet/1"}]`)
      },
      code: 1008,
    },
    {
      does: 'sends 100,000 pings',
      act: (socket) => {
        for (let count = 0; count < 100_000; count++) socket.send('2')
      },
      code: 1008,
    },
    {
      does: 'sends a message that is too long',
      act: (socket) => socket.send(`42["post",{"url":"/pet","data":{"name":"${'x'.repeat(1_100_000)}"}}]`),
      code: 1009,
    },
    {
      does: 'sends a message that is too long in fragments',
      act: (socket) => {
        for (let count = 0; count < 50; count++) socket.ws.send('x'.repeat(50_000), { fin: false })
      },
      code: 1009,
    },
    {
      does: 'announces a frame of a terabyte',
      act: ({ ws }) => (ws as unknown as { _socket: Socket })._socket.write(headOfFrame(2n ** 40n)),
      code: 1009,
    },
    { does: 'sends a binary frame', act: (socket) => socket.send(new Uint8Array(100_000)), code: 1003 },
    {
      does: 'announces a binary attachment',
      act: (socket) => socket.send('51-["get",{"_placeholder":true,"num":0}]'),
      code: 1002,
    },
    { does: 'sends an invalid packet', act: (socket) => socket.send('\u0000'.repeat(1000)), code: 1002 },
  ]
  for (const { does, limits = {}, act, code } of cases) {
    test(does, async () => {
      await using server = await TestServer.open(limits)
      await Promise.all(Array.from({ length: 200 }, () => server.pets.create({ name: 'Rex' })))
      await using other = await RawSocket.connect(server.url)
      await other.ask('get', { url: '/pet/1' })
      await using hostile = await RawSocket.connect(server.url)
      const ourEnd = server.latest
      act(hostile)
      await server.pets.update(1, { name: 'Max' })
      await other.until((frame) => frame.startsWith('42["pet",'))
      assert.equal((await other.ask('get', { url: '/pet/2' })).statusCode, 200)
      assert.equal(await hostile.closed, code)
      while (!ourEnd.destroyed) await turn()
      assert.equal((await other.ask('get', { url: '/pet/3' })).statusCode, 200)
    })
  }

  test('sends the upgrade request one byte at a time', async () => {
    await using server = await TestServer.open({ headersTimeoutMs: 200 })
    const { port } = await server.service.listen(0)
    await using other = await RawSocket.connect(`http://127.0.0.1:${port}`)
    const slow = connect(port, '127.0.0.1')
    const closed = once(slow, 'close')
    let received = ''
    slow.on('data', (chunk) => {
      received += chunk
    })
    slow.on('error', () => {}) // the connection may be reset while it still sends
    const asking = 'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nX: '
    slow.write(asking)
    const trickle = setInterval(() => slow.write('x'), 10)
    await closed
    clearInterval(trickle)
    assert.match(received, /^HTTP\/1\.1 408 /)
    assert.equal((await other.ask('get', { url: '/pet' })).statusCode, 200)
  })
})

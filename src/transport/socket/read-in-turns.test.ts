import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { blockEventLoop } from '../../../test/support/block-event-loop.ts'
import { RawPolling } from '../../../test/support/raw-polling.ts'
import { startSockets, until } from '../../../test/support/socket-server.ts'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'

/* What several clients send in one piece each, in the same turn of the event loop. */

const clientCount = 6
const requestCount = 400

const maskedFrame = (text: string) =>
  Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
/** Also of the tests before. */
const opened: Socket[] = []
function open(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  opened.push(socket)
  return socket
}
const requests = (client: number): string[] =>
  Array.from({ length: requestCount }, (_, index) => `42${index}["get",{"url":"/${client}/${index}"}]`)

const handshake = (query: string): string =>
  `GET /socket.io/?${query} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

async function openWebSocket(url: string, query: string): Promise<Socket> {
  const socket = open(url)
  socket.write(handshake(query))
  await once(socket, 'data')
  return socket.resume()
}

/** Each opens a client and resolves with a function that sends its requests. */
const transports: Readonly<Record<string, (url: string, client: number) => Promise<() => void>>> = {
  async WebSockets(url, client) {
    const socket = await openWebSocket(url, 'EIO=3&transport=websocket')
    return () => void socket.write(Buffer.concat(requests(client).map(maskedFrame)))
  },
  async 'upgraded long polling'(url, client) {
    const { sid } = await RawPolling.connect(url)
    const socket = await openWebSocket(url, `EIO=4&transport=websocket&sid=${sid}`)
    socket.write(Buffer.concat([maskedFrame('2probe'), maskedFrame('5')]))
    for (let turns = 0; turns < 50; turns++) await turn()
    return () => void socket.write(Buffer.concat(requests(client).map(maskedFrame)))
  },
  async 'long polling'(url, client) {
    const { pathname, search } = new URL((await RawPolling.connect(url)).url)
    const socket = open(url)
    const body = requests(client).join('\x1e')
    const head = `POST ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`
    return () => void socket.resume().write(head + body)
  },
}

describe('one client is read in a turn, and all of it in the order in which it was sent:', () => {
  for (const [name, openClient] of Object.entries(transports))
    test(name, async () => {
      using counter = new TurnCounter()
      const begun = new Map<string, { readonly turn: number; readonly indexes: string[] }>()
      const held: (() => void)[] = []
      let isReleased = false
      const handle = ({ path }: ServiceRequest): ServiceResponse | Promise<ServiceResponse> => {
        const [, client, index] = path.split('/') as [string, string, string]
        const found = begun.get(client) ?? { turn: counter.turn, indexes: [] }
        begun.set(client, found)
        found.indexes.push(index)
        const response = { status: 200, headers: {}, body: 1 }
        if (isReleased) return response
        blockEventLoop(1)
        return new Promise((resolve) => held.push(() => resolve(response)))
      }
      await using server = await startSockets({ handle })
      const clients: (() => void)[] = []
      for (let client = 0; client < clientCount; client++) clients.push(await openClient(server.url, client))
      for (const send of clients) send()
      await until(() => held.length === clientCount * 16)
      isReleased = true
      for (const release of held) release()
      const all = Array.from({ length: requestCount }, (_, index) => String(index))
      await until(() => [...begun.values()].every(({ indexes }) => indexes.length === requestCount))
      for (const socket of opened) socket.destroy()
      for (const { indexes } of begun.values()) assert.deepEqual(indexes, all)
      const turns = [...begun.values()].map(({ turn }) => turn)
      assert.equal(new Set(turns).size, clientCount, `they were read in the turns ${turns}`)
    })
})

test('many clients that connect at once are connected in several turns', async () => {
  const count = 40
  using counter = new TurnCounter()
  const turns: number[] = []
  const connect = (): Disposable => {
    turns.push(counter.turn)
    blockEventLoop(1)
    return { [Symbol.dispose]: () => {} }
  }
  await using server = await startSockets({ connect })
  const sockets = Array.from({ length: count }, () => open(server.url))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (let turns = 0; turns < 2 * count; turns++) await turn() // one is accepted in each
  for (const socket of sockets) socket.resume().write(handshake('EIO=3&transport=websocket'))
  await until(() => turns.length === count)
  for (const socket of sockets) socket.destroy()
  assert.ok(new Set(turns).size > 2, `they were connected in the turns ${turns}`)
})

for (const version of [3, 4] as const)
  test(`a long payload of Engine.IO ${version} is read in several turns`, async () => {
    using counter = new TurnCounter()
    const turns = new Set<number>()
    /** It is asked for each message. */
    const clock = {
      now() {
        turns.add(counter.turn)
        blockEventLoop(0.1)
        return 0
      },
    }
    const paths: string[] = []
    const handle = ({ path }: ServiceRequest): ServiceResponse => {
      paths.push(path)
      return { status: 200, headers: {}, body: 1 }
    }
    await using server = await startSockets({ clock, handle })
    await using polling = await RawPolling.connect(server.url, { version })
    turns.clear()
    await polling.post(...requests(0))
    while (paths.length < requestCount) await polling.poll()
    assert.deepEqual(
      paths,
      Array.from({ length: requestCount }, (_, index) => `/0/${index}`),
    )
    assert.ok(turns.size > 1)
  })

test('short pieces of many clients are read in several turns', async () => {
  const count = 40
  using counter = new TurnCounter()
  const turns = new Map<number, number>()
  let isMeasured = false
  /** It is asked for each message. */
  const clock = {
    now() {
      if (!isMeasured) return 0
      turns.set(counter.turn, (turns.get(counter.turn) ?? 0) + 1)
      blockEventLoop(1)
      return 0
    },
  }
  await using server = await startSockets({ clock })
  const sockets: Socket[] = []
  while (sockets.length < count) sockets.push(await openWebSocket(server.url, 'EIO=3&transport=websocket'))
  isMeasured = true
  const answered = sockets.map((socket) => once(socket, 'data'))
  for (const socket of sockets) socket.write(maskedFrame('2'))
  await Promise.all(answered)
  for (const socket of sockets) socket.destroy()
  assert.ok(Math.max(...turns.values()) <= 20, `${[...turns.values()]}`)
})

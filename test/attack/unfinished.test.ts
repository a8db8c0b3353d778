import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createService, type HttpServer, type Service } from '../../src/index.ts'
import { RawPolling } from '../support/raw-polling.ts'
import { RawSocket } from '../support/raw-socket.ts'

/* Bodies and messages that do not arrive completely, and requests that wait: what they take together is bounded. */

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
const limits = { maxWaitingBytes: 3_000_000 }
const length = 900_000
const part = 'x'.repeat(length - 1)

let service: Service
let server: HttpServer
const disconnected: unknown[] = []
const held: Promise<void>[] = []
/** Ends the actions that wait. */
let release = (): void => {}

before(async () => {
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  service = (await createService({
    models,
    limits,
    database: 'memory:',
    actions: {
      hold: {
        on: 'service',
        transaction: false,
        input: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
        run: () => released,
      },
    },
    onError: (error: unknown) => assert.fail(String(error)),
    logger: {
      info() {},
      warn: (data: unknown) => disconnected.push((data as { limit?: string }).limit),
      error() {},
    },
  } as never)) as never
  server = await service.listen(0)
})
after(async () => {
  release()
  await Promise.all(held)
  await service.close()
})

async function open(bytes: string | Buffer): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  await new Promise((resolve) => socket.write(bytes, resolve))
  return socket
}

interface Refusal {
  readonly statusCode: number
  readonly body: { readonly code: string; readonly limit: string }
}

const post = (path: string, body: string) =>
  fetch(`${server.url}${path}`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })

/** Of eight clients with 0.9 MB each, those that began first are disconnected, and the last ones are not. */
async function expectOldestCutOff(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.slice(0, 5).map((socket) => socket.closed || new Promise((resolve) => socket.on('close', resolve))),
  )
  assert.equal(sockets.at(-1)?.closed, false)
  assert.ok(disconnected.includes('maxWaitingBytes'))
  disconnected.length = 0
  for (const socket of sockets) socket.destroy()
}

describe('clients that do not send the rest are disconnected, the oldest first:', () => {
  test('bodies', async () => {
    const head = `POST /pet HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`
    const sockets: Socket[] = []
    for (let index = 0; index < 8; index++) sockets.push(await open(head + part))
    await expectOldestCutOff(sockets)
    assert.equal((await post('/pet', `{"name":"${'x'.repeat(length)}"}`)).status, 201)
  })

  test('messages of WebSockets', async () => {
    const sockets: Socket[] = []
    const header = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    header.writeUInt32BE(length, 6)
    for (let index = 0; index < 8; index++) {
      const socket = await open(
        'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
          'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      )
      await once(socket, 'data')
      socket.write(Buffer.concat([header, Buffer.from(part)]))
      sockets.push(socket)
    }
    await expectOldestCutOff(sockets)
    await using socket = await RawSocket.connect(server.url)
    const answer = await socket.ask('post', { url: '/pet', data: { name: 'x'.repeat(length) } })
    assert.equal((answer as { statusCode: number }).statusCode, 201)
  })

  test('bodies of long polling', async () => {
    const sessions: RawPolling[] = []
    const sockets: Socket[] = []
    for (let index = 0; index < 8; index++) {
      const polling = await RawPolling.connect(server.url)
      sessions.push(polling)
      const { pathname, search } = new URL(polling.url)
      sockets.push(
        await open(`POST ${pathname}${search} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${part}`),
      )
    }
    await expectOldestCutOff(sockets)
    for (const polling of sessions) await polling[Symbol.asyncDispose]()
  })
})

test('messages of long polling that wait for requests before them count as well: the oldest are cut off', async () => {
  const waiting = `42["post",{"url":"/hold","data":{"text":"${'x'.repeat(900)}"}}]`
  const posts: Promise<number>[] = []
  for (let index = 0; index < 8; index++) {
    const polling = await RawPolling.connect(server.url)
    const body = Array.from({ length: 900 }, () => waiting).join('\x1e')
    posts.push(polling.request({ method: 'POST', body }).then(({ status }) => status))
  }
  assert.deepEqual(await Promise.all(posts.slice(0, 5)), [400, 400, 400, 400, 400])
  assert.equal(await Promise.race([...posts.slice(6), 'waits']), 'waits')
  assert.ok(disconnected.includes('maxWaitingBytes'))
  held.push(...posts.slice(5).map((post) => post.then(() => {})))
})

test('requests that wait for the one before them on their connection count as well: others are cut off', async () => {
  const hold = 'POST /hold HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'
  const sockets: Socket[] = []
  const isOpen = () => sockets.filter(({ closed }) => !closed).length
  for (let index = 0; index < 8; index++)
    sockets.push(await open(hold + 'GET /pet HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(400)))
  while (isOpen() > 4) await new Promise((resolve) => setTimeout(resolve, 1))
  assert.ok(isOpen() > 0)
  assert.ok(disconnected.includes('maxWaitingBytes'))
  disconnected.length = 0
  for (const socket of sockets) socket.destroy()
})

describe('what is executed at once is bounded by what it takes:', () => {
  // 2,000 objects take about 2.3 MB, in 6 kB.
  const list = JSON.stringify(Array.from({ length: 2_000 }, () => ({})))

  test('over HTTP', async () => {
    held.push(post('/hold', list).then(() => {}))
    let status: number | undefined
    while (status !== 503) {
      const response = await Promise.race([post('/pet?count=true', list), once(process, 'never')])
      status = (response as Response).status
      if (status === 503) assert.equal((response as Response).headers.get('retry-after'), '1')
    }
    assert.equal((await post('/pet', '{"name":"short"}')).status, 201)
  })

  test('one that alone takes more is refused for good, also when nothing else is executed', async () => {
    // It would take 4.6 MB.
    const heavy = JSON.stringify(Array.from({ length: 4_000 }, () => ({})))
    await using socket = await RawSocket.connect(server.url)
    const answer = (await socket.ask('post', { url: '/pet?count=true', data: JSON.parse(heavy) })) as Refusal
    const response = await post('/pet?count=true', heavy)
    for (const { status, body } of [
      { status: response.status, body: (await response.json()) as Refusal['body'] },
      { status: answer.statusCode, body: answer.body },
    ])
      assert.deepEqual([status, body.code, body.limit], [413, 'E_BODY_TOO_LARGE', 'maxWaitingBytes'])
    assert.equal(response.headers.get('retry-after'), null)
  })

  test('over HTTP, also in short bodies', async () => {
    // 380 kB, in 991 bytes.
    const short = JSON.stringify(Array.from({ length: 330 }, () => ({})))
    const posts = Array.from({ length: 3 }, () => post('/hold', short))
    held.push(...posts.map((answer) => answer.then(() => {})))
    assert.equal((await Promise.race(posts)).status, 503)
  })

  test('over sockets', async () => {
    await using socket = await RawSocket.connect(server.url)
    const answer = await socket.ask('post', { url: '/pet?count=true', data: JSON.parse(list) })
    assert.equal((answer as { statusCode: number }).statusCode, 503)
    release()
    await Promise.all(held)
    for (let count = 0; count < 2; count++) {
      const { statusCode } = (await socket.ask('post', {
        url: '/pet?count=true',
        data: JSON.parse(list),
      })) as { statusCode: number }
      assert.equal(statusCode, 201, String(count))
    }
    for (let count = 0; count < 2; count++) assert.equal((await post('/pet?count=true', list)).status, 201)
  })
})

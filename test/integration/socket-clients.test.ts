import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { io as io4 } from 'socket.io-client'
import { createService, ServiceError } from '../../src/index.ts'

/* The published clients, with their default options where nothing else is said. */

interface ClientSocket {
  on(event: string, listener: (argument: never) => void): unknown
  once(event: string, listener: (argument: never) => void): unknown
  emit(event: string, ...args: readonly unknown[]): unknown
  disconnect(): unknown
  readonly io: { readonly engine: { readonly transport: { readonly name: string } } }
}
type Connect = (url: string, options?: object) => ClientSocket

interface SailsSocket {
  on(event: string, listener: (argument: never) => void): void
  request(options: object, callback: (body: unknown, response: { readonly statusCode: number }) => void): void
  disconnect(): void
  readonly _raw: ClientSocket
}
interface SailsIo {
  readonly sails: { autoConnect: boolean; environment: string; connect(url: string): SailsSocket }
}

const require = createRequire(import.meta.url)
const io2: Connect = require('socket.io-client-2')

/** Each instance keeps its own settings; the library writes them to the client it is given. */
function sailsIo(name: string): SailsIo {
  const io: SailsIo = require(name)(Object.assign((...args: [string]) => io2(...args), io2))
  io.sails.autoConnect = false
  io.sails.environment = 'production' // without a banner on the console
  return io
}

const serve = (config: object = {}) =>
  createService({ models: { pet: { attributes: { name: { type: 'string' } } } }, database: 'memory:', ...config })

const createPet = async (url: string): Promise<void> => {
  const headers = { 'Content-Type': 'application/json' }
  const { status } = await fetch(`${url}/pet`, { method: 'POST', headers, body: '{"name":"Réx 😀"}' })
  assert.equal(status, 201)
}

const request = (socket: ClientSocket, method: string, url: string, data?: object) =>
  new Promise<{ readonly statusCode: number; readonly body: { readonly id: number; readonly length: number } }>(
    (resolve) => socket.emit(method, { url, data }, resolve),
  )

const event = (socket: Pick<ClientSocket, 'on'>, name: string) =>
  new Promise<{ readonly data: { readonly name: string } }>((resolve) => socket.on(name, resolve))

const clients: readonly [name: string, connect: Connect, options: object | undefined, transport: string][] = [
  ['socket.io-client 4', io4 as unknown as Connect, undefined, 'websocket'],
  ['socket.io-client 4, polling', io4 as unknown as Connect, { transports: ['polling'] }, 'polling'],
  ['socket.io-client 4, websocket', io4 as unknown as Connect, { transports: ['websocket'] }, 'websocket'],
  ['socket.io-client 2', io2, undefined, 'websocket'],
  ['socket.io-client 2, polling', io2, { transports: ['polling'] }, 'polling'],
  ['socket.io-client 2, websocket', io2, { transports: ['websocket'] }, 'websocket'],
]

for (const [name, connect, options, transport] of clients) {
  describe(`${name}:`, () => {
    test('sends requests and receives events, before and after an upgrade', async () => {
      await using service = await serve()
      const { url } = await service.listen(0)
      const socket = connect(url, { forceNew: true, ...options })
      await event(socket, 'connect')
      assert.equal((await request(socket, 'get', '/pet')).statusCode, 200)
      const created = event(socket, 'pet')
      await createPet(url)
      assert.equal((await created).data.name, 'Réx 😀')
      while (socket.io.engine.transport.name !== transport) await request(socket, 'get', '/pet')
      const second = new Promise((resolve) => socket.once('pet', resolve))
      await createPet(url)
      await second
      assert.equal((await request(socket, 'get', '/pet')).body.length, 2)
      socket.disconnect()
    })

    test('reconnects when the service has stopped and started again', async () => {
      const service = await serve()
      const { url, port } = await service.listen(0)
      const socket = connect(url, { forceNew: true, reconnectionDelay: 10, reconnectionDelayMax: 20, ...options })
      await event(socket, 'connect')
      const gone = event(socket, 'disconnect')
      const back = event(socket, 'connect')
      await service.close()
      await using again = await serve()
      await again.listen(port)
      await gone
      await back
      socket.disconnect()
    })
  })
}

describe('a client that `identify` refuses receives the reason:', () => {
  const refusing = {
    auth: {
      identify: () => {
        throw new ServiceError('E_UNAUTHENTICATED', 'The token has been withdrawn')
      },
    },
  }
  for (const [name, connect, options] of clients) {
    test(name, async () => {
      await using service = await serve(refusing)
      const { url } = await service.listen(0)
      const socket = connect(url, { forceNew: true, reconnection: false, ...options })
      let isConnected = false
      socket.on('connect', () => {
        isConnected = true
      })
      if (name.startsWith('socket.io-client 2')) {
        // Clients of version 2 take a connection for the namespace as soon as it is open, and receive the error in it.
        const message = await new Promise((resolve) => socket.on('error', resolve))
        assert.equal(message, 'Not authenticated')
      } else {
        const error = (await event(socket, 'connect_error')) as unknown as Error & { readonly data: object }
        const { status, code, detail } = error.data as Readonly<Record<string, unknown>>
        assert.deepEqual(
          [error.message, status, code, detail],
          ['Not authenticated', 401, 'E_UNAUTHENTICATED', 'The token has been withdrawn'],
        )
      }
      assert.equal(isConnected, false)
      socket.disconnect()
    })
  }
})

describe('own changes reach', () => {
  const verbs = ['created', 'updated', 'destroyed']
  const cases: readonly [mirror: boolean | undefined, received: readonly string[]][] = [
    [undefined, ['updated', 'destroyed']],
    [true, verbs],
    [false, []],
  ]
  for (const [name, connect, options] of clients) {
    for (const [mirror, expected] of cases) {
      test(`${name}, with mirror ${mirror ?? 'by default'}: ${expected.join(', ') || 'none'}`, async () => {
        await using service = await serve(mirror === undefined ? {} : { sockets: { mirror } })
        const { url } = await service.listen(0)
        const received = new Map<ClientSocket, string[]>()
        for (let count = 0; count < 2; count++) {
          const socket = connect(url, { forceNew: true, ...options })
          const events: string[] = []
          socket.on('pet', ({ verb }: { verb: string }) => events.push(verb))
          await event(socket, 'connect')
          await request(socket, 'get', '/pet')
          received.set(socket, events)
        }
        const [[own, ownEvents], [other, otherEvents]] = [...received] as [
          [ClientSocket, string[]],
          [ClientSocket, string[]],
        ]
        const { body } = await request(own, 'post', '/pet', { name: 'Rex' })
        await request(own, 'patch', `/pet/${body.id}`, { name: 'Tom' })
        await request(own, 'delete', `/pet/${body.id}`)
        while (otherEvents.length < verbs.length) await request(other, 'get', '/pet?limit=0')
        await request(own, 'get', '/pet?limit=0')
        assert.deepEqual([ownEvents, otherEvents], [expected, verbs])
        for (const socket of received.keys()) socket.disconnect()
      })
    }
  }
})

for (const name of ['sails.io.js', 'sails.io.js-0.13']) {
  test(`${name} sends requests and receives events`, async () => {
    await using service = await serve()
    const { url } = await service.listen(0)
    const socket = sailsIo(name).sails.connect(url)
    await event(socket, 'connect')
    const statusCode = await new Promise((resolve) =>
      socket.request({ method: 'get', url: '/pet' }, (_, response) => resolve(response.statusCode)),
    )
    assert.equal(statusCode, 200)
    const created = event(socket, 'pet')
    await createPet(url)
    assert.equal((await created).data.name, 'Réx 😀')
    socket.disconnect()
  })
}

test('a page of another origin uses long polling if it is listed', async () => {
  await using service = await serve({ cors: { origins: ['https://app.example'], credentials: true } })
  const { url } = await service.listen(0)
  const polling = `${url}/socket.io/?EIO=4&transport=polling`
  const listed = await fetch(polling, { headers: { Origin: 'https://app.example' } })
  assert.equal(listed.status, 200)
  assert.equal(listed.headers.get('access-control-allow-origin'), 'https://app.example')
  assert.equal(listed.headers.get('access-control-allow-credentials'), 'true')
  const preflight = await fetch(polling, {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-token',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-token')
  const other = await fetch(polling, { headers: { Origin: 'https://evil.example' } })
  assert.deepEqual([other.status, await other.json()], [403, { code: 4, message: 'Forbidden' }])
  assert.equal(other.headers.get('access-control-allow-origin'), null)
})

test('a client on a closed session receives an error, and opens another', async () => {
  await using service = await serve({ limits: { maxQueuedBytes: 1_000 } })
  const { url } = await service.listen(0)
  const socket = io4(url, { forceNew: true, transports: ['polling'], reconnectionDelay: 10 })
  await once(socket as never, 'connect')
  await socket.emitWithAck('get', { url: '/pet' })
  const back = once(socket as never, 'connect')
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${url}/pet`, { method: 'POST', headers, body: JSON.stringify({ name: 'x'.repeat(10_000) }) })
  await back
  assert.equal((await socket.emitWithAck('get', { url: '/pet' })).body.length, 1)
  socket.disconnect()
})

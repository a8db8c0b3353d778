import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { io } from 'socket.io-client'
import type { Service } from '../../src/index.ts'
import { createService } from '../../src/index.ts'
import { MemoryStore } from '../../src/storage/memory/store.ts'
import { anyCharacter } from '../support/any-character.ts'
import { RawSocket, refusedUpgrade } from '../support/raw-socket.ts'
import { describeEvent, Fixture, models, Seed } from './sockets/fixture.ts'

/* What clients send and read, how they reconnect, and the settings of sockets. */

describe('slow clients', () => {
  test('a client that does not read is disconnected, and all others receive every event', async () => {
    await using fixture = await Fixture.open({ limits: { maxQueuedBytes: 200_000 } })
    const seed = await Seed.insert(fixture)
    const clients = [await fixture.client(), await fixture.client()]
    await using slow = await RawSocket.connect(fixture.server.url)
    for (const client of clients) await client.ask('get', seed.fill('/pet/<rex>'))
    await slow.ask('get', { url: seed.fill('/pet/<rex>') })
    slow.ws.pause()
    const rounds = 100
    for (let round = 0; round < rounds; round++) {
      await fixture.http('PATCH', seed.fill('/pet/<rex>'), { name: `${round}${'x'.repeat(100_000)}` })
    }
    for (const client of clients) assert.equal((await fixture.eventsOf(client)).length, rounds)
    slow.ws.resume()
    assert.equal(await slow.closed, 1006)
  })
})

test('invalid messages of one client do not affect others', async () => {
  await using fixture = await Fixture.open()
  const seed = await Seed.insert(fixture)
  const steady = await fixture.client()
  const word = fc.constantFrom('get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'nosuch', '__proto__')
  const path = fc
    .constantFrom(
      '/user',
      '/user/<ann>',
      '/user/<ann>/pets',
      '/pet/<rex>',
      '/pet/update/<rex>',
      '/nosuch',
      '/',
      '//',
      '/%',
      '?',
    )
    .map((text) => seed.fill(text))
  const key = fc.constantFrom('name', 'where', 'limit', 'sort', 'populate', 'owner', 'pets', 'id', '__proto__')
  const data = fc.oneof(fc.dictionary(key, fc.jsonValue()), fc.jsonValue())
  const message = fc.record(
    { url: fc.oneof(path, fc.jsonValue()), data, headers: fc.jsonValue() },
    { requiredKeys: [] },
  )
  const ack = fc.oneof(fc.constant(''), fc.nat().map(String))
  const event = fc
    .tuple(ack, word, fc.oneof(message, fc.jsonValue()))
    .map(([ack, word, message]) => `42${ack}${JSON.stringify([word, message])}`)
  const broken = fc.tuple(event, fc.nat(40)).map(([frame, end]) => frame.slice(0, end))
  const odd = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', '2', '3', '5', '6', '40', '40/x,', '41', '43', '451-[]'),
  )
  const sent = fc.oneof(
    { weight: 8, arbitrary: event },
    { weight: 1, arbitrary: broken },
    { weight: 1, arbitrary: odd },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 30 }), async (frames) => {
      const socket = await RawSocket.connect(fixture.server.url)
      for (const frame of frames) socket.send(frame)
      // The connection is either open or was closed with a code.
      socket.send('2probe')
      await Promise.race([socket.closed, socket.until((frame) => frame === '3probe').catch(() => {})])
      socket.ws.terminate()
      assert.equal((await steady.ask('get', '/mark')).statusCode, 200)
    }),
    { numRuns: 100 },
  )
})

describe('socket.io-client 4', () => {
  test('sends requests and receives events', async () => {
    await using fixture = await Fixture.open()
    const seed = await Seed.insert(fixture)
    const socket = io(fixture.server.url, { transports: ['websocket'], forceNew: true })
    await once(socket as never, 'connect')
    const answer = await socket.emitWithAck('get', { url: seed.fill('/pet/<rex>') })
    assert.equal(answer.statusCode, 200)
    const event = once(socket as never, 'pet')
    await fixture.http('PATCH', seed.fill('/pet/<rex>'), { name: 'x' })
    const [{ verb, data }] = await event
    assert.deepEqual([verb, data.name], ['updated', 'x'])
    const error = once(socket as never, 'sails:parseError')
    socket.emit('get', {})
    assert.equal((await error)[0].status, 400)
    socket.disconnect()
  })

  test('receives an error for another namespace', async () => {
    await using fixture = await Fixture.open()
    const socket = io(`${fixture.server.url}/admin`, { transports: ['websocket'], forceNew: true })
    const [error] = await once(socket as never, 'connect_error')
    assert.equal(error.message, 'Invalid namespace')
    socket.disconnect()
  })
})

describe('reconnecting:', () => {
  const options = { reconnectionDelay: 1, reconnectionDelayMax: 10 }

  /** Stops the service and starts another on the same port. */
  async function restart(fixture: Fixture): Promise<Fixture> {
    const { port } = fixture.server
    await fixture.service.close()
    const service = (await createService({ models, database: 'memory:' })) as unknown as Service
    const server = await service.listen(port)
    return { service, server, [Symbol.asyncDispose]: () => service.close() } as unknown as Fixture
  }

  test('sails.io.js reconnects after the service stopped, without its old subscriptions', async () => {
    const fixture = await Fixture.open()
    const client = await fixture.client({ reconnection: true, ...options })
    const gone = new Promise((resolve) => client.socket.on('disconnect', resolve))
    const back = new Promise((resolve) => client.socket.on('reconnect', resolve))
    await using again = await restart(fixture)
    await gone
    await back
    client.events.length = 0
    const { body } = await client.ask('post', '/pet', { name: 'Rex' })
    await client.ask('get', '/pet?limit=0')
    await fetch(`${again.server.url}/user/create?name=x`)
    await fetch(`${again.server.url}/pet/update/${body.id}?name=x`)
    await client.until((name, { verb }) => name === 'pet' && verb === 'updated')
    assert.deepEqual(client.events, [])
    client.close()
  })

  test('socket.io-client 4 reconnects', async () => {
    const fixture = await Fixture.open()
    const socket = io(fixture.server.url, { transports: ['websocket'], forceNew: true, ...options })
    await once(socket as never, 'connect')
    const gone = once(socket as never, 'disconnect')
    const back = once(socket.io as never, 'reconnect')
    await using _ = await restart(fixture)
    const [reason] = await gone
    assert.equal(reason, 'transport close')
    await back
    assert.equal((await socket.emitWithAck('get', { url: '/pet' })).statusCode, 200)
    socket.disconnect()
  })

  test('the closing frame follows the running responses, also on a connection used for HTTP before', async () => {
    await using fixture = await Fixture.open()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const sent = get(`${fixture.server.url}/pet`, { agent })
    const [response] = await once(sent, 'response')
    ports.add(sent.socket?.localPort)
    response.resume()
    await once(response, 'end')
    await using socket = await RawSocket.open(`${fixture.server.url}/socket.io/?EIO=3&transport=websocket`, {}, agent)
    ports.add((socket.ws as unknown as { _socket: Socket })._socket.localPort)
    assert.equal(ports.size, 1)
    const { snapshot } = MemoryStore.prototype
    let closing: Promise<void> | undefined
    MemoryStore.prototype.snapshot = async function (this: MemoryStore, work) {
      MemoryStore.prototype.snapshot = snapshot
      closing = fixture.service.close()
      await turn()
      return snapshot.call(this, work) as never
    }
    assert.equal((await socket.ask('get', { url: '/pet' })).statusCode, 200)
    assert.equal(await socket.closed, 1001)
    await closing
  })

  test('sails.io.js answers a request itself when the connection is lost', async () => {
    await using fixture = await Fixture.open()
    const client = await fixture.client()
    const { snapshot } = MemoryStore.prototype
    MemoryStore.prototype.snapshot = function (this: MemoryStore) {
      MemoryStore.prototype.snapshot = snapshot
      client.socket._raw.io.engine.close()
      return new Promise(() => {}) as never
    }
    assert.equal((await client.ask('get', '/pet')).statusCode, 0)
  })
})

describe('settings:', () => {
  test('sockets can be turned off', async () => {
    await using fixture = await Fixture.open({ sockets: false })
    assert.equal((await fixture.http('GET', '/__getcookie')).status, 404)
    assert.equal((await refusedUpgrade(`${fixture.server.url}/socket.io/?EIO=3&transport=websocket`)).status, 400)
    const request = { url: '/socket.io/?EIO=3&transport=websocket', headers: {} } as IncomingMessage
    assert.equal(fixture.service.upgrade(request, new PassThrough(), Buffer.alloc(0)), false)
  })

  for (const [mirror, expected] of [
    ['interface', ['pet new updated', 'pet new destroyed']],
    [
      true,
      [
        'user ann addedTo pets new',
        'pet new created',
        'pet new updated',
        'user ann removedFrom pets new',
        'pet new destroyed',
      ],
    ],
    [false, []],
  ] as const) {
    test(`mirror: ${mirror}, the events of its own changes that a client receives`, async () => {
      await using fixture = await Fixture.open({ sockets: { mirror } })
      const seed = await Seed.insert(fixture)
      const client = await fixture.client()
      await client.ask('get', '/user?populate=false')
      await client.ask('get', '/pet?populate=false')
      const { body } = await client.ask('post', '/pet', { name: 'New', owner: seed.ids.get('ann') })
      await client.ask('patch', `/pet/${body.id}`, { name: 'Newer' })
      await client.ask('delete', `/pet/${body.id}`)
      const events = await fixture.eventsOf(client)
      assert.deepEqual(
        events.map((event) => describeEvent(event, seed)),
        expected,
      )
    })
  }

  test('path', async () => {
    await using fixture = await Fixture.open({ sockets: { path: '/live' } })
    const client = await fixture.client({ path: '/live' })
    assert.equal((await client.ask('get', '/pet')).statusCode, 200)
  })

  test('onlyAllowOrigins', async () => {
    await using fixture = await Fixture.open({ sockets: { onlyAllowOrigins: ['https://shop.example'] } })
    const address = `${fixture.server.url}/socket.io/?EIO=3&transport=websocket`
    assert.equal((await refusedUpgrade(address, { Origin: fixture.server.url })).status, 403)
    await using socket = await RawSocket.connect(fixture.server.url, { Origin: 'https://shop.example' })
    // Writing shortcuts are allowed: a link or an image cannot send requests over a socket.
    const { statusCode } = await socket.ask('get', { url: '/pet/create?name=Rex' })
    assert.equal(statusCode, 201)
  })

  test('a message cannot change the origin of its connection', async () => {
    await using fixture = await Fixture.open()
    await using socket = await RawSocket.connect(fixture.server.url, {
      Origin: fixture.server.url,
      'Sec-Fetch-Site': 'cross-site',
    })
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await socket.ask('post', { url: '/pet', data: { name: 'Rex' }, headers })).statusCode, 201)
  })

  test('invalid settings are refused', async () => {
    const wrong: readonly [settings: unknown, message: RegExp][] = [
      [true, /sockets must be an object of settings: .*, or false/],
      [{ transports: ['polling'] }, /there is no setting "sockets\.transports"/],
      [{ mirror: 1 }, /sockets\.mirror must be/],
      [{ path: 'a b' }, /sockets\.path must be a path/],
      [{ onlyAllowOrigins: ['https://shop.example/'] }, /sockets\.onlyAllowOrigins must be a list of origins/],
      [{ onlyAllowOrigins: '*' }, /sockets\.onlyAllowOrigins must be a list of origins/],
    ]
    for (const [sockets, message] of wrong) {
      await assert.rejects(createService({ models, database: 'memory:', sockets: sockets as never }), message)
    }
  })
})

test('the HTTP addresses of sockets are served on the same port', async () => {
  await using fixture = await Fixture.open({ cors: { origins: ['https://app.example'] } })
  const polling = await fetch(`${fixture.server.url}/socket.io/?EIO=3&transport=polling`)
  assert.deepEqual([polling.status, polling.headers.get('x-content-type-options')], [200, 'nosniff'])
  const script = await fetch(`${fixture.server.url}/__getcookie`, { headers: { Origin: 'https://app.example' } })
  assert.equal(script.headers.get('content-type'), 'application/javascript; charset=utf-8')
  assert.equal(script.headers.get('access-control-allow-origin'), 'https://app.example')
  assert.equal(script.headers.get('set-cookie'), null)
  assert.equal(await script.text(), '_sailsIoJSConnect();')
})

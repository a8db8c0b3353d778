import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { LiveQueryPlans } from '../../src/service/live/query-plan.ts'
import { blockEventLoop } from '../support/block-event-loop.ts'
import { LiveTestClient } from '../support/live-client.ts'
import { SailsClient } from '../support/sails-client.ts'

/* Live queries over sockets and in the same process, slow clients, and operations that a new stream reports. */

const models = {
  pet: { attributes: { name: { type: 'string' }, text: { type: 'string' }, owner: { model: 'owner' } } },
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
} as const

/** No heartbeat is sent: nothing may depend on one. */
const clock = { now: Date.now, every: () => ({ [Symbol.dispose]() {} }) }

async function serve(limits: object = {}) {
  const service = await createService({ database: 'sqlite::memory:', models, limits, clock })
  const { url } = await service.listen(0)
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      headers: { 'Content-Type': 'application/json' },
    })
    const answer = (await response.json()) as JsonObject
    return { status: response.status, answer, token: response.headers.get('keelson-operation') ?? '' }
  }
  return { service, url, send, [Symbol.asyncDispose]: () => service.close() }
}

describe('over a socket', () => {
  test('changes of a stream are made in their order, also where reading many queries takes several turns', async (t) => {
    await using served = await serve()
    const socket = await SailsClient.connect(served.url)
    const post = (body: object) => socket.ask('post', '/live', body)
    const many = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, { model: 'pet' }]))
    const { stream } = (await post({ queries: {} })).body
    const { of } = LiveQueryPlans.prototype
    t.mock.method(LiveQueryPlans.prototype, 'of', function (this: LiveQueryPlans, ...given: Parameters<typeof of>) {
      blockEventLoop(10)
      return of.apply(this, given)
    })
    const changes = [{ add: many }, { remove: ['a', 'b', 'c'] }, { add: { a: { model: 'pet' } } }]
    const answers = await Promise.all(changes.map((change) => post({ stream, ...change })))
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [200, 200, 200],
    )
    socket.close()
  })

  test('frames are messages, and the stream is changed by requests of the same socket', async () => {
    await using served = await serve()
    const { url, send } = served
    const socket = await SailsClient.connect(url)
    const client = new LiveTestClient()
    const waiting: (() => void)[] = []
    socket.socket.on('live', (argument) => {
      const { event, ...data } = argument as { readonly event: string } & JsonObject
      client.receive({ event, data })
      for (const check of waiting.splice(0)) check()
    })
    const until = async (isSo: () => boolean) => {
      while (!isSo()) await new Promise<void>((resolve) => waiting.push(resolve))
    }
    const { body } = await socket.ask('post', '/live', { queries: { pets: { model: 'pet', populate: ['owner'] } } })
    await until(() => client.held.size === 1)
    assert.equal(body.stream, client.stream)
    const created = await socket.ask('post', '/pet', { name: 'Rex' })
    const token = created.headers['Keelson-Operation'] ?? assert.fail('no token')
    await until(() => client.operations.has(token))
    assert.deepEqual(
      client.rows('pets')?.map(({ name, owner }) => [name, owner]),
      [['Rex', null]],
    )
    assert.equal(
      (await socket.ask('post', '/live', { stream: client.stream, add: { owners: { model: 'owner' } } })).statusCode,
      200,
    )
    await until(() => client.held.size === 2)
    assert.equal((await send('POST', '/live', { stream: client.stream, add: {} })).status, 404)
    const other = await SailsClient.connect(url)
    assert.equal((await other.ask('post', '/live', { stream: client.stream, add: {} })).statusCode, 404)
    other.close()
    const first = client.stream
    await socket.ask('post', '/live', { queries: { owners: { model: 'owner' } } })
    await until(() => client.stream !== first)
    assert.equal((await socket.ask('post', '/live', { stream: first, add: {} })).statusCode, 404)
    socket.close()
  })
})

describe('in the same process', () => {
  test('an iterator gives the result now and after every change, with embedded records', async () => {
    await using served = await serve()
    const { service } = served
    const { pet, owner } = service.system.records
    await pet.create({ name: 'Rex' })
    await using results = pet.liveQuery({ where: { name: { startsWith: 'R' } }, populate: ['owner'], count: true })
    const next = async () => (await results.next()).value ?? assert.fail('it has ended')
    const first = await next()
    assert.deepEqual([first.rows.map(({ name, owner }) => [name, owner]), first.total], [[['Rex', null]], 1])
    const ann = await owner.create({ name: 'Ann' })
    await pet.update(1, { owner: ann.id })
    assert.deepEqual(
      (await next()).rows.map((row) => row.owner?.name),
      ['Ann'],
    )
    await pet.create({ name: 'Rob' })
    const last = await next()
    assert.deepEqual([last.rows.map(({ name }) => name), last.total], [['Rex', 'Rob'], 2])
  })

  test('bad options are refused, a signal ends it, and closing the service does', async () => {
    await using served = await serve()
    const { pet } = served.service.system.records
    assert.throws(() => pet.liveQuery({ where: { nothing: 1 } } as never), { code: 'E_BAD_CRITERIA' })
    assert.throws(() => pet.liveQuery({ cursor: 'x' } as never), { code: 'E_BAD_CRITERIA' })
    const abort = new AbortController()
    const ended = pet.liveQuery({ signal: abort.signal })
    await ended.next()
    const pending = ended.next()
    abort.abort()
    assert.deepEqual(await pending, { value: undefined, done: true })
    const closed = pet.liveQuery()
    await closed.next()
    const last = closed.next()
    await served.service.close()
    assert.equal((await last).done, true)
  })

  test('closing the service ends an iterator that is about to begin', async () => {
    for (let turns = 0; turns < 30; turns++) {
      const service = await createService({ database: 'sqlite::memory:', models })
      const closing = service.close()
      // At some of these turns it connects while the streams are stopped.
      for (let count = 0; count < turns; count++) await undefined
      const results = service.system.records.pet.liveQuery()
      const read = async () => {
        for await (const _ of results);
      }
      await read().catch((error) => assert.equal(error.code, 'E_UNAVAILABLE', error))
      await closing
    }
  })

  test('a slow loop receives the last result only', async () => {
    await using served = await serve({ maxQueuedBytes: 2_000 })
    const { pet } = served.service.system.records
    await using results = pet.liveQuery()
    await results.next()
    for (let count = 0; count < 30; count++) await pet.create({ name: `${count}`, text: 'x'.repeat(200) })
    let seen = 0
    for (let size = 0; size < 30; seen++)
      size = (await results.next()).value?.rows.length ?? assert.fail('it has ended')
    assert.ok(seen < 15, `${seen} results`)
  })
})

describe('a stream', () => {
  test('of a client that does not read drops its frames, and starts anew with `reset`', async () => {
    await using served = await serve({ maxQueuedBytes: 20_000 })
    const { url, send, service } = served
    const { pet } = service.system.records
    await using quick = await LiveTestClient.open(url, { pets: { model: 'pet', limit: 200 } })
    const abort = new AbortController()
    const slow = await fetch(`${url}/live`, {
      method: 'POST',
      body: JSON.stringify({ queries: { pets: { model: 'pet', limit: 200 }, owners: { model: 'owner' } } }),
      signal: abort.signal,
      headers: { 'Content-Type': 'application/json' },
    })
    for (let count = 0; count < 5; count++) await pet.create({ name: `${count}` })
    // More than the buffers of the system and of fetch hold.
    for (let count = 0; count < 600; count++)
      await pet.update(1 + (count % 5), { name: `${count}`, text: 'x'.repeat(100_000) })
    const { token } = await send('POST', '/owner', { name: 'last' })
    const isCurrent = (client: LiveTestClient) =>
      client.operations.has(token) && client.rows('pets')?.[4]?.name === '599'
    await quick.until(() => isCurrent(quick))
    await using client = await LiveTestClient.attach(slow, abort)
    await client.until(() => isCurrent(client))
    assert.ok(client.frames.some(({ event }) => event === 'reset'))
    assert.deepEqual(client.rows('pets'), quick.rows('pets'))
    assert.deepEqual(client.rows('owners')?.length, 1)
  })

  test('whose frames are dropped sends no difference to rows that its client does not hold', async () => {
    await using served = await serve({ maxQueuedBytes: 5_000 })
    const { service, url } = served
    const { pet } = service.system.records
    const query = { model: 'pet', limit: 200 }
    await using quick = await LiveTestClient.open(url, { pets: query })
    // All of them share one computation.
    const queries = Object.fromEntries(Array.from({ length: 10 }, (_, number) => [`q${number}`, query]))
    const send = (target: string, init: RequestInit) => service.fetch(new Request(target, { ...init, signal: null }))
    await using slow = await LiveTestClient.open(url, queries, {}, new Map(), undefined, undefined, send)
    await slow.until(() => slow.held.size === 10)
    for (let round = 1; round <= 3; round++) {
      slow.stall(true)
      for (let count = 0; count < 20; count++) await pet.create({ name: `${count}`, text: 'x'.repeat(200 + count) })
      await quick.until(() => quick.rows('pets')?.length === 20 * round)
      slow.stall(false)
      await slow.until(() => Object.keys(queries).every((name) => slow.rows(name)?.length === 20 * round))
      for (const name of Object.keys(queries)) assert.deepEqual(slow.rows(name), quick.rows('pets'))
    }
    assert.ok(slow.frames.some(({ event }) => event === 'reset'))
    await service.close() // ends the streams
  })

  test('reports operations that were committed before it was opened, or before they were asked for', async () => {
    await using served = await serve()
    const { url, send } = served
    const { token } = await send('POST', '/pet', { name: 'early' })
    await using client = await LiveTestClient.open(url, { pets: { model: 'pet' } }, {}, new Map(), ['unknown', token])
    await client.until(() => client.operations.has(token) && client.operations.has('unknown'))
    assert.equal(client.rows('pets')?.length, 1)
    assert.equal(client.frames.find(({ event }) => event === 'rows')?.data.key, 'id')
    await send('POST', '/live', { stream: client.stream, operations: ['later'] })
    await client.until(() => client.operations.has('later'))
    for (const operations of [1, [1], ['x'.repeat(65)], Array(1_001).fill('x')]) {
      const { status, answer } = await send('POST', '/live', { stream: client.stream, operations })
      assert.deepEqual([status, answer.code], [400, 'E_BAD_BODY'])
    }
  })

  test('names the query of a refusal', async () => {
    await using served = await serve()
    const { answer } = await served.send('POST', '/live', { queries: { a: { model: 'pet' }, b: { model: 'cow' } } })
    assert.equal(answer.query, 'b')
  })

  test('of too many queries refuses those above the limit, by the name of the first of them', async () => {
    await using served = await serve({ maxLiveQueries: 2 })
    const [a, b, c] = [{ model: 'pet' }, { model: 'owner' }, { model: 'pet', limit: 1 }]
    const opened = await served.send('POST', '/live', { queries: { a, b, c } })
    assert.deepEqual([opened.status, opened.answer.limit, opened.answer.query], [400, 'maxLiveQueries', 'c'])
    await using client = await LiveTestClient.open(served.url, { a })
    const added = await served.send('POST', '/live', { stream: client.stream, add: { b, c } })
    assert.deepEqual([added.status, added.answer.query], [400, 'c'])
    assert.equal((await served.send('POST', '/live', { stream: client.stream, add: { b } })).status, 200)
    await client.until(() => client.held.size === 2)
  })
})

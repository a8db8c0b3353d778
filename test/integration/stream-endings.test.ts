import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { StreamClient } from '../support/event-stream.ts'
import { manualClock, Served } from './streams/served.ts'

const big = 'x'.repeat(200_000)

/** Writes until so much has been written that no buffer on the way can hold it. */
async function flood({ pets }: Served, count = 100): Promise<void> {
  for (let index = 0; index < count; index++) await pets.create({ name: `${index}`, notes: big as Json })
}

describe('a reader that is too slow', () => {
  test('receives `reset` when it reads again, and the connection ends', async () => {
    await using served = await Served.open({ limits: { maxQueuedBytes: 1_000_000 } })
    await using stream = await StreamClient.open(served.server.port, '/pet', { paused: true })
    await using healthy = await served.ready('/pet')
    await flood(served)
    assert.equal((await healthy.take(100)).length, 100)
    stream.resume()
    const events = await stream.rest()
    assert.ok(events.length < 100)
    assert.deepEqual([events[0]?.event, events.at(-1)?.event], ['ready', 'reset'])
    const received = events.slice(1, -1).map(({ data }) => (data.data as JsonObject).name)
    assert.deepEqual(
      received,
      received.map((_, index) => `${index}`),
    )
    assert.ok(stream.isWhole)
    // After the position of `reset` no event is missing.
    const { id } = events.at(-1) ?? {}
    await using again = await StreamClient.ready(served.server.port, '/pet', { 'last-event-id': id as string })
    await served.pets.create({ name: 'last' })
    const { data } = await again.next()
    assert.notEqual((data.data as JsonObject).name, received.at(-1))
    await Promise.all([stream.close(), healthy.close(), again.close()])
  })

  test('is disconnected when it reads nothing at all', async () => {
    const clock = manualClock()
    await using served = await Served.open({ clock, limits: { streamIdleTimeoutMs: 50 } })
    const stream = await StreamClient.open(served.server.port, '/pet', { paused: true })
    while (clock.due.size === 0) await new Promise((resolve) => setImmediate(resolve))
    await flood(served)
    while (clock.due.size > 0) await new Promise((resolve) => setImmediate(resolve))
    stream.resume()
    await stream.closed
    assert.ok(!stream.isWhole)
  })

  test('does not delay a stop', async () => {
    const clock = manualClock()
    await using served = await Served.open({ clock, limits: { stopTimeoutMs: 600_000 } })
    await using _ = await StreamClient.open(served.server.port, '/pet', { paused: true })
    while (clock.due.size === 0) await new Promise((resolve) => setImmediate(resolve))
    await flood(served)
    await served.server.stop()
    while (clock.due.size > 0) await new Promise((resolve) => setImmediate(resolve))
  })

  test('receives a burst that it can take', async () => {
    await using served = await Served.open({ limits: { maxQueuedBytes: 1_000_000 } })
    await using stream = await served.ready('/pet')
    // All at once, so that the log is read in one piece.
    await Promise.all(Array.from({ length: 40 }, (_, index) => served.pets.create({ name: `${index}`, notes: big })))
    assert.equal((await stream.take(40)).length, 40)
  })
})

describe('a stop', () => {
  test('ends the streams of a server with `restart`, and waits for none', async () => {
    await using served = await Served.open()
    const streams = await Promise.all(['/pet', '/owner', '/pet?kind=cat'].map((path) => served.ready(path)))
    await served.server.stop()
    for (const stream of streams) {
      const events = await stream.rest()
      assert.deepEqual(
        events.map(({ event }) => event),
        ['restart'],
      )
      assert.ok(stream.isWhole)
      await stream.close()
    }
  })

  test('ends the streams of a service that is mounted in another server', async () => {
    const served = await Served.open()
    const server = createServer((request, response) => {
      Object.assign(request, { originalUrl: request.url, url: request.url?.replace('/api', '') })
      served.service.handler(request, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await using stream = await StreamClient.ready(port, '/api/pet')
    await served.pets.create({ name: 'Rex' })
    assert.equal((await stream.next()).event, 'created')
    await served[Symbol.asyncDispose]()
    assert.deepEqual(
      (await stream.rest()).map(({ event }) => event),
      ['restart'],
    )
    await stream.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})

test('a runtime with Request and Response', async () => {
  await using served = await Served.open({ limits: { maxStreams: 1 } })
  const ask = (method = 'GET') =>
    served.service.fetch(new Request('http://test/pet', { method, headers: { accept: 'text/event-stream' } }))
  const head = await ask('HEAD')
  assert.deepEqual([head.status, await head.text()], [200, ''])
  const response = await ask()
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const read = async () => new TextDecoder().decode((await reader.read()).value)
  assert.match(await read(), /^retry: 2000\nevent: ready\n/)
  await served.pets.create({ name: 'Rex' })
  assert.match(await read(), /^event: created\n/)
  assert.equal((await ask()).status, 503)
  const waiting = reader.read()
  await reader.cancel()
  assert.deepEqual(await waiting, { done: true, value: undefined })
  const again = await ask()
  assert.equal(again.status, 200)
  const rest = again.text()
  await served.service.close()
  assert.match(await rest, /event: restart\n/)
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/protocol/json.ts'
import { asOtherProgram, newFile } from '../support/sqlite.ts'
import { manualClock, Served } from './streams/served.ts'

const stamp = '2026-01-01T00:00:00.000Z'

describe('a request for a stream', () => {
  test('the first bytes contain the delay and the id for reconnecting', async () => {
    await using served = await Served.open()
    await using stream = await served.ready('/pet')
    assert.deepEqual(
      { ...stream.headers, date: undefined, connection: undefined, 'keep-alive': undefined },
      {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
        'x-content-type-options': 'nosniff',
        'transfer-encoding': 'chunked',
        vary: 'Accept',
        date: undefined,
        connection: undefined,
        'keep-alive': undefined,
      },
    )
    const id = stream.lastEventId
    assert.equal(stream.body, `retry: 2000\nevent: ready\nid: ${id}\ndata: {"position":"${id}"}\n\n`)
  })

  for (const [accept, isStream] of [
    ['text/event-stream', true],
    ['Text/Event-Stream', true],
    ['text/event-stream;q=0.9, */*;q=0.5', true],
    ['*/*, text/event-stream', true],
    ['application/json, text/event-stream', false],
    ['text/event-stream;q=0.1, application/json', false],
    ['text/event-stream;q=0', false],
    ['text/event-stream;q=0.5, */*', false],
    ['*/*', false],
    ['text/*', false],
    ['application/json', false],
  ] as const) {
    test(`Accept: ${accept} has ${isStream ? 'a stream' : 'records'} as response`, async () => {
      await using served = await Served.open()
      const response = await served.get('/pet', { accept })
      const type = response.headers.get('content-type')?.split(';')[0]
      assert.equal(type, isStream ? 'text/event-stream' : 'application/json')
      assert.equal(response.headers.get('vary'), 'Accept')
      await response.body?.cancel()
    })
  }

  for (const [what, path, status, code] of [
    ['a limit', '/pet?limit=3', 400, 'E_BAD_REQUEST'],
    ['skip', '/pet?skip=3', 400, 'E_BAD_REQUEST'],
    ['sort', '/pet?sort=name', 400, 'E_BAD_REQUEST'],
    ['a cursor', '/pet?cursor=x', 400, 'E_BAD_REQUEST'],
    ['a selection', '/pet?select=name', 400, 'E_BAD_REQUEST'],
    ['populate', '/pet?populate=owner', 400, 'E_BAD_REQUEST'],
    ['a count', '/pet?count=true', 400, 'E_BAD_REQUEST'],
    ['two positions to resume from', '/pet?lastEventId=a&lastEventId=b', 400, 'E_BAD_REQUEST'],
    ['a condition on one record', '/pet/1?name=Rex', 400, 'E_BAD_REQUEST'],
    ['a condition on others', '/pet?where={"owner":{"name":"Ann"}}', 400, 'E_BAD_CRITERIA'],
    ['one that hides', '/owner?where={"or":[{"not":{"pets":{"name":"Rex"}}}]}', 400, 'E_BAD_CRITERIA'],
    ['an attribute that is not there', '/pet?colour=red', 400, 'E_BAD_CRITERIA'],
    ['a condition that is no JSON', '/pet?where={', 400, 'E_BAD_CRITERIA'],
    ['a record that is not there', '/pet/77', 404, 'E_NO_SUCH_RECORD'],
    ['a key that no record has', '/pet/x', 404, 'E_NO_SUCH_RECORD'],
    ['a model that is not there', '/nosuch', 404, 'E_NO_SUCH_ROUTE'],
  ] as const) {
    test(`${what} is refused`, async () => {
      await using served = await Served.open()
      const response = await served.get(path)
      assert.equal(response.status, status)
      assert.equal(response.headers.get('content-type')?.split(';')[0], 'application/problem+json')
      assert.equal(((await response.json()) as JsonObject).code, code)
    })
  }

  test('parameters in the body are used like those of the query string', async () => {
    await using served = await Served.open()
    const headers = { host: 'localhost', accept: 'text/event-stream' }
    for (const [body, code] of [
      [{ colour: 'red' }, 'E_BAD_CRITERIA'],
      [{ limit: 1 }, 'E_BAD_REQUEST'],
      [[1], 'E_BAD_BODY'],
    ] as const) {
      const request = { method: 'GET', path: '/pet', query: '', headers, site: 'none', body: body as never } as const
      const { status, body: problem } = await served.service.handle(request)
      assert.deepEqual([status, (problem as JsonObject).code], [400, code])
    }
  })

  test('a condition in the body is as short as one in the URL: thousands of streams keep theirs', async () => {
    await using served = await Served.open({ limits: { maxUrlBytes: 1_000 } })
    for (const [length, expected] of [
      [900, [200, undefined]],
      [1_000, [413, 'maxUrlBytes']],
    ] as const) {
      const headers = { host: 'localhost', accept: 'text/event-stream' }
      const body = { where: { name: 'x'.repeat(length) } }
      const request = { method: 'GET', path: '/pet', query: '', headers, site: 'none', body } as const
      const { status, body: problem, stream } = await served.service.handle(request)
      assert.deepEqual([status, (problem as JsonObject | undefined)?.limit], expected)
      await stream?.[Symbol.asyncIterator]().return?.()
    }
  })

  test('other URLs have their usual response', async () => {
    await using served = await Served.open()
    const { id } = await served.owners.create({ name: 'Ann' })
    const made = await served.get('/pet', { 'content-type': 'application/json' }, 'POST')
    assert.equal(made.status, 201)
    const related = await served.get(`/owner/${id}/pets`)
    assert.equal(related.headers.get('content-type'), 'application/json; charset=utf-8')
    await Promise.all([made.body?.cancel(), related.body?.cancel()])
  })

  test('HEAD responds with the headers, and opens no stream', async () => {
    await using served = await Served.open({ limits: { maxStreams: 1 } })
    for (const path of ['/pet', '/pet', '/pet']) {
      const response = await served.get(path, {}, 'HEAD')
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.equal(response.headers.get('content-length'), null)
      assert.equal(await response.text(), '')
    }
    assert.equal((await served.get('/pet/9', {}, 'HEAD')).status, 404)
  })

  test('shortcuts have streams as well, and a cache-buster is ignored', async () => {
    await using served = await Served.open()
    const { id } = await served.pets.create({ name: 'Rex' })
    const streams = [await served.ready('/pet/find?_=123'), await served.ready(`/pet/find/${id}`)]
    await served.pets.update(id as number, { name: 'Max' })
    for (const stream of streams) {
      assert.equal((await stream.next()).event, 'updated')
      await stream.close()
    }
  })

  test('changes by other programs have events', async () => {
    const path = newFile()
    await using served = await Served.open({ database: `sqlite:${path}` })
    await using stream = await served.ready('/pet')
    let written = 0
    const write = () =>
      asOtherProgram(
        path,
        `insert into pet (name, "createdAt", "updatedAt") values ('${++written}', '${stamp}', '${stamp}')`,
      )
    write()
    const writing = setInterval(write, 100)
    const received = await stream.take(3)
    clearInterval(writing)
    assert.deepEqual(
      received.map(({ verb, data }) => [verb, (data as JsonObject).name]),
      ['1', '2', '3'].map((name) => ['created', name]),
    )
  })

  test('pages of an origin in cors may read it', async () => {
    await using served = await Served.open({ cors: { origins: ['https://app.test'] } })
    const response = await served.get('/pet', { origin: 'https://app.test' })
    assert.equal(response.headers.get('access-control-allow-origin'), 'https://app.test')
    await response.body?.cancel()
  })
})

describe('a connection without events', () => {
  test('receives heartbeats with the position of the feed', async () => {
    const clock = manualClock()
    await using served = await Served.open({ clock })
    await using stream = await served.ready('/pet')
    const ready = stream.lastEventId
    // A stream that received an event shows that the feed has come that far.
    const owners = await served.ready('/owner')
    clock.pass()
    await served.owners.create({ name: 'Ann' })
    await owners.next()
    await served.owners.create({ name: 'Bea' })
    const last = (await owners.next()).id
    assert.notEqual(last, ready)
    clock.pass()
    await served.pets.create({ name: 'Rex' })
    await stream.next()
    const blocks = stream.body.split('\n\n').slice(1)
    assert.equal(blocks[0], `:\nid: ${ready}`)
    assert.equal(blocks[1], `:\nid: ${last}`)
    assert.match(blocks[2] ?? '', /^event: created/)
    await stream.close()
    await owners.close()
  })

  test('has no heartbeat after it is closed', async () => {
    const clock = manualClock()
    await using served = await Served.open({ clock, limits: { maxStreams: 1 } })
    for (let round = 0; round < 3; round++) {
      await using stream = await served.ready('/pet')
      assert.equal((await served.get('/pet')).status, 503)
      await stream.close()
      while (clock.due.size > 0) await new Promise((resolve) => setImmediate(resolve))
    }
  })
})

test('above maxStreams a stream is refused, with the name of the limit', async () => {
  await using served = await Served.open({ limits: { maxStreams: 2 } })
  const streams = [await served.ready('/pet'), await served.ready('/owner')]
  const refused = await served.get('/pet')
  assert.equal(refused.status, 503)
  assert.equal(refused.headers.get('retry-after'), '10')
  const problem = (await refused.json()) as JsonObject
  assert.deepEqual([problem.code, problem.limit], ['E_UNAVAILABLE', 'maxStreams'])
  await Promise.all(streams.map((stream) => stream.close()))
})

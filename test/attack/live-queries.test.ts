import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { assertDefined } from '../../src/support/assert.ts'
import { EventLoopTurn } from '../../src/support/event-loop-turn.ts'
import { LiveTestClient } from '../support/live-client.ts'

/* Clients of live queries that try to use up the service: each is refused by a named limit, and others are served. */

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string' }, age: { type: 'number' }, owner: { model: 'owner' } } },
} as const

async function serve(limits: object = {}) {
  const errors: unknown[] = []
  const service = await createService({
    database: 'sqlite::memory:',
    models,
    limits,
    onError: (error) => errors.push(error),
  })
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
  return { service, url, send, errors, [Symbol.asyncDispose]: () => service.close() }
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}

const windows = (count: number): Record<string, JsonObject> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, number) => [
      `q${number}`,
      { model: 'pet', sort: 'age', limit: 1 + number, skip: 1, populate: ['owner'], count: true },
    ]),
  )

test('requests with many queries that arrive together are read in several turns of the event loop', async () => {
  await using served = await serve()
  const body = JSON.stringify({ queries: { ...windows(99), last: { model: 'none' } } })
  const headers = { 'Content-Type': 'application/json' }
  const ask = () => served.service.fetch(new Request('http://localhost/live', { method: 'POST', headers, body }))
  await ask()
  const perTurn = new Map<number, number>()
  let turn = 0
  const next = (): void => {
    turn++
    immediate = setImmediate(next)
  }
  let immediate = setImmediate(next)
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const { status } = await ask()
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
      return status
    }),
  )
  clearImmediate(immediate)
  assert.deepEqual(new Set(statuses), new Set([400]))
  assert.ok(Math.max(...perTurn.values()) < 50, `${[...perTurn.values()]}`)
})

test('many queries of one request are read in several turns of the event loop, also those of a stream that is open', async (t) => {
  await using served = await serve()
  await using client = await LiveTestClient.open(served.url, windows(1))
  const many = windows(150)
  t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => true)
  const turns = t.mock.method(EventLoopTurn.prototype, 'next', async () => {}).mock
  for (const body of [{ queries: many }, { stream: client.stream, remove: ['q0'], add: many }]) {
    turns.resetCalls()
    const { status, answer } = await served.send('POST', '/live', body)
    assert.deepEqual([status, answer.limit], [400, 'maxLiveQueries'])
    // Each is parsed in one, and planned in another.
    assert.ok(turns.callCount() > 290, `${turns.callCount()} turns`)
  }
})

test('a stream that ends while queries to add are read keeps none of them', async (t) => {
  await using served = await serve({ maxLiveRows: 100 })
  const { url, send } = served
  const client = await LiveTestClient.open(url, windows(1))
  t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => true)
  let left = 20
  t.mock.method(EventLoopTurn.prototype, 'next', async () => {
    if (--left === 0) await client[Symbol.asyncDispose]()
    if (left === 0) await new Promise((resolve) => setTimeout(resolve, 100))
  })
  const { status } = await send('POST', '/live', {
    stream: client.stream,
    add: Object.fromEntries(Object.entries(windows(90)).slice(1)),
  })
  t.mock.restoreAll()
  assert.equal(status, 404)
  await using other = await LiveTestClient.open(url, windows(1))
  await eventually(async () => other.frames.some(({ data }) => data.query === 'q0'))
  assert.deepEqual(other.rows('q0'), [])
})

describe('is refused with the name of the limit', () => {
  test('thousands of queries of one stream, at once and added', async () => {
    await using served = await serve()
    const { url, send } = served
    const { status, answer } = await send('POST', '/live', { queries: windows(1_000) })
    assert.deepEqual([status, answer.limit], [400, 'maxLiveQueries'])
    await using client = await LiveTestClient.open(url, windows(60))
    const more = Object.fromEntries(Object.entries(windows(60)).map(([name, query]) => [`more ${name}`, query]))
    assert.equal((await send('POST', '/live', { stream: client.stream, add: more })).answer.limit, 'maxLiveQueries')
  })

  test('operations to wait for, by the thousand', async () => {
    await using served = await serve()
    await using client = await LiveTestClient.open(served.url, { a: { model: 'pet' } })
    const operations = Array.from({ length: 1_001 }, () => 'x')
    const { status, answer } = await served.send('POST', '/live', { stream: client.stream, operations })
    assert.deepEqual([status, answer.code], [400, 'E_BAD_BODY'])
  })

  test('a long list of queries to remove is not searched for each query', async (t) => {
    await using served = await serve()
    await using client = await LiveTestClient.open(served.url, windows(100))
    const { includes } = Array.prototype
    t.after(() => {
      Array.prototype.includes = includes
    })
    let searches = 0
    Array.prototype.includes = function (...given) {
      if (this.length >= 10_000) searches++
      return includes.apply(this, given)
    }
    const remove = Array.from({ length: 10_000 }, (_, index) => `none${index}`)
    assert.equal((await served.send('POST', '/live', { stream: client.stream, remove })).status, 200)
    assert.equal(searches, 0)
  })

  for (const [what, queries] of [
    ['a stream that has passed them', {}],
    ['a stream whose queries are not read yet', { a: { model: 'pet' }, b: { model: 'pet', limit: 1 } }],
  ] as const)
    test(`a client that reads nothing and waits for ever more operations, on ${what}, is disconnected`, async () => {
      await using served = await serve({ maxQueuedBytes: 5_000 })
      const { service, send } = served
      await service.system.records.pet.create({ name: 'x'.repeat(5_000) })
      const headers = { 'Content-Type': 'application/json' }
      const body = JSON.stringify({ queries })
      const response = await service.fetch(new Request('http://localhost/live', { method: 'POST', headers, body }))
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const opened = Buffer.from((await reader.read()).value as Uint8Array).toString()
      const stream = /"stream":"(.*?)"/.exec(opened)?.[1]
      const operations = Array.from({ length: 1_000 }, (_, index) => `x${index}`)
      const statuses = new Set<number>()
      for (let round = 0; round < 50; round++)
        statuses.add((await send('POST', '/live', { stream, operations })).status)
      assert.deepEqual([...statuses], [200, 404])
      await reader.cancel()
    })

  test('more streams than there may be; one that ends gives its place back', async () => {
    await using served = await serve({ maxStreams: 3 })
    const { url, send } = served
    for (let round = 0; round < 5; round++) {
      const clients: LiveTestClient[] = []
      while (clients.length < 3)
        await LiveTestClient.open(url, { a: { model: 'pet' } }).then(
          (client) => clients.push(client),
          () => {},
        )
      const { status, answer } = await send('POST', '/live', { queries: {} })
      assert.deepEqual([status, answer.limit], [503, 'maxStreams'])
      await Promise.all(clients.map((client) => client.close()))
      // The server notices an end a moment later.
      await eventually(async () => {
        const three = await Promise.all([1, 2, 3].map(() => LiveTestClient.open(url, {}).catch(() => undefined)))
        await Promise.all(three.map((client) => client?.close()))
        return three.every((client) => client !== undefined)
      })
    }
  })

  test('results of more rows than may be held, for new queries only', async () => {
    await using served = await serve({ maxLiveRows: 20 })
    const { service, url } = served
    for (let age = 0; age < 30; age++) await service.system.records.pet.create({ name: `p${age}`, age })
    await using first = await LiveTestClient.open(url, { all: { model: 'pet', limit: 100 } })
    await first.until(() => first.rows('all')?.length === 30)
    await using second = await LiveTestClient.open(url, { all: { model: 'pet', limit: 50 } })
    await second.until(() => second.frames.some(({ event }) => event === 'failed'))
    const failed = second.frames.find(({ event }) => event === 'failed')?.data
    const { status, limit } = (failed?.error ?? {}) as JsonObject
    assert.deepEqual([failed?.query, status, limit, failed?.retryAfter], ['all', 503, 'maxLiveRows', 10])
    await service.system.records.pet.update(1, { name: 'changed' })
    await first.until(() => first.rows('all')?.[0]?.name === 'changed')
  })

  test('long conditions count as rows, for each stream, and a stream that ends gives them back', async () => {
    // A stream has about 2,700 characters of conditions: 109 rows.
    await using served = await serve({ maxLiveRows: 200 })
    const { url } = served
    const long = { model: 'pet', where: { name: { in: Array.from({ length: 300 }, (_, n) => `n${n}`) } } }
    const failedOf = async (client: LiveTestClient) => {
      await client.until(
        () => client.rows('long') !== undefined || client.frames.some(({ event }) => event === 'failed'),
      )
      return client.frames.find(({ event }) => event === 'failed')?.data.error as JsonObject | undefined
    }
    const first = await LiveTestClient.open(url, { long })
    assert.equal(await failedOf(first), undefined)
    await using second = await LiveTestClient.open(url, { long })
    assert.equal(await failedOf(second), undefined)
    await using third = await LiveTestClient.open(url, { long })
    assert.equal((await failedOf(third))?.limit, 'maxLiveRows')
    await first.close()
    await eventually(async () => {
      await using again = await LiveTestClient.open(url, { long })
      return (await failedOf(again)) === undefined
    })
  })

  test('what a client holds counts as rows from when it is sent, also while the stream is not read', async () => {
    await using served = await serve({ maxLiveRows: 5_000, maxQueuedBytes: 1_000 })
    const { service } = served
    for (let age = 0; age < 20; age++) await service.system.records.pet.create({ name: 'x'.repeat(100), age })
    const after = await service.changes.head()
    const ids = Array.from({ length: 200 }, (_, id) => id)
    const queries = Object.fromEntries(
      Array.from({ length: 15 }, (_, n) => [`q${n}`, { model: 'pet', limit: 20 + n, after, ids }]),
    )
    const open = async () => {
      const request = {
        method: 'POST',
        path: '/live',
        query: '',
        body: { queries },
        headers: {},
        site: 'none',
      } as const
      const { stream } = await service.handle(request)
      const pieces = assertDefined(stream, 'no stream')[Symbol.asyncIterator]()
      const first = String((await pieces.next()).value)
      return { failed: first.split('event: failed').length - 1, end: () => pieces.return?.() }
    }
    // Nothing more is read of them than the first piece.
    const streams = [await open(), await open(), await open()]
    assert.equal(streams[0]?.failed, 0)
    assert.ok((streams[2]?.failed as number) > 0)
    for (const { end } of streams) await end()
    const again = await open()
    assert.equal(again.failed, 0)
    await again.end()
  })

  test('a result that is larger than an answer may be: the query fails, and the stream goes on', async () => {
    await using served = await serve({ maxAnswerBytes: 5_000 })
    const { service, url } = served
    const { pet, owner } = service.system.records
    await using client = await LiveTestClient.open(url, {
      large: { model: 'pet', populate: ['owner'] },
      small: { model: 'pet', limit: 2 },
    })
    await client.until(() => client.held.size === 2)
    const ann = await owner.create({ name: 'x'.repeat(4_800) })
    await pet.create({ name: 'Rex', owner: ann.id })
    await client.until(
      () => client.frames.some(({ event }) => event === 'failed') && client.rows('small')?.length === 1,
    )
    await pet.create({ name: 'Tom' })
    await client.until(() => client.rows('small')?.length === 2)
    assert.deepEqual(served.errors, [])
  })
})

test('a stream with a hundred costly queries does not keep another one from its rows', async () => {
  await using served = await serve()
  const { url, send, service } = served
  for (let age = 0; age < 200; age++) await service.system.records.pet.create({ name: `p${age}`, age })
  await using greedy = await LiveTestClient.open(url, windows(100))
  await greedy.until(() => greedy.held.size === 100)
  await using modest = await LiveTestClient.open(url, {
    top: { model: 'pet', sort: 'age', limit: 3, populate: ['owner'] },
  })
  await modest.until(() => modest.held.size === 1)
  for (let round = 0; round < 5; round++) {
    const { token } = await send('POST', '/pet', { name: 'young', age: -1 - round })
    await modest.until(() => modest.operations.has(token))
    assert.equal(modest.rows('top')?.[0]?.age, -1 - round)
    await greedy.until(() => greedy.operations.has(token))
  }
})

test('clients that come and go at any moment leave nothing behind', async () => {
  await using served = await serve({ maxStreams: 500 })
  const { url, send, service } = served
  const opening = Array.from({ length: 60 }, async (_, number) => {
    const abort = new AbortController()
    setTimeout(() => abort.abort(), number % 20)
    const response = await fetch(`${url}/live`, {
      method: 'POST',
      body: JSON.stringify({ queries: windows(10) }),
      headers: { 'Content-Type': 'application/json' },
      signal: abort.signal,
    }).catch(() => undefined)
    await response?.text().catch(() => undefined)
  })
  for (let age = 0; age < 30; age++) await service.system.records.pet.create({ name: 'x', age })
  await Promise.all(opening)
  assert.equal((await send('GET', '/pet?limit=1')).status, 200)
  assert.deepEqual(served.errors, [])
})

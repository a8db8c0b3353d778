import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ClientOptions,
  createClient,
  type LiveSnapshot,
  NetworkError,
  type RequestError,
} from '../../src/client.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string' }, rank: { type: 'number' } } },
} as const

function clientOf(fake: FakeService, options: ClientOptions = {}) {
  return createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 5], ...options })
}

describe('live queries', () => {
  test('rows follow every change, and the snapshot stays the same object between them', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    fake.write({ id: 2, title: 'b', lane: 'done' })
    using api = clientOf(fake)
    const todo = api.card.live({ where: { lane: 'todo' }, sort: 'title DESC' })
    assert.deepEqual([todo.rows, todo.status], [[], 'catching-up'])
    const frames: LiveSnapshot<object>[] = []
    todo.subscribe((snapshot) => frames.push(snapshot))
    await todo.ready
    assert.equal(todo.status, 'live')
    assert.equal(todo.getSnapshot(), todo.getSnapshot())
    const [first] = todo.rows
    const titles = () => todo.rows.map(({ title }) => title)
    fake.write({ id: 3, title: 'c', lane: 'todo' })
    await eventually(() => assert.deepEqual(titles(), ['c', 'a']))
    assert.equal(todo.rows[1], first, 'an unchanged row stays the same object')
    fake.write({ id: 1, title: 'x', lane: 'todo' })
    await eventually(() => assert.deepEqual(titles(), ['x', 'c']))
    fake.write({ id: 2, title: 'b', lane: 'todo' })
    fake.write({ id: 3, gone: true })
    await eventually(() => assert.deepEqual(titles(), ['x', 'b']))
    assert.equal(frames.at(-1), todo.getSnapshot())
    assert.equal(new Set(frames).size, frames.length)
  })

  test('a value may contain characters that end a line elsewhere', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const title = 'a\u2028event: restart\u2029data: b\u0085\v\fid: c\r'
    fake.write({ id: 1, title })
    await eventually(() => assert.equal(cards.rows[0]?.title, title))
    assert.equal(fake.requests.length, 1)
  })

  test('all queries share one stream, which ends with the last one', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    using api = clientOf(fake)
    const first = api.card.live()
    const second = api.card.live({ where: { lane: 'todo' } })
    await Promise.all([first.ready, second.ready])
    const third = api.card.live({ where: { lane: 'done' } })
    await third.ready
    second.close()
    fake.write({ id: 1, title: 'b', lane: 'done' })
    await eventually(() => assert.equal(third.rows.length, 1))
    assert.deepEqual([first.rows[0]?.title, second.rows[0]?.title], ['b', 'a'])
    assert.equal(fake.streams, 1)
    const live = fake.requests
      .filter(({ line }) => line === 'POST /live')
      .map(({ body }) => Object.keys(body as object))
    assert.deepEqual(live.slice(0, 2), [['queries'], ['stream', 'add', 'remove', 'operations']])
    first.close()
    third.close()
    await eventually(() => assert.equal(fake.streams, 0))
  })

  for (const [name, cut] of [
    ['a broken connection', (fake: FakeService) => fake.cut()],
    ['a service that restarts', (fake: FakeService) => fake.cut('restart')],
  ] as const) {
    test(`${name} is continued at its position, without a gap`, async () => {
      await using fake = await FakeService.start()
      for (const id of [1, 2, 3]) fake.write({ id, title: `t${id}`, lane: 'todo' })
      using api = clientOf(fake)
      const cards = api.card.live({ sort: 'title' })
      await cards.ready
      const frames: string[][] = []
      const errors: unknown[] = []
      cards.subscribe(({ rows, error }) => {
        frames.push(rows.map(({ title }) => String(title)))
        if (error) errors.push(error)
      })
      fake.isDown = true
      cut(fake)
      await eventually(() => assert.equal(cards.status, 'offline'))
      fake.write({ id: 2, gone: true })
      fake.write({ id: 1, title: 'z', lane: 'todo' })
      fake.write({ id: 4, title: 't4', lane: 'todo' })
      fake.isDown = false
      await eventually(() => assert.equal(cards.status, 'live'))
      await eventually(() =>
        assert.deepEqual(
          cards.rows.map(({ title }) => title),
          ['t3', 't4', 'z'],
        ),
      )
      const last = fake.requests.findLast(({ line }) => line === 'POST /live')?.body as {
        queries: { q1: { ids: number[] } }
      }
      assert.deepEqual(last.queries.q1.ids, [1, 2, 3])
      assert.ok(
        frames.every((frame) => frame.length === 3),
        'no frame is empty',
      )
      assert.ok(
        errors.every((error) => error instanceof NetworkError),
        'also of a stream that breaks',
      )
    })
  }

  for (const [name, keys, maxBody] of [
    ['that fit into no request', 25_000, undefined],
    ['of which the service takes none', 10, 400],
  ] as const)
    test(`a broken connection is continued with keys ${name}`, async () => {
      await using fake = await FakeService.start()
      for (let id = 1; id <= keys; id++) fake.rows.set(10_000_000 + id, { id: 10_000_000 + id, title: 'a' })
      using api = clientOf(fake)
      const lists = [1, 2, 3].map(() => api.card.live())
      await Promise.all(lists.map(({ ready }) => ready))
      const errors: unknown[] = []
      lists[0]?.subscribe(({ error }) => error && !(error instanceof NetworkError) && errors.push(error))
      fake.maxBody = maxBody ?? 1_048_576 / 3
      fake.isDown = true
      fake.cut()
      await eventually(() => assert.equal(lists[2]?.status, 'offline'))
      fake.write({ id: 1, title: 'b' })
      fake.isDown = false
      await eventually(() => assert.deepEqual(new Set(lists.map(({ status }) => status)), new Set(['live'])))
      assert.deepEqual(
        lists.map(({ rows }) => [rows.length, rows[0]?.title]),
        lists.map(() => [keys + 1, 'b']),
      )
      assert.deepEqual(errors, [])
      const last = fake.requests.findLast(({ line }) => line === 'POST /live')?.body as { queries: object }
      const continued = Object.values(last.queries).map((query) => 'ids' in query)
      assert.deepEqual(continued, [maxBody === undefined, false, false])
    })

  test('a position that is gone is read anew, and the old rows are shown until then', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const lengths: number[] = []
    cards.subscribe(({ rows }) => lengths.push(rows.length))
    fake.forget()
    fake.cut()
    await eventually(() => assert.ok(fake.requests.length > 1 && fake.streams === 1))
    fake.write({ id: 2, title: 'b' })
    await eventually(() => assert.equal(cards.rows.length, 2))
    assert.ok(!lengths.includes(0))
  })

  test('without bytes for the time of the heartbeat the stream is opened again', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake, { heartbeatTimeoutMs: 50 })
    const cards = api.card.live()
    await cards.ready
    await eventually(() => assert.ok(fake.requests.length >= 3))
    fake.write({ id: 2, title: 'b' })
    await eventually(() => assert.equal(cards.rows.length, 2))
  })

  test('a service that cannot be reached is offline, until it can', async () => {
    const fake = await FakeService.start()
    const { url } = fake
    await fake[Symbol.asyncDispose]()
    using api = createClient<{ models: typeof models }>({ url, retryDelayMs: [1, 5] })
    const cards = api.card.live()
    await eventually(() => assert.equal(cards.status, 'offline'))
    assert.ok(cards.getSnapshot().error instanceof NetworkError)
  })

  for (const answer of [
    [404, 'text/html'],
    [401, 'application/json'],
    [403, 'text/plain'],
    [405, 'text/html'],
    [200, 'text/html'],
  ] as const) {
    test(`an address that answers ${answer.join(' ')} is reported, and tried again`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a' })
      fake.proxyAnswer = answer
      using api = clientOf(fake)
      const cards = api.card.live()
      const message = `${fake.url}/live answered ${answer.join(' ')}`
      await assert.rejects(cards.ready, { status: answer[0], message })
      assert.equal(cards.status, 'offline')
      assert.equal(cards.getSnapshot().error?.message, message)
      fake.proxyAnswer = undefined
      await eventually(() => assert.deepEqual([cards.status, cards.rows.length], ['live', 1]))
      assert.equal(cards.getSnapshot().error, undefined)
      assert.equal(fake.streams, 1)
    })
  }

  for (const status of [429, 500, 502, 503, 504]) {
    test(`the first rows are waited for through answers ${status}`, async () => {
      await using fake = await FakeService.start()
      fake.proxyAnswer = [status, 'text/html']
      using api = clientOf(fake)
      const cards = api.card.live()
      await eventually(() => assert.equal((cards.getSnapshot().error as RequestError | undefined)?.status, status))
      fake.proxyAnswer = undefined
      await cards.ready
      assert.equal(cards.status, 'live')
    })
  }

  for (const [retryAfter, isWaited] of [
    ['3600', true],
    ['99999999999', true],
    ['Wed, 21 Oct 2015 07:28:00 GMT', false],
  ] as const)
    test(`a refused connection is made again after the time that the service names: ${retryAfter}`, async () => {
      await using fake = await FakeService.start()
      fake.proxyAnswer = [503, 'text/html', retryAfter]
      using api = clientOf(fake)
      const cards = api.card.live()
      await eventually(() => assert.equal(cards.status, 'offline'))
      await sleep(100)
      assert.equal(fake.requests.length === 1, isWaited)
      fake.proxyAnswer = undefined
      // A new query does not wait.
      await api.card.live().ready
      await cards.ready
    })

  test('whatever a token function rejects with, the connection is made again', async () => {
    await using fake = await FakeService.start()
    let calls = 0
    using api = clientOf(fake, { token: () => (++calls === 1 ? Promise.reject() : 'secret') })
    const cards = api.card.live()
    await cards.ready
    assert.equal(calls, 2)
  })

  test('a query that is opened as soon as the last one is closed has a connection of its own', async () => {
    await using fake = await FakeService.start()
    for (let turns = 0; turns < 5; turns++) {
      using api = clientOf(fake, { retryDelayMs: [60_000, 60_000] })
      const first = api.card.live()
      await first.ready
      first.close()
      for (let turn = 0; turn < turns; turn++) await undefined
      const second = api.card.live()
      const statuses: string[] = []
      second.subscribe(({ status }) => statuses.push(status))
      await second.ready
      assert.deepEqual(statuses, ['live'])
    }
  })

  test('a query may be closed at any moment while its stream opens', async () => {
    await using fake = await FakeService.start()
    for (let turns = 0; turns < 20; turns++) {
      const answered = Promise.withResolvers<void>()
      const fetchSlowly: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        // The first messages are there when the response is.
        await fake.sent()
        answered.resolve()
        return response
      }
      using api = clientOf(fake, { fetch: fetchSlowly })
      const first = api.card.live()
      await answered.promise
      for (let turn = 0; turn < turns; turn++) await undefined
      first.close()
      await undefined
      await api.card.live().ready
    }
  })

  test('a new query does not wait for the delay after a failure', async () => {
    await using fake = await FakeService.start()
    fake.proxyAnswer = [401, 'text/html']
    using api = clientOf(fake, { retryDelayMs: [60_000, 60_000] })
    const first = api.card.live()
    await assert.rejects(first.ready, { status: 401 })
    fake.proxyAnswer = undefined
    const later = api.card.live()
    await later.ready
    assert.deepEqual([first.status, later.status], ['live', 'live'])
  })

  test('a query that is refused ends alone', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = createClient({ url: fake.url, retryDelayMs: [1, 5] })
    const [bad, good] = [api.records.dog?.live(), api.records.card?.live()]
    await assert.rejects(bad?.ready as Promise<void>, { code: 'E_BAD_CRITERIA', status: 400 })
    await good?.ready
    assert.equal(bad?.status, 'offline')
    const later = api.records.dog?.live()
    const beside = api.records.card?.live({ where: { id: 1 } })
    await assert.rejects(later?.ready as Promise<void>, { code: 'E_BAD_CRITERIA' })
    await beside?.ready
    assert.deepEqual([good?.status, beside?.status, beside?.rows.length], ['live', 'live', 1])
    assert.equal(fake.streams, 1)
  })

  for (const retryAfter of [0.02, undefined])
    test(`a query that fails for the moment continues after the time that the service names, or a short one: ${retryAfter}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a' })
      using api = clientOf(fake)
      const [cards, others] = [api.card.live(), api.card.live({ where: { id: 2 } })]
      await Promise.all([cards.ready, others.ready])
      const snapshots: LiveSnapshot<object>[] = []
      cards.subscribe((snapshot) => snapshots.push(snapshot))
      fake.failQuery('q1', { status: 503, code: 'E_UNAVAILABLE' }, retryAfter)
      fake.write({ id: 1, title: 'b' })
      await eventually(() => assert.deepEqual([cards.status, cards.rows[0]?.title], ['live', 'b']))
      assert.deepEqual(
        snapshots.map(({ status, rows }) => [status, rows.length]),
        [
          ['offline', 1],
          ['live', 1],
        ],
      )
      const error = snapshots[0]?.error as RequestError
      assert.deepEqual([error.status, error.code, cards.getSnapshot().error], [503, 'E_UNAVAILABLE', undefined])
      assert.deepEqual([others.status, fake.streams], ['live', 1])
    })

  test('a query that fails again and again leaves no listeners', async () => {
    await using fake = await FakeService.start()
    let stream: AbortSignal | undefined
    // Without the signal: Node's `fetch` keeps listeners of its own.
    const fetchWithoutSignal: typeof fetch = (input, { signal, ...init } = {}) => {
      stream = signal as AbortSignal
      return fetch(input, init)
    }
    using api = clientOf(fake, { fetch: fetchWithoutSignal })
    const cards = api.card.live()
    await cards.ready
    const statuses: string[] = []
    cards.subscribe(({ status }) => statuses.push(status))
    for (const times of [1, 2, 3]) {
      fake.failQuery('q1', { status: 503, code: 'E_UNAVAILABLE' })
      await eventually(() => assert.equal(statuses.length, 2 * times))
    }
    assert.deepEqual(new Set(statuses), new Set(['offline', 'live']))
    assert.deepEqual(getEventListeners(stream as AbortSignal, 'abort'), [])
    fake.cut()
  })

  test('a query that failed for the moment waits while others are added, and is part of the next stream', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const [first, second] = [api.card.live(), api.card.live({ limit: 1 })]
    await Promise.all([first.ready, second.ready])
    for (const name of ['q1', 'q2']) fake.failQuery(name, { status: 503, code: 'E_UNAVAILABLE' }, 3_600)
    await eventually(() => assert.deepEqual([first.status, second.status], ['offline', 'offline']))
    second.close()
    const third = api.card.live({ limit: 2 })
    await third.ready
    assert.deepEqual([first.status, third.status], ['offline', 'live'])
    fake.cut('restart')
    await eventually(() => assert.deepEqual([first.status, third.status], ['live', 'live']))
  })

  test('a query that fails for good ends alone', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const [bad, good] = [api.card.live(), api.card.live({ limit: 1 })]
    await Promise.all([bad.ready, good.ready])
    fake.failQuery('q1', { status: 400, code: 'E_BAD_CRITERIA' })
    await eventually(() => assert.equal(bad.status, 'offline'))
    const error = bad.getSnapshot().error as RequestError
    assert.equal(error.status, 400)
    assert.equal(good.status, 'live')
  })

  test('a query that is closed before its first rows rejects what waits for them', async () => {
    await using fake = await FakeService.start()
    const api = clientOf(fake)
    const [one, other] = [api.card.live(), api.card.live()]
    one.close()
    await assert.rejects(one.ready, /closed/)
    api.close()
    await assert.rejects(other.ready, /closed/)
  })

  test('a change that is never answered ends with its stream', async () => {
    await using fake = await FakeService.start()
    let isLost = false
    using api = clientOf(fake, {
      fetch: (url, init) => {
        if (!isLost || !String(init?.body).includes('"stream"')) return fetch(url, init)
        isLost = false
        return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
      },
    })
    await api.card.live().ready
    isLost = true
    const second = api.card.live()
    await eventually(() => assert.ok(!isLost))
    fake.cut()
    await second.ready
    await api.card.live({ limit: 1 }).ready
    assert.equal(fake.streams, 1)
  })

  test('a query that was refused does not put the writes of its model in offline mode', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake, { outbox: true })
    await api.card.live().ready
    fake.refusedLimit = -1
    const refused = api.card.live({ limit: -1 })
    await assert.rejects(refused.ready, { code: 'E_BAD_CRITERIA' })
    await api.card.update(1, { title: 'b' })
    assert.ok(!fake.requests.some(({ line }) => line.startsWith('GET')))
  })

  test('a query above the limit of a stream ends alone', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const queries = [1, 2].map((limit) => api.card.live({ limit }))
    await Promise.all(queries.map(({ ready }) => ready))
    fake.refusedLimit = 3
    const [third, fourth] = [api.card.live({ limit: 3 }), api.card.live({ limit: 4 })]
    await assert.rejects(third.ready, { code: 'E_BAD_CRITERIA' })
    await fourth.ready
    assert.deepEqual(
      [...queries, fourth].map(({ status }) => status),
      ['live', 'live', 'live'],
    )
  })

  test('a stream that another process does not have is opened again', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    await api.card.live().ready
    fake.forgetStreams()
    const later = api.card.live()
    await later.ready
    fake.write({ id: 1, title: 'a' })
    await eventually(() => assert.equal(later.rows.length, 1))
  })

  test('a listener that throws is reported, and neither the other queries nor a write notice it', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    const [broken, other] = [api.card.live(), api.card.live()]
    await Promise.all([broken.ready, other.ready])
    await using reported = unhandledRejections()
    broken.subscribe(({ rows }) => {
      throw new TypeError(`cannot render ${rows.length}`)
    })
    api.outbox.subscribe(() => {
      throw new TypeError(`cannot count ${api.outbox.size}`)
    })
    fake.write({ id: 2, title: 'b' })
    await eventually(() => assert.equal(other.rows.length, 2))
    const created = await api.card.create({ title: 'c' }, { optimistic: true })
    assert.equal(created.id, 3)
    await eventually(() => assert.equal(other.rows.length, 3))
    assert.deepEqual([broken.status, other.status, broken.rows.length, fake.streams], ['live', 'live', 3, 1])
    await eventually(() => {
      for (const message of ['cannot render 2', 'cannot count 1'])
        assert.ok(reported.messages.includes(message), message)
    })
  })
})

/** What the runtime reports instead of failing the test. */
function unhandledRejections() {
  const event = 'unhandledRejection'
  const usual = process.listeners(event)
  const messages: string[] = []
  process.removeAllListeners(event)
  process.on(event, (error) => messages.push((error as Error).message))
  return {
    messages,
    async [Symbol.asyncDispose]() {
      // They are reported after the promises of their turn.
      await sleep(5)
      process.removeAllListeners(event)
      for (const listener of usual) process.on(event, listener)
    },
  }
}

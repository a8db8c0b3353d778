import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientOptions, ConflictError, createClient, NetworkError, type RequestError } from '../../src/client.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string' }, rank: { type: 'number' } } },
} as const
const clientOf = (fake: FakeService, options: ClientOptions = {}) =>
  createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 5], outbox: true, ...options })

const writesOf = (fake: FakeService) =>
  fake.requests.filter(({ line }) => /^(POST|PATCH|DELETE) \/card/.test(line)).map(({ line }) => line)

/** A storage whose functions return promises, as one over IndexedDB. */
class Storage {
  readonly items = new Map<string, string>()
  getItem = async (key: string) => this.items.get(key)
  setItem = async (key: string, value: string) => void this.items.set(key, value)
}

const optimistic = { optimistic: true }

describe('writes that are made offline', () => {
  for (const status of [429, 502, 503, 504])
    test(`are kept when a gateway answers ${status}`, async () => {
      await using fake = await FakeService.start()
      using api = clientOf(fake)
      fake.proxyAnswer = [status, 'text/html']
      const creating = api.card.create({ title: 'a' })
      await eventually(() => assert.ok(writesOf(fake).length >= 2))
      assert.equal(api.outbox.size, 1)
      fake.proxyAnswer = undefined
      assert.equal((await creating).title, 'a')
      assert.equal(fake.performed, 1)
    })

  test('are sent again, with the same key, while the first one is still being executed', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake, { outbox: { onConflict: () => assert.fail('it is no conflict') } })
    fake.isExecuting = true
    const creating = api.card.create({ title: 'a' })
    await eventually(() => assert.ok(writesOf(fake).length >= 2))
    fake.isExecuting = false
    assert.equal((await creating).title, 'a')
    assert.equal(new Set(fake.requests.map(({ headers }) => headers['idempotency-key'])).size, 1)
    assert.equal(fake.performed, 1)
  })

  test('are shown at once, sent in their order on return, and refer to records that they created', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    using api = clientOf(fake)
    const cards = api.card.live({ sort: 'title' })
    await cards.ready
    fake.isDown = true
    fake.cut()
    await eventually(() => assert.equal(cards.status, 'offline'))
    const creating = api.card.create({ title: 'b', lane: 'todo' }, optimistic)
    const temporary = cards.rows[1]?.id as number
    const writes = [
      creating,
      api.card.update(1, { lane: 'done' }, optimistic),
      api.card.update(temporary, { lane: 'done' }, optimistic),
      api.card.create({ title: 'c', lane: String(temporary) }, optimistic),
      api.card.destroy(1, optimistic),
    ]
    assert.deepEqual(
      cards.rows.map(({ title, lane }) => [title, lane]),
      [
        ['b', 'done'],
        ['c', String(temporary)],
      ],
    )
    assert.equal(api.outbox.size, 5)
    fake.isDown = false
    await Promise.all(writes)
    assert.equal(api.outbox.size, 0)
    assert.deepEqual([...new Set(writesOf(fake))], ['POST /card', 'PATCH /card/1', 'PATCH /card/2', 'DELETE /card/1'])
    assert.deepEqual(
      [...fake.rows.values()].map(({ id, title, lane }) => [id, title, lane]),
      [
        [2, 'b', 'done'],
        [3, 'c', 2],
      ],
    )
    await eventually(() =>
      assert.deepEqual(
        cards.rows.map(({ id }) => id),
        [2, 3],
      ),
    )
  })

  test('writes of many records, upserts and batches are not kept', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    fake.isDown = true
    const writes = [
      api.card.createMany([{ title: 'a' }]),
      api.card.updateMany({ where: { lane: 'todo' } }, { lane: 'done' }),
      api.card.destroyMany({ where: { lane: 'todo' } }),
      api.card.upsert('id', { id: 1, title: 'a' }),
      api.batch((tx) => [tx.card.create({ title: 'a' })]),
    ]
    assert.equal(api.outbox.size, 0)
    for (const { status, ...outcome } of await Promise.allSettled<unknown>(writes)) {
      assert.equal(status, 'rejected')
      assert.ok('reason' in outcome && outcome.reason instanceof NetworkError)
    }
  })

  test('a write without an answer is repeated with its key, and performed once', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    for (const failure of ['before', 'after'] as const) {
      fake.breakNext = failure
      await api.card.create({ title: failure })
    }
    assert.deepEqual(
      [...fake.rows.values()].map(({ title }) => title),
      ['before', 'after'],
    )
    const keys = fake.requests.map(({ headers }) => headers['idempotency-key'])
    assert.equal(keys.length, 4)
    assert.equal(new Set(keys).size, 2)
  })

  test('a kept write is sent again after the delay, or when a stream opens', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake, { retryDelayMs: [60_000, 60_000] })
    const broken = Promise.withResolvers<void>()
    fake.breakNext = 'before'
    fake.beforeBreak = broken.resolve
    const creating = api.card.create({ title: 'a' })
    await broken.promise
    await fake.sent()
    assert.equal(fake.performed, 0)
    api.card.live()
    assert.equal((await creating).title, 'a')
  })

  test('a kept write is sent again after the time that the service names, or when a stream opens', async () => {
    await using fake = await FakeService.start()
    fake.proxyAnswer = [429, 'text/html', '3600']
    using api = clientOf(fake)
    const creating = api.card.create({ title: 'a' })
    await eventually(() => assert.equal(fake.requests.length, 1))
    await sleep(100)
    assert.equal(fake.requests.length, 1)
    fake.proxyAnswer = undefined
    api.card.live()
    assert.equal((await creating).title, 'a')
  })

  test('a write is kept when the server of the token cannot be reached, and refused when there is no token', async () => {
    await using fake = await FakeService.start()
    let error: Error | undefined = new TypeError('fetch failed')
    const token = async () => {
      if (!error) return 'x'
      const thrown = error
      error = undefined
      throw thrown
    }
    using api = clientOf(fake, { token })
    assert.equal((await api.card.create({ title: 'a' })).title, 'a')
    error = new Error('signed out')
    await assert.rejects(api.card.create({ title: 'b' }), /signed out/)
  })

  test('a create whose answer was lost is not shown beside its record', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const lengths = new Set<number>()
    cards.subscribe(({ rows }) => lengths.add(rows.length))
    fake.breakNext = 'after'
    await api.card.create({ title: 'a' }, optimistic)
    await eventually(() => assert.equal(cards.rows[0]?.id, 1))
    assert.deepEqual([...lengths], [1])
  })

  test('without an outbox they are rejected and withdrawn', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake, { outbox: false })
    const cards = api.card.live()
    await cards.ready
    fake.isDown = true
    const writing = api.card.create({ title: 'a' }, optimistic)
    assert.equal(cards.rows.length, 1)
    await assert.rejects(writing, NetworkError)
    assert.equal(cards.rows.length, 0)
  })

  test('a storage keeps them beyond the page', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    const storage = new Storage()
    {
      using api = clientOf(fake, { outbox: { storage } })
      fake.isDown = true
      const lost = [api.card.update(1, { title: 'x' }), api.card.create({ title: 'b' })]
      for (const write of lost) write.catch(() => {})
      await eventually(() => assert.equal(JSON.parse(storage.items.get('keelson') ?? '[]').length, 2))
    }
    fake.isDown = false
    using api = clientOf(fake, { outbox: { storage } })
    const third = api.card.create({ title: 'c' })
    assert.equal((await third).id, 3)
    assert.deepEqual(
      [...fake.rows.values()].map(({ title }) => title),
      ['x', 'b', 'c'],
    )
    await eventually(() => assert.equal(storage.items.get('keelson'), '[]'))
  })

  test('close ends the outbox: nothing more is sent or saved', async () => {
    await using fake = await FakeService.start()
    const storage = new Storage()
    const [answer, closed] = [Promise.withResolvers<void>(), clientOf(fake, { outbox: { storage } })]
    fake.beforeAnswer = () => answer.promise
    const answered = closed.card.create({ title: 'a' })
    await eventually(() => assert.equal(fake.performed, 1))
    fake.breakNext = 'before'
    closed.card.create({ title: 'b' }).catch(() => {})
    await eventually(() => assert.deepEqual([fake.breakNext, closed.outbox.size], [undefined, 2]))
    const saved = storage.items.get('keelson')
    assert.equal(JSON.parse(saved as string).length, 2)
    closed.close()
    answer.resolve()
    assert.equal((await answered).title, 'a')
    await assert.rejects(closed.card.create({ title: 'c' }), { name: 'AbortError' })
    await fake.sent()
    assert.deepEqual([fake.performed, storage.items.get('keelson')], [1, saved])
    using next = clientOf(fake, { outbox: { storage } })
    await eventually(() => assert.equal(storage.items.get('keelson'), '[]'))
    assert.deepEqual([fake.performed, next.outbox.size], [2, 0])
  })

  test('a storage that is slow ends with the latest writes, and keeps their headers', async () => {
    await using fake = await FakeService.start()
    fake.isDown = true
    const storage = new Storage()
    const first = Promise.withResolvers<void>()
    let calls = 0
    const slow = {
      getItem: storage.getItem,
      setItem: async (key: string, value: string) => {
        if (++calls === 1) await first.promise
        await storage.setItem(key, value)
      },
    }
    const api = clientOf(fake, { outbox: { storage: slow }, retryDelayMs: [60_000, 60_000] })
    for (const title of ['a', 'b']) api.card.create({ title }, { headers: { 'X-Tenant': title } }).catch(() => {})
    await eventually(() => assert.ok(fake.dropped > 0))
    first.resolve()
    await eventually(() => assert.equal(JSON.parse(storage.items.get('keelson') ?? '[]').length, 2))
    api.close()
    fake.isDown = false
    using later = clientOf(fake, { outbox: { storage } })
    await eventually(() => assert.equal(fake.performed, 2))
    assert.deepEqual(
      fake.requests.map(({ headers }) => headers['x-tenant']),
      ['a', 'b'],
    )
    await eventually(() => assert.equal(later.outbox.size, 0))
  })

  test('a refusal of a write of an earlier page is reported', async () => {
    await using fake = await FakeService.start()
    const storage = new Storage()
    const write = { kind: 'create', model: 'card', id: 'x', values: { title: 'b' }, key: 'k', state: 'kept' }
    storage.items.set('cards', JSON.stringify([write]))
    fake.refuseWith = 400
    const refused: unknown[] = []
    using api = clientOf(fake, {
      outbox: {
        storage,
        key: 'cards',
        onRefused: (error, { kind, values }) => refused.push([(error as RequestError).status, kind, values]),
      },
    })
    await eventually(() => assert.deepEqual(refused, [[400, 'create', { title: 'b' }]]))
    assert.equal(api.outbox.size, 0)
    storage.items.set('cards', 'no JSON')
    using later = clientOf(fake, { outbox: { storage, key: 'cards' } })
    assert.equal((await later.card.create({ title: 'c' })).id, 1)
  })
})

describe('a write of a displayed record whose answer was lost', () => {
  for (const place of ['online', 'offline', 'by an earlier page'] as const)
    for (const kind of ['update', 'destroy'] as const)
      test(`has taken place once: ${kind}, sent ${place}`, async () => {
        await using fake = await FakeService.start()
        fake.write({ id: 1, title: 'a', lane: 'todo' })
        const storage = new Storage()
        const first = clientOf(fake, { outbox: { storage } })
        const cards = first.card.live()
        await cards.ready
        if (place !== 'online') {
          fake.isDown = true
          fake.cut()
          await eventually(() => assert.equal(cards.status, 'offline'))
        }
        const writing = kind === 'update' ? first.card.update(1, { title: 'x' }) : first.card.destroy(1)
        const refusals: unknown[] = []
        fake.breakNext = 'after'
        fake.beforeBreak = () => {
          fake.isDown = place === 'by an earlier page'
        }
        fake.isDown = false
        if (place === 'by an earlier page') {
          writing.catch(() => {})
          await eventually(() => assert.ok(fake.isDown && fake.performed === 1))
          const saved = new Storage()
          saved.items.set('keelson', storage.items.get('keelson') as string)
          first.close()
          fake.isDown = false
          using later = clientOf(fake, { outbox: { storage: saved, onRefused: (error) => refusals.push(error) } })
          await eventually(() => assert.equal(saved.items.get('keelson'), '[]'))
          assert.equal(later.outbox.size, 0)
        } else assert.equal((await writing).title, kind === 'update' ? 'x' : 'a')
        first.close()
        assert.deepEqual([fake.performed, refusals], [1, []])
      })

  test('and was overwritten since is no conflict', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    const asked: unknown[] = []
    using api = clientOf(fake, { outbox: { onConflict: (mine) => void asked.push(mine) } })
    await api.card.live().ready
    fake.breakNext = 'after'
    fake.beforeBreak = () => fake.write({ id: 1, title: 'theirs' })
    assert.equal((await api.card.update(1, { title: 'mine' })).title, 'mine')
    assert.deepEqual([asked, fake.rows.get(1)?.title], [[], 'theirs'])
  })

  test('is a conflict if it has not taken place, and the decided values have another key', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake, {
      outbox: { onConflict: (mine, theirs) => ({ title: `${theirs?.title} and ${mine.values.title}` }) },
    })
    await api.card.live().ready
    fake.breakNext = 'before'
    fake.beforeBreak = () => fake.write({ id: 1, title: 'theirs' })
    assert.equal((await api.card.update(1, { title: 'mine' })).title, 'theirs and mine')
    const keys = new Set(fake.requests.map(({ headers }) => headers['idempotency-key']).filter(Boolean))
    assert.equal(keys.size, 2)
  })
})

describe('conflicts of writes that were made offline', () => {
  test('the If-Match of the caller is sent as it is, and its refusal is the error', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    const asked: unknown[] = []
    using api = clientOf(fake, { outbox: { onConflict: (mine) => void asked.push(mine) } })
    await api.card.live().ready
    const headers = { 'if-match': '"old"' }
    await assert.rejects(api.card.update(1, { lane: 'done' }, { headers }), { status: 412 })
    fake.breakNext = 'before'
    await assert.rejects(api.card.update(1, { lane: 'done' }, { headers }), { status: 412 })
    assert.deepEqual([asked, fake.requests.filter(({ line }) => line.startsWith('GET')).length], [[], 0])
  })

  /** Edits card 1 offline while another client writes these values. */
  async function conflict(
    mine: { title?: string; lane?: string } | 'destroy',
    theirs: object | 'destroy',
    options: ClientOptions['outbox'] = true,
  ) {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    using api = clientOf(fake, { outbox: options as true })
    const cards = api.card.live()
    await cards.ready
    fake.isDown = true
    fake.cut()
    await eventually(() => assert.equal(cards.status, 'offline'))
    const writing = mine === 'destroy' ? api.card.destroy(1, optimistic) : api.card.update(1, mine, optimistic)
    fake.write(theirs === 'destroy' ? { id: 1, gone: true } : { id: 1, title: 'a', lane: 'todo', ...theirs })
    fake.isDown = false
    const error = await writing.then(
      () => undefined,
      (reason) => reason,
    )
    await eventually(() => assert.deepEqual(cards.rows, [...fake.rows.values()]))
    return { stored: fake.rows.get(1), error }
  }

  test('changes of different attributes are merged', async () => {
    const { stored, error } = await conflict({ lane: 'done' }, { title: 'b' })
    assert.deepEqual([stored, error], [{ id: 1, title: 'b', lane: 'done' }, undefined])
  })

  test('the same change is no conflict', async () => {
    assert.equal((await conflict({ title: 'b' }, { title: 'b' })).error, undefined)
  })

  test('a change of the same attribute is not overwritten', async () => {
    const { stored, error } = await conflict({ title: 'mine' }, { title: 'theirs' })
    assert.ok(error instanceof ConflictError && error.status === 412)
    assert.equal(stored?.title, 'theirs')
  })

  test('a changed record is not destroyed, an unchanged one is', async () => {
    assert.ok((await conflict('destroy', { title: 'theirs' })).error instanceof ConflictError)
    assert.equal((await conflict('destroy', {})).error, undefined)
  })

  test('onConflict decides with both records, and its values are written', async () => {
    const asked: unknown[] = []
    const { stored, error } = await conflict(
      { title: 'mine' },
      { title: 'theirs' },
      {
        onConflict: ({ kind, model, id, values, base }, theirs) => {
          asked.push([kind, model, id, values, base, theirs])
          return { title: `${theirs?.title} and ${values.title}` }
        },
      },
    )
    assert.equal(error, undefined)
    assert.equal(stored?.title, 'theirs and mine')
    assert.deepEqual(asked, [
      [
        'update',
        'card',
        1,
        { title: 'mine' },
        { id: 1, title: 'a', lane: 'todo' },
        { id: 1, title: 'theirs', lane: 'todo' },
      ],
    ])
  })

  test('a record that is gone is an error', async () => {
    const { error } = await conflict({ title: 'mine' }, 'destroy')
    assert.equal(error.status, 404)
  })

  test('a 409 of an online write goes to onConflict as well', async () => {
    await using fake = await FakeService.start()
    fake.refuseWith = 409
    using api = clientOf(fake, { outbox: { onConflict: ({ values }) => ({ ...values, title: 'b' }) } })
    assert.equal((await api.card.create({ title: 'a' })).title, 'b')
  })

  test('a record that is known by its version is written with If-Match', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    await api.card.findOne(1)
    fake.write({ id: 1, title: 'theirs' })
    fake.isDown = true
    const writing = api.card.update(1, { title: 'mine' })
    await eventually(() => assert.ok(fake.dropped > 0))
    fake.isDown = false
    await assert.rejects(writing, ConflictError)
  })
})

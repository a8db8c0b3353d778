import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { createClient } from '../../src/client.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string' }, rank: { type: 'number' } } },
} as const
const clientOf = (fake: FakeService) => createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 5] })

/** Something to wait for, which a test opens. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { wait: () => promise, open: resolve }
}

/** Which of the two arrives first: the answer of a write, or the frame of the stream that contains it. */
const orders = ['the answer first', 'the stream first'] as const

describe('optimistic writes', () => {
  for (const order of orders) {
    /** Runs a write while both are held back, and lets them arrive in this order. */
    const during = async (fake: FakeService, write: () => Promise<unknown>, check: () => void) => {
      const [answer, frame] = [gate(), gate()]
      fake.beforeAnswer = answer.wait
      fake.beforeFrame = frame.wait
      const writing = write()
      check()
      await eventually(() => assert.ok(fake.performed > 0))
      check()
      if (order === 'the answer first') {
        answer.open()
        await writing
        check()
        frame.open()
      } else {
        frame.open()
        await fake.sent()
        check()
        answer.open()
        await writing
      }
      await fake.sent()
      check()
    }

    test(`an update is shown at once and stays: ${order}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a', rank: 1 })
      fake.write({ id: 2, title: 'b', rank: 2 })
      using api = clientOf(fake)
      const cards = api.card.live({ sort: 'rank' })
      await cards.ready
      const frames: string[] = []
      cards.subscribe(({ rows }) => frames.push(rows.map(({ title }) => title).join()))
      await during(
        fake,
        () => api.card.update(1, { title: 'x', rank: 3 }, { optimistic: true }),
        () =>
          assert.deepEqual(
            cards.rows.map(({ title }) => title),
            ['b', 'x'],
          ),
      )
      assert.deepEqual([...new Set(frames)], ['b,x'])
      fake.write({ id: 1, title: 'y', rank: 3 })
      await eventually(() => assert.equal(cards.rows[1]?.title, 'y'))
    })

    test(`a created record appears once, first with a temporary id: ${order}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a', rank: 1 })
      using api = clientOf(fake)
      const cards = api.card.live({ sort: 'rank' })
      await cards.ready
      const frames: string[] = []
      cards.subscribe(({ rows }) => frames.push(rows.map(({ title }) => title).join()))
      await during(
        fake,
        () => api.card.create({ title: 'new', rank: 0 }, { optimistic: true }),
        () =>
          assert.deepEqual(
            cards.rows.map(({ title }) => title),
            ['new', 'a'],
          ),
      )
      assert.deepEqual([...new Set(frames)], ['new,a'])
      assert.equal(cards.rows[0]?.id, 2)
    })

    test(`a destroyed record disappears at once: ${order}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a' })
      using api = clientOf(fake)
      const cards = api.card.live()
      await cards.ready
      const frames: number[] = []
      cards.subscribe(({ rows }) => frames.push(rows.length))
      await during(
        fake,
        () => api.card.destroy(1, { optimistic: true }),
        () => assert.equal(cards.rows.length, 0),
      )
      assert.deepEqual(frames, [0])
    })

    test(`a record moves between two queries and is always in one of them: ${order}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a', lane: 'todo' })
      using api = clientOf(fake)
      const lanes = ['todo', 'done'].map((lane) => api.card.live({ where: { lane }, select: ['title', 'lane'] }))
      await Promise.all(lanes.map(({ ready }) => ready))
      await during(
        fake,
        () => api.card.update(1, { lane: 'done' }, { optimistic: true }),
        () =>
          assert.deepEqual(
            lanes.map(({ rows }) => rows.map(({ title }) => title)),
            [[], ['a']],
          ),
      )
      assert.equal(api.outbox.size, 0)
    })

    test(`what another client writes later replaces it: ${order}`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a' })
      using api = clientOf(fake)
      const cards = api.card.live()
      await cards.ready
      const [answer, frame] = [gate(), gate()]
      fake.beforeAnswer = answer.wait
      fake.beforeFrame = frame.wait
      const writing = api.card.update(1, { title: 'mine' }, { optimistic: true })
      await eventually(() => assert.ok(fake.performed > 0))
      fake.write({ id: 1, title: 'theirs' })
      const frames: unknown[] = []
      cards.subscribe(({ rows }) => frames.push(rows[0]?.title))
      if (order === 'the answer first') answer.open()
      frame.open()
      await fake.sent()
      answer.open()
      await writing
      await eventually(() => assert.equal(cards.rows[0]?.title, 'theirs'))
      assert.deepEqual(
        [...new Set(frames)].filter((title) => title !== 'mine'),
        ['theirs'],
      )
    })
  }

  test('a write whose token arrives with the difference of a closed query is released', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    const [cards, detail] = [api.card.live(), api.card.live({ where: { id: 1 } })]
    await Promise.all([cards.ready, detail.ready])
    const held = gate()
    fake.beforeFrame = held.wait
    const writing = api.card.update(1, { title: 'mine' }, { optimistic: true })
    await eventually(() => assert.equal(fake.performed, 1))
    detail.close()
    held.open()
    await writing
    await fake.sent()
    fake.write({ id: 1, title: 'theirs' })
    await eventually(() => assert.equal(cards.rows[0]?.title, 'theirs'))
  })

  for (const place of ['this page', 'an earlier page'] as const)
    test(`a write that ${place} had sent before the stream opened is released after its repetition`, async () => {
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: 'a' })
      let saved = ''
      const loading = gate()
      const open = (getItem: () => Promise<string>) =>
        createClient<{ models: typeof models }>({
          url: fake.url,
          retryDelayMs: [60_000, 60_000],
          outbox: {
            storage: {
              getItem,
              setItem(_, text) {
                saved = text
              },
            },
          },
        })
      const first = open(async () => '[]')
      let [api, cards] = [first, first.card.live()]
      await cards.ready
      // The stream breaks before it has brought the write, whose answer is lost.
      fake.beforeFrame = gate().wait
      fake.breakNext = 'after'
      fake.beforeBreak = () => {
        fake.beforeFrame = async () => {}
        fake.cut()
      }
      first.card.update(1, { title: 'mine' }, { optimistic: true }).catch(() => {})
      await eventually(() => assert.deepEqual([cards.status, fake.performed], ['offline', 1]))
      if (place === 'an earlier page') {
        first.close()
        const text = saved
        api = open(() => loading.wait().then(() => text))
        cards = api.card.live()
      } else api.card.live()
      await eventually(() => assert.equal(cards.status, 'live'))
      loading.open()
      await eventually(() => assert.equal(saved, '[]'))
      await fake.sent()
      fake.write({ id: 1, title: 'theirs' })
      await eventually(() => assert.equal(cards.rows[0]?.title, 'theirs'))
      assert.equal(fake.performed, 1)
      api.close()
    })

  test('a refused write is withdrawn, and the later one of the same record stays', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo' })
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const held = gate()
    fake.beforeWrite = held.wait
    fake.refuseWith = 403
    const refused = api.card.update(1, { title: 'no', lane: 'done' }, { optimistic: true })
    const later = api.card.update(1, { title: 'yes' }, { optimistic: true })
    assert.deepEqual(cards.rows[0], { id: 1, title: 'yes', lane: 'done' })
    held.open()
    await assert.rejects(refused, { code: 'E_REFUSED', status: 403 })
    assert.deepEqual(cards.rows[0], { id: 1, title: 'yes', lane: 'todo' })
    await later
    assert.deepEqual(cards.rows[0], { id: 1, title: 'yes', lane: 'todo' })
  })

  test('a refused create disappears, and an aborted one', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    fake.refuseWith = 400
    const refused = api.card.create({ title: 'no' }, { optimistic: true })
    assert.equal(cards.rows.length, 1)
    await assert.rejects(refused, { status: 400 })
    assert.equal(cards.rows.length, 0)
    const controller = new AbortController()
    fake.beforeWrite = gate().wait
    const aborted = api.card.create({ title: 'no' }, { optimistic: true, signal: controller.signal })
    assert.equal(cards.rows.length, 1)
    controller.abort(new Error('enough'))
    await assert.rejects(aborted, /enough/)
    assert.equal(cards.rows.length, 0)
  })

  test('a key in another spelling is no temporary id', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    await api.card.update('1' as never, { title: 'b' }, { optimistic: true })
    assert.equal((await api.card.create({ title: '1' })).title, '1')
  })

  test('the signal of a write that has ended is not listened to', async () => {
    await using fake = await FakeService.start()
    // Without the signal: Node's `fetch` keeps listeners of its own until its requests are collected.
    const fetchWithoutSignal: typeof fetch = (input, { signal: _, ...init } = {}) => fetch(input, init)
    using api = createClient<{ models: typeof models }>({ url: fake.url, fetch: fetchWithoutSignal })
    const { signal } = new AbortController()
    await api.card.create({ title: 'a' }, { signal })
    fake.refuseWith = 400
    await assert.rejects(api.card.create({ title: 'no' }, { signal }), { status: 400 })
    assert.deepEqual(getEventListeners(signal, 'abort'), [])
  })

  test('writes to a record that is not created yet wait for its id', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const held = gate()
    fake.beforeWrite = held.wait
    const creating = api.card.create({ title: 'new', lane: 'todo' }, { optimistic: true })
    const temporary = cards.rows[0]?.id as number
    const updating = api.card.update(temporary, { lane: 'done' }, { optimistic: true })
    assert.equal(cards.rows[0]?.lane, 'done')
    held.open()
    assert.equal((await creating).id, 1)
    assert.deepEqual(await updating, { id: 1, title: 'new', lane: 'done', rank: 0 })
    const { lane } = await api.card.create({ lane: temporary as never })
    assert.equal(lane, 1)
    await api.card.destroy(temporary, { optimistic: true })
    assert.deepEqual(
      cards.rows.map(({ id }) => id),
      [2],
    )
  })

  test('a created record stays while the next one is created', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const [frame, answer] = [gate(), gate()]
    fake.beforeFrame = frame.wait
    await api.card.create({ title: 'first' }, { optimistic: true })
    fake.beforeAnswer = answer.wait
    const second = api.card.create({ title: 'second' }, { optimistic: true })
    const frames: string[] = []
    cards.subscribe(({ rows }) => frames.push(rows.map(({ title }) => title).join()))
    frame.open()
    await fake.sent()
    answer.open()
    await second
    await eventually(() => assert.deepEqual([cards.rows[1]?.id, api.outbox.size], [2, 0]))
    assert.deepEqual([...new Set(frames)], ['first,second'])
  })

  test('a created record stays when its answer arrives after the stream, and before that of the next one', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const frames: string[] = []
    const frame = gate()
    fake.beforeFrame = frame.wait
    const answers = [gate(), gate()] as const
    fake.beforeAnswer = () => answers[fake.performed - 1]?.wait() ?? Promise.resolve()
    const first = api.card.create({ title: 'first' }, { optimistic: true })
    await eventually(() => assert.equal(fake.performed, 1))
    const second = api.card.create({ title: 'second' }, { optimistic: true })
    cards.subscribe(({ rows }) => frames.push(rows.map(({ title }) => title).join()))
    await eventually(() => assert.equal(fake.performed, 2))
    frame.open()
    await fake.sent()
    answers[0].open()
    await first
    answers[1].open()
    await second
    await eventually(() => assert.deepEqual([cards.rows[1]?.id, api.outbox.size], [2, 0]))
    assert.deepEqual([...new Set(frames)], ['first,second'])
  })

  test('a record that is moved to another list before it is created is displayed there', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a', lane: 'todo', rank: 1 })
    using api = clientOf(fake)
    const lanes = ['todo', 'doing', 'done'].map((lane) => api.card.live({ where: { lane } }))
    await Promise.all(lanes.map(({ ready }) => ready))
    const titles = () => lanes.map(({ rows }) => rows.map(({ title }) => title).join())
    const held = gate()
    fake.beforeWrite = held.wait
    const creating = api.card.create({ title: 'new', lane: 'todo' }, { optimistic: true })
    const id = lanes[0]?.rows[1]?.id as number
    const writing = [
      api.card.update(id, { lane: 'doing' }, { optimistic: true }),
      api.card.update(1, { title: 'b', lane: 'doing' }, { optimistic: true }),
    ]
    assert.deepEqual(titles(), ['', 'b,new', ''])
    for (const key of [id, 1]) writing.push(api.card.update(key, { lane: 'done' }, { optimistic: true }))
    assert.deepEqual(titles(), ['', '', 'b,new'])
    held.open()
    await Promise.all([creating, ...writing])
    assert.deepEqual(titles(), ['', '', 'b,new'])
  })

  test('a list of values may contain the id of a record that is not created yet', async () => {
    await using fake = await FakeService.start()
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const held = gate()
    fake.beforeWrite = held.wait
    const creating = api.card.create({ title: 'new' }, { optimistic: true })
    const referring = api.card.create({ lane: ['x', cards.rows[0]?.id] as never })
    held.open()
    await creating
    assert.deepEqual((await referring).lane, ['x', 1])
  })

  test('a stream that breaks between the answer and its frame releases the write when it is back', async () => {
    await using fake = await FakeService.start()
    fake.write({ id: 1, title: 'a' })
    using api = clientOf(fake)
    const cards = api.card.live()
    await cards.ready
    const titles: unknown[] = []
    cards.subscribe(({ rows }) => titles.push(rows[0]?.title))
    fake.beforeFrame = gate().wait
    await api.card.update(1, { title: 'x' }, { optimistic: true })
    fake.beforeFrame = async () => {}
    fake.cut()
    await eventually(() => assert.equal(fake.streams, 1))
    fake.write({ id: 1, title: 'y' })
    await eventually(() => assert.equal(cards.rows[0]?.title, 'y'))
    assert.deepEqual([...new Set(titles)], ['x', 'y'])
  })
})

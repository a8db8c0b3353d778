import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { liveStore } from '../../src/client/react/live-store.ts'
import { createClient } from '../../src/client.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

const models = { card: { attributes: { title: { type: 'string' } } } } as const

/** A store as React uses it, and what each of its notifications showed. */
async function storeOf(fake: FakeService) {
  for (const id of [1, 2]) fake.write({ id, title: `t${id}` })
  const api = createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 5] })
  const store = liveStore(() => api.card.live({ sort: 'title' }))
  const shown: string[] = []
  const titles = () =>
    store
      .getSnapshot()
      .rows.map(({ title }) => title)
      .join()
  const unsubscribe = store.subscribe(() => shown.push(titles()))
  await eventually(() => assert.equal(store.getSnapshot().status, 'live'))
  return { api, store, shown, titles, unsubscribe }
}

describe('the store of the hooks of React', () => {
  test('many changes of others are one notification per frame, and the last one is shown', async () => {
    await using fake = await FakeService.start()
    const { api, shown, titles } = await storeOf(fake)
    using _ = api
    shown.length = 0
    const begin = performance.now()
    for (let n = 1; n <= 200; n++) {
      fake.write({ id: 1, title: `n${n}` })
      await sleep(1)
    }
    await eventually(() => assert.equal(titles(), 'n200,t2'))
    const frames = Math.ceil((performance.now() - begin) / 16)
    assert.ok(shown.length <= frames + 1, `${shown.length} notifications in ${frames} frames`)
    assert.equal(shown.at(-1), 'n200,t2')
    assert.equal(new Set(shown).size, shown.length)
  })

  test('first rows are shown with the query, and own writes when they are made', async () => {
    await using fake = await FakeService.start()
    const { api, store, shown, titles } = await storeOf(fake)
    using _ = api
    assert.deepEqual([shown.length, titles()], [1, 't1,t2'])
    for (const n of [1, 2, 3]) {
      fake.write({ id: 2, title: `t2${n}` })
      await fake.sent()
      const { length } = shown
      const written = api.card.update(1, { title: `own${n}` }, { optimistic: true })
      assert.equal(shown.length, length + 1)
      assert.equal(store.getSnapshot().rows[0]?.title, `own${n}`)
      await written
    }
    await eventually(() => assert.equal(titles(), 'own3,t23'))
  })

  test('a store without a subscriber has no query, and one that is subscribed again begins anew', async () => {
    await using fake = await FakeService.start()
    const { api, store, shown, titles, unsubscribe } = await storeOf(fake)
    using _ = api
    fake.write({ id: 1, title: 'late' })
    await fake.sent()
    unsubscribe()
    const { length } = shown
    await eventually(() => assert.equal(fake.streams, 0))
    await sleep(20)
    assert.equal(shown.length, length)
    store.subscribe(() => shown.push(titles()))
    assert.equal(store.getSnapshot().status, 'catching-up')
    await eventually(() => assert.equal(titles(), 'late,t2'))
  })
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Collection, createCollection } from '@tanstack/db'
import { keelsonCollection } from '../../examples/tanstack/keelson-collection.ts'
import { createClient } from '../../src/client.ts'
import { createService } from '../../src/index.ts'
import { Random } from '../support/random.ts'
import { eventually } from './eventually.ts'
import { FakeService } from './fake-service.ts'

/*
 * A collection of the real TanStack DB over the client.
 */

const models = {
  card: { attributes: { title: { type: 'string' }, lane: { type: 'string' }, rank: { type: 'number' } } },
} as const
interface Card {
  readonly id: number
  title: string | null
}

const titlesOf = (collection: Collection<Card, string | number>) =>
  [...collection.values()].map(({ title }) => title).sort()

test('a collection has the rows of a live query, and its writes reach the service', async () => {
  await using service = await createService({ database: 'sqlite::memory:', models })
  const { url } = await service.listen(0)
  const { card } = service.system.records
  await card.create({ title: 'a', lane: 'todo' })
  using api = createClient<{ models: typeof models }>({ url })
  const cards = createCollection(
    keelsonCollection<Card>({
      records: api.card as never,
      open: () => api.card.live({ where: { lane: 'todo' }, select: ['title', 'lane'] }),
      getKey: ({ id }) => id,
    }),
  )
  await cards.preload()
  assert.deepEqual(titlesOf(cards), ['a'])

  const inserted = cards.insert({ id: -1, title: 'b', lane: 'todo' } as Card)
  assert.deepEqual(titlesOf(cards), ['a', 'b'])
  await inserted.isPersisted.promise
  assert.deepEqual([...cards.keys()].sort(), [1, 2])
  const updated = cards.update(2, (draft) => {
    draft.title = 'c'
  })
  assert.deepEqual(titlesOf(cards), ['a', 'c'])
  await updated.isPersisted.promise
  assert.equal((await card.findOne(2))?.title, 'c')

  await card.create({ title: 'd', lane: 'todo' })
  await eventually(() => assert.deepEqual(titlesOf(cards), ['a', 'c', 'd']))
  await cards.delete(1).isPersisted.promise
  assert.deepEqual(titlesOf(cards), ['c', 'd'])
  assert.equal(await card.findOne(1), undefined)

  const refused = cards.update(2, (draft) => {
    Object.assign(draft, { unknown: true })
  })
  await assert.rejects(refused.isPersisted.promise, { code: 'E_INVALID_ATTRIBUTES' })
  assert.deepEqual(titlesOf(cards), ['c', 'd'])
  await cards.cleanup()
})

describe('a second edit of a record is confirmed by its own operation', () => {
  for (let seed = 1; seed <= 12; seed++)
    test(`no frame shows an older value after a newer one: delays ${seed}`, async () => {
      const random = new Random(seed)
      await using fake = await FakeService.start()
      fake.write({ id: 1, title: '0' })
      const wait = () => new Promise<void>((resolve) => setTimeout(resolve, random.below(6)))
      fake.beforeWrite = wait
      fake.beforeAnswer = wait
      fake.beforeFrame = wait
      using api = createClient<{ models: typeof models }>({ url: fake.url, retryDelayMs: [1, 3] })
      const cards = createCollection(
        keelsonCollection<Card>({ records: api.card as never, open: () => api.card.live(), getKey: ({ id }) => id }),
      )
      await cards.preload()
      const frames: number[] = []
      cards.subscribeChanges(() => frames.push(Number(cards.get(1)?.title)))
      const persisted: Promise<unknown>[] = []
      for (let value = 1; value <= 10; value++) {
        persisted.push(
          cards.update(1, (draft) => {
            draft.title = String(value)
          }).isPersisted.promise,
        )
        await wait()
      }
      await Promise.all(persisted)
      await eventually(() => assert.equal(cards.get(1)?.title, '10'))
      assert.deepEqual(
        frames,
        frames.toSorted((a, b) => a - b),
        `${frames}`,
      )
      assert.equal(fake.rows.get(1)?.title, '10')
      await cards.cleanup()
    })
})

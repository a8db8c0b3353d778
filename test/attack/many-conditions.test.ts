import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import { EventLoopTurn } from '../../src/support/event-loop-turn.ts'

/* One write is compared with the conditions of all streams and live queries: other requests have their turn in between. */

const models = { pet: { attributes: { name: { type: 'string' } } } } as const
interface Listenable {
  create(values: object): Promise<object>
  live(options: object): AsyncIterable<unknown>
  liveQuery(options: object): AsyncIterable<unknown>
}
const listeners = 60
/** A condition of a live query or a stream may cost 300: 60 searches. */
const searches = 50
const conditions = (listener: number) =>
  Array.from({ length: searches }, (_, index) => ({ name: { contains: `${listener}.${index}` } }))

for (const kind of ['live', 'liveQuery'] as const)
  for (const [what, name, atLeast] of [
    ['a short text', 'Rex', listeners / 2],
    ['a long text', 'x'.repeat(100_000), (listeners * searches) / 2],
  ] as const)
    test(`${kind}: ${what} is compared with ${listeners} conditions in several turns of the event loop`, async (t) => {
      await using service = await createService({ database: 'sqlite::memory:', models })
      const pet = service.system.records.pet as unknown as Listenable
      const iterators = Array.from({ length: listeners }, (_, listener) =>
        pet[kind]({ where: { or: conditions(listener) } })[Symbol.asyncIterator](),
      )
      const all = pet[kind]({ where: { id: { '>': 0 } } })[Symbol.asyncIterator]()
      await Promise.all([...iterators, all].map((iterator) => iterator.next()))
      for (const iterator of iterators) void iterator.next()
      const changed = all.next()
      await new Promise((resolve) => setTimeout(resolve, 50))

      const turns = t.mock.method(EventLoopTurn.prototype, 'next').mock
      let isUsed = false
      t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => {
        isUsed = !isUsed
        return isUsed
      })
      await pet.create({ name })
      await changed
      const count = turns.callCount()
      t.mock.restoreAll()
      assert.ok(count >= atLeast, `${count} turns`)
      for (const iterator of [...iterators, all]) await iterator.return?.()
    })

test('what a change makes of the rows of live queries is computed in several turns of the event loop', async (t) => {
  await using service = await createService({ database: 'sqlite::memory:', models })
  const pet = service.system.records.pet as unknown as Listenable
  const iterators = Array.from({ length: listeners }, (_, index) =>
    pet.liveQuery({ limit: 1000 - index })[Symbol.asyncIterator](),
  )
  await Promise.all(iterators.map((iterator) => iterator.next()))
  const changed = Promise.all(iterators.map((iterator) => iterator.next()))
  t.mock.getter(EventLoopTurn.prototype, 'isUsed', () => true)
  const turns = t.mock.method(EventLoopTurn.prototype, 'next', async () => {}).mock
  await pet.create({ name: 'Rex' })
  await changed
  const count = turns.callCount()
  t.mock.restoreAll()
  // Each is compared with the change, and then its difference is made.
  assert.ok(count >= 2 * listeners, `${count} turns`)
  for (const iterator of iterators) await iterator.return?.()
})

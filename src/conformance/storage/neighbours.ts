import assert from 'node:assert/strict'
import type { Change } from '../../protocol/change.ts'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

/** Several processes on the same records. */
export const neighbours: readonly StorageCase[] = [
  {
    name: 'neighbours: what one writes the other reads, and finds in its log',
    needs: 'neighbour',
    async run({ store, models, neighbour }) {
      assert.ok(neighbour)
      const tables = new Tables(models)
      await using other = await neighbour()
      const head = await store.changes.head()
      const made = await tables.insert(other, 'specimen', { legs: 1 })
      assert.deepEqual(await tables.one(store, 'specimen', made.id as number), made)
      await tables.update(store, 'specimen', made.id as number, { legs: 2 })
      const changes = await changesAfter(store.changes, head)
      assert.deepEqual(
        changes.map(({ verb, after }) => [verb, after?.legs]),
        [
          ['created', 1],
          ['updated', 2],
        ],
      )
      // Where a change stands is for each reader to say; what happened is not.
      const happened = ({ position: _, ...change }: Change) => change
      assert.deepEqual((await changesAfter(other.changes, head)).map(happened), changes.map(happened))
    },
  },
  {
    name: 'neighbours: places and secrets are shared, and outlive a process',
    needs: 'neighbour',
    async run({ store, models, neighbour }) {
      assert.ok(neighbour)
      const tables = new Tables(models)
      const head = await store.changes.head()
      await tables.insert(store, 'specimen', { legs: 1 })
      {
        await using first = await neighbour()
        assert.equal(first.secret, store.secret)
        await tables.insert(first, 'specimen', { legs: 2 })
      }
      await using second = await neighbour()
      assert.deepEqual(
        (await changesAfter(second.changes, head)).map(({ after }) => after?.legs),
        [1, 2],
      )
    },
  },
  {
    name: 'neighbours: one is woken by what the other writes',
    needs: 'neighbour',
    async run({ store, models, neighbour }) {
      assert.ok(neighbour)
      const tables = new Tables(models)
      await using other = await neighbour()
      const head = await store.changes.head()
      const heard = Promise.withResolvers<void>()
      // A wake may come for nothing: the log says whether there was something.
      const look = async (): Promise<void> => {
        if ((await changesAfter(store.changes, head)).length > 0) heard.resolve()
      }
      using _ = store.changes.onWake(() => void look().catch(heard.reject))
      await tables.insert(other, 'specimen', { legs: 1 })
      await heard.promise
    },
  },
  {
    name: 'neighbours: writes of both at once all happen, and every record has its own key',
    needs: 'neighbour',
    async run({ store, models, neighbour }) {
      assert.ok(neighbour)
      const tables = new Tables(models)
      await using other = await neighbour()
      const head = await store.changes.head()
      const writes = Array.from({ length: 30 }, (_, legs) =>
        tables.insert(legs % 2 ? store : other, 'specimen', { legs }),
      )
      const made = await Promise.all(writes)
      assert.equal(new Set(made.map(({ id }) => id)).size, 30)
      assert.equal((await changesAfter(store.changes, head)).length, 30)
      assert.deepEqual(await tables.find(other, 'specimen'), await tables.find(store, 'specimen'))
    },
  },
]

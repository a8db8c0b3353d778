import assert from 'node:assert/strict'
import type { Change } from '../../protocol/change.ts'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

/** Two processes on the same records. */
export const secondProcess: readonly StorageCase[] = [
  {
    name: 'second process: reads the writes of the first, and finds them in the log',
    needs: 'secondProcess',
    async run({ store, models, secondProcess }) {
      assert.ok(secondProcess)
      const tables = new Tables(models)
      await using other = await secondProcess()
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
      // Positions may differ between readers; changes do not.
      const happened = ({ position: _, ...change }: Change) => change
      assert.deepEqual((await changesAfter(other.changes, head)).map(happened), changes.map(happened))
    },
  },
  {
    name: 'second process: positions and secrets are shared, and outlive a process',
    needs: 'secondProcess',
    async run({ store, models, secondProcess }) {
      assert.ok(secondProcess)
      const tables = new Tables(models)
      const head = await store.changes.head()
      await tables.insert(store, 'specimen', { legs: 1 })
      {
        await using first = await secondProcess()
        assert.equal(first.secret, store.secret)
        await tables.insert(first, 'specimen', { legs: 2 })
      }
      await using second = await secondProcess()
      assert.deepEqual(
        (await changesAfter(second.changes, head)).map(({ after }) => after?.legs),
        [1, 2],
      )
    },
  },
  {
    name: 'second process: is notified of writes of the first',
    needs: 'secondProcess',
    async run({ store, models, secondProcess }) {
      assert.ok(secondProcess)
      const tables = new Tables(models)
      await using other = await secondProcess()
      const head = await store.changes.head()
      const received = Promise.withResolvers<void>()
      // A notification may come without a change, so the log is read.
      const look = async (): Promise<void> => {
        if ((await changesAfter(store.changes, head)).length > 0) received.resolve()
      }
      using _ = store.changes.onChange(() => void look().catch(received.reject))
      await tables.insert(other, 'specimen', { legs: 1 })
      await received.promise
    },
  },
  {
    name: 'second process: concurrent writes of both succeed with distinct keys',
    needs: 'secondProcess',
    async run({ store, models, secondProcess }) {
      assert.ok(secondProcess)
      const tables = new Tables(models)
      await using other = await secondProcess()
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

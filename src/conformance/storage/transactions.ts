import assert from 'node:assert/strict'
import type { StorageCase } from '../storage-case.ts'
import { changesAfter, Tables } from '../tables.ts'

/** Reads and writes that are committed together or not at all. */
export const transactions: readonly StorageCase[] = [
  {
    name: 'transactions: are committed and return the result of `work`',
    async run({ store, models }) {
      const tables = new Tables(models)
      const answer = await store.transaction(async (transaction) => {
        const { id } = await tables.insert(transaction, 'specimen', { legs: 1 })
        await tables.update(transaction, 'specimen', id as number, { legs: 2 })
        return (await tables.insert(transaction, 'specimen', { legs: 3 })).legs
      })
      assert.equal(answer, 3)
      assert.deepEqual(
        (await tables.find(store, 'specimen')).map(({ legs }) => legs),
        [2, 3],
      )
    },
  },
  {
    name: 'transactions: are rolled back when `work` throws, with the same error',
    async run({ store, models }) {
      const tables = new Tables(models)
      const kept = await tables.insert(store, 'specimen', { legs: 1 })
      const head = await store.changes.head()
      const own = new Error('of my own')
      const work = store.transaction(async (transaction) => {
        await tables.insert(transaction, 'specimen', { legs: 2 })
        await tables.update(transaction, 'specimen', kept.id as number, { legs: 9 })
        await tables.remove(transaction, 'specimen', kept.id as number)
        throw own
      })
      assert.equal(await work.catch((error: unknown) => error), own)
      assert.deepEqual(await tables.find(store, 'specimen'), [kept])
      assert.deepEqual(await changesAfter(store.changes, head), [])
    },
  },
  {
    name: 'transactions: are rolled back when `work` throws synchronously',
    async run({ store, models }) {
      const tables = new Tables(models)
      const work = store.transaction(() => {
        throw new RangeError('at once')
      })
      await assert.rejects(work, RangeError)
      await tables.insert(store, 'specimen', { legs: 1 })
      assert.equal((await tables.find(store, 'specimen')).length, 1)
    },
  },
  {
    name: 'transactions: are rolled back when a statement fails',
    async run({ store, models }) {
      const tables = new Tables(models)
      await tables.insert(store, 'team', { title: 'Night' })
      const work = store.transaction(async (transaction) => {
        await tables.insert(transaction, 'specimen', { legs: 1 })
        await tables.insert(transaction, 'team', { title: 'Night' })
      })
      await assert.rejects(work, { name: 'ServiceError' })
      assert.deepEqual(await tables.find(store, 'specimen'), [])
    },
  },
  {
    name: 'transactions: read their own writes; other readers see committed rows only',
    async run({ store, models }) {
      const tables = new Tables(models)
      const { id } = await tables.insert(store, 'specimen', { legs: 1 })
      let outside: Promise<unknown> | undefined
      await store.transaction(async (transaction) => {
        await tables.update(transaction, 'specimen', id as number, { legs: 2 })
        assert.equal((await tables.one(transaction, 'specimen', id as number))?.legs, 2)
        assert.equal(await transaction.count(tables.model('specimen'), tables.where('specimen', { legs: 2 })), 1)
        // Started now; the store decides when it answers.
        outside ??= Promise.resolve(tables.one(store, 'specimen', id as number))
        await tables.update(transaction, 'specimen', id as number, { legs: 3 })
      })
      const seen = (await outside) as { legs?: unknown } | undefined
      assert.ok([1, 3].includes(seen?.legs as number), `a reader saw ${seen?.legs}, which never was committed`)
    },
  },
  {
    name: 'transactions: a locked record is not changed by another transaction',
    async run({ store, models }) {
      const tables = new Tables(models)
      const { id } = await tables.insert(store, 'specimen', { legs: 0 })
      const increment = () =>
        store.transaction(async (transaction) => {
          const found = await tables.one(transaction, 'specimen', id as number, true)
          await tables.update(transaction, 'specimen', id as number, { legs: Number(found?.legs) + 1 })
        })
      await Promise.all(Array.from({ length: 12 }, increment))
      assert.equal((await tables.one(store, 'specimen', id as number))?.legs, 12)
    },
  },
  {
    name: 'transactions: two that lock the same records in opposite order both finish',
    async run({ store, models }) {
      const tables = new Tables(models)
      const a = (await tables.insert(store, 'specimen', { legs: 0 })).id as number
      const b = (await tables.insert(store, 'specimen', { legs: 0 })).id as number
      const both = (first: number, second: number) =>
        store.transaction(async (transaction) => {
          for (const id of [first, second]) {
            const found = await tables.one(transaction, 'specimen', id, true)
            await tables.update(transaction, 'specimen', id, { legs: Number(found?.legs) + 1 })
          }
        })
      await Promise.all([both(a, b), both(b, a)])
      assert.deepEqual(
        (await tables.find(store, 'specimen')).map(({ legs }) => legs),
        [2, 2],
      )
    },
  },
  {
    name: 'transactions: concurrent writes all succeed, each on its own',
    async run({ store, models }) {
      const tables = new Tables(models)
      const writes = Array.from({ length: 40 }, (_, legs) =>
        legs % 4 === 3
          ? store.transaction(async (transaction) => {
              await tables.insert(transaction, 'specimen', { legs })
              if (legs % 8 === 7) throw new Error('not this one')
            })
          : tables.insert(store, 'specimen', { legs }),
      )
      await Promise.allSettled(writes)
      const legs = (await tables.find(store, 'specimen')).map((row) => Number(row.legs)).sort((x, y) => x - y)
      assert.deepEqual(
        legs,
        Array.from({ length: 40 }, (_, index) => index).filter((index) => index % 8 !== 7),
      )
    },
  },
]

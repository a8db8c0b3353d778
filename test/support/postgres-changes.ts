import type { Change } from '../../src/protocol/change.ts'
import type { FreshDatabase } from './postgres.ts'
import { emptyDatabase } from './postgres-database.ts'
import { openTestStore, type TestStore } from './postgres-store.ts'

export const models = {
  owner: { attributes: { name: { type: 'string' } } },
  pet: {
    attributes: {
      name: { type: 'string' },
      owner: { model: 'owner' },
      tags: { collection: 'tag', via: 'pets' },
      big: { type: 'bigint' },
      data: { type: 'ref', columnType: 'bytea' },
      seen: { type: 'datetime' },
      weight: { type: 'number' },
      extra: { type: 'json' },
      good: { type: 'boolean' },
    },
  },
  tag: { attributes: { pets: { collection: 'pet', via: 'tags' } } },
} as const

const day = 86_400_000
export const keepAll = { ageMs: day, rows: 1_000_000 }
export const names = (changes: readonly Change[]) => changes.map(({ after }) => after?.name)

/** An empty database and a store of `models` over it. */
export async function opened(): Promise<AsyncDisposable & { database: FreshDatabase; store: TestStore }> {
  const database = await emptyDatabase()
  const store = await openTestStore(database.url, models)
  return {
    database,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

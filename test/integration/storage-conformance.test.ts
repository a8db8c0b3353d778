import { after, before, describe, test } from 'node:test'
import { storageConformance, zooModels } from '../../src/conformance.ts'
import { matchAll } from '../../src/criteria/criteria.ts'
import type { Models } from '../../src/model/model.ts'
import type { Store } from '../../src/storage/store.ts'
import { openStore } from '../../src/storage/stores.ts'
import { defaultLimits } from '../../src/support/limits.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/** Models that required associations refer to come last. */
const emptiedInOrder = (models: Models) =>
  [...models.values()].sort((a, b) => rank(a.name) - rank(b.name) || (a.isJunction ? -1 : 1))
const rank = (name: string): number =>
  ['feeding', 'ticket', 'shift', 'team', 'animal', 'keeper', 'enclosure'].indexOf(name)

async function empty(store: Store, models: Models): Promise<void> {
  for (const model of emptiedInOrder(models)) await store.delete(model, matchAll)
}

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    const models = zooModels()
    let opened: TestDatabase
    let store: Store
    const open = async (): Promise<Store> => {
      const onError = (error: unknown) => console.error(error)
      const migrate = 'add' as const
      return (await openStore({ url: opened.url, models, migrate, limits: defaultLimits, onError })).store
    }
    before(async () => {
      opened = await database.open()
      store = await open()
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    })
    const secondProcess = database.name === 'memory' ? undefined : open
    for (const { name, needs, run } of storageConformance) {
      const skip = needs === 'secondProcess' && !secondProcess && 'a memory store cannot be shared by processes'
      // A wait that never ends fails this test only.
      test(name, { skip, timeout: 30_000 }, async () => {
        await empty(store, models)
        await run({ store, models, secondProcess })
      })
    }
  })
}

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AccessPolicy } from '../../src/access/policy.ts'
import { restrictStore } from '../../src/access/restricted-store.ts'
import { allAttributes, eq, matchAll, orderByPrimaryKey, primaryKeyEquals } from '../../src/criteria/criteria.ts'
import { publicRules } from '../../src/model/access-rules.ts'
import { defineModels } from '../../src/model/define.ts'
import type { Attribute, Model } from '../../src/model/model.ts'
import type { Json } from '../../src/protocol/json.ts'
import { anonymous } from '../../src/protocol/requester.ts'
import { integrity, type ScopedStore } from '../../src/storage/scoped-store.ts'
import type { Reads, Store } from '../../src/storage/store.ts'
import { openStore } from '../../src/storage/stores.ts'
import { within } from '../../src/storage/transaction-store.ts'
import { defaultLimits } from '../../src/support/limits.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/*
 * The two decorators that access rules and transactions are built on, over every database: a store narrowed to a scope,
 * and a store whose operations run in one transaction.
 */

const models = defineModels(
  {
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: {
      access: { read: () => ({ kind: 'cat' }), update: () => ({ kind: 'cat' }), destroy: () => ({ kind: 'cat' }) },
      attributes: { name: { type: 'string' }, kind: { type: 'string' }, owner: { model: 'owner' } },
    },
  },
  { createdAt: false, updatedAt: false },
)
const owner = models.get('owner') as Model
const pet = models.get('pet') as Model
const attribute = (model: Model, name: string) => model.attributes.get(name) as Attribute

const all = (model: Model) => ({
  where: matchAll,
  sort: orderByPrimaryKey(model),
  limit: 30,
  skip: 0,
  select: allAttributes(model),
})
const values = (model: Model, given: Readonly<Record<string, Json>>) =>
  Object.entries(given).map(([name, value]) => ({ attribute: attribute(model, name), value }))
const namesOf = async (reads: Reads): Promise<readonly Json[]> =>
  (await reads.find(pet, all(pet))).values(attribute(pet, 'name'))

for (const database of databases) {
  describe(database.name, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let store: Store
    let cats: ScopedStore
    let ann: Json
    before(async () => {
      opened = await database.open()
      const opening = {
        url: opened.url,
        models,
        migrate: 'add',
        limits: defaultLimits,
        onError: console.error,
      } as const
      store = (await openStore(opening)).store
      const access = new AccessPolicy(models, publicRules, defaultLimits).for(anonymous)
      assert.ok(access)
      cats = restrictStore(store, access)
      ann = (await store.insert(owner, values(owner, { name: 'Ann' }))).values(owner.primaryKey)[0] as Json
      for (const [name, kind] of [
        ['Tom', 'cat'],
        ['Rex', 'dog'],
      ] as const)
        await store.insert(pet, values(pet, { name, kind, owner: ann }))
    })
    after(async () => {
      await store[Symbol.asyncDispose]()
      await opened[Symbol.asyncDispose]()
    })

    test('a scoped store finds, counts and embeds what is in the scope', async () => {
      const pets = owner.associations.get('pets')
      assert.ok(pets)
      const embedded = await cats.related(pets, [ann], all(pet))
      assert.deepEqual(await namesOf(cats), ['Tom'])
      assert.equal(await cats.count(pet, matchAll), 1)
      assert.deepEqual(embedded.records.values(attribute(pet, 'name')), ['Tom'])
      const { value } = await cats.snapshot((reads) => namesOf(reads))
      assert.deepEqual(value, ['Tom'])
    })

    test('a scoped store neither updates nor deletes what is outside the scope', async () => {
      const [rex] = (await store.find(pet, { ...all(pet), where: eq(attribute(pet, 'name'), 'Rex') })).values(
        pet.primaryKey,
      )
      const byKey = primaryKeyEquals(pet, rex as Json)
      assert.equal((await cats.update(pet, byKey, values(pet, { name: 'X' }))).length, 0)
      assert.equal((await cats.delete(pet, byKey)).length, 0)
      const inTransaction = await cats.transaction(async (transaction) => [
        (await transaction.update(pet, byKey, values(pet, { name: 'X' }))).length,
        (await transaction.delete(pet, byKey)).length,
        await transaction.count(pet, byKey),
        await integrity(transaction).count(pet, byKey),
      ])
      assert.deepEqual(inTransaction, [0, 0, 0, 1])
      assert.deepEqual(await namesOf(store), ['Tom', 'Rex'])
    })

    test('operations within a transaction happen together or not at all', async () => {
      const failing = store.transaction(async (transaction) => {
        const together = within(transaction, store)
        await together.insert(pet, values(pet, { name: 'Ada', kind: 'cat' }))
        await together.transaction((inner) => inner.insert(pet, values(pet, { name: 'Bea', kind: 'cat' })))
        assert.deepEqual(await namesOf(together), ['Tom', 'Rex', 'Ada', 'Bea'])
        throw new Error('roll back')
      })
      await assert.rejects(failing, /roll back/)
      assert.deepEqual(await namesOf(store), ['Tom', 'Rex'])
    })
  })
}

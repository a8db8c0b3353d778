import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allAttributes, findByPrimaryKey, matchAll, orderByPrimaryKey, type Populate } from '../criteria/criteria.ts'
import { defineModels } from '../model/define.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { MemoryStore } from '../storage/memory/store.ts'
import type { Reads } from '../storage/store.ts'
import { embed } from './embed.ts'

const places = ['a', 'b', 'c', 'd', 'e', 'f']
const models = defineModels(
  {
    town: { attributes: { name: { type: 'string' } } },
    owner: { attributes: Object.fromEntries(places.map((name) => [name, { model: 'town' }])) },
  },
  { createdAt: false, updatedAt: false },
)
const town = models.get('town') as Model
const owner = models.get('owner') as Model
const populate: readonly Populate[] = places.map((name) => ({
  association: owner.associations.get(name) as Association,
  criteria: { where: matchAll, select: allAttributes(town), sort: orderByPrimaryKey(town), limit: 1, skip: 0 },
  populate: [],
}))

/** Reads that answer a turn later, in the reverse order of the questions; those named in `failing` fail. */
async function reading(failing: readonly string[], overlaps: boolean) {
  const store = new MemoryStore(models)
  const named = (name: string) => [{ attribute: town.attributes.get('name') as Attribute, value: name }]
  await store.insert(town, named('Ulm'))
  const assignments = places.map((name) => ({ attribute: owner.attributes.get(name) as Attribute, value: 1 }))
  await store.insert(owner, assignments)
  let open = 0
  let most = 0
  const reads: Reads = {
    overlaps,
    find: (model, criteria) => store.find(model, criteria),
    count: (model, where) => store.count(model, where),
    async related(association, keys, criteria) {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 10 - open))
      open--
      if (failing.includes(association.name)) throw new Error(association.name)
      return store.related(association, keys, criteria)
    },
  }
  return { found: store.find(owner, findByPrimaryKey(owner, 1)), reads, most: () => most }
}

const ulm = { id: 1, name: 'Ulm' }

describe('associations are embedded', () => {
  for (const [overlaps, most] of [
    [true, 4],
    [false, 1],
  ] as const) {
    test(`with ${most} of their reads at once, where reads ${overlaps ? 'overlap' : 'do not overlap'}`, async () => {
      const { found, reads, most: counted } = await reading([], overlaps)
      const [record] = (await embed(found, populate, reads)).decode()
      assert.deepEqual(record, { id: 1, ...Object.fromEntries(places.map((name) => [name, ulm])) })
      assert.equal(counted(), most)
    })

    test(`or the failure of the first of them is thrown, where reads ${overlaps ? 'overlap' : 'do not overlap'}`, async () => {
      const { found, reads } = await reading(['b', 'c'], overlaps)
      await assert.rejects(async () => embed(found, populate, reads), { message: 'b' })
    })
  }
})

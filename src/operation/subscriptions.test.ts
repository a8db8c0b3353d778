import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allAttributes, matchAll, orderByPrimaryKey, type Populate } from '../criteria/criteria.ts'
import { defineModels } from '../model/define.ts'
import type { Association, Attribute, Model } from '../model/model.ts'
import { MemoryRecords } from '../storage/memory/records.ts'
import { MemoryStore } from '../storage/memory/store.ts'
import { encodeList, type Reads } from '../storage/store.ts'
import { embed } from './embed.ts'
import { listSubscriptions } from './subscriptions.ts'

const models = defineModels(
  {
    town: { attributes: { owners: { collection: 'owner', via: 'town' } } },
    owner: { attributes: { town: { model: 'town' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { owner: { model: 'owner' } } },
  },
  { createdAt: false, updatedAt: false },
)
const modelOf = (name: string) => models.get(name) as Model
const all = (model: Model) => ({
  where: matchAll,
  select: allAttributes(model),
  sort: orderByPrimaryKey(model),
  limit: 30,
  skip: 0,
})
const populating = (model: Model, name: string, populate: readonly Populate[] = []): Populate => {
  const association = model.associations.get(name) as Association
  return { association, criteria: all(association.target), populate }
}

async function filled(): Promise<MemoryStore> {
  const store = new MemoryStore(models)
  const insert = (name: string, column?: string, value?: number) => {
    const attribute = modelOf(name).attributes.get(column ?? '') as Attribute
    return store.insert(modelOf(name), value === undefined ? [] : [{ attribute, value }])
  }
  for (let count = 0; count < 2; count++) await insert('town')
  for (const town of [1, 1, 2, undefined]) await insert('owner', 'town', town)
  for (const owner of [1, 3, 3, undefined]) await insert('pet', 'owner', owner)
  return store
}

const [owner, town] = [modelOf('owner'), modelOf('town')]

for (const [name, model, populate, expected] of [
  ['none', owner, [], { owner: [1, 2, 3, 4] }],
  ['to-one', owner, [populating(owner, 'town')], { owner: [1, 2, 3, 4], town: [1, 2] }],
  ['to-many', owner, [populating(owner, 'pets')], { owner: [1, 2, 3, 4], pet: [1, 2, 3] }],
  [
    'two levels',
    town,
    [populating(town, 'owners', [populating(owner, 'pets'), populating(owner, 'town')])],
    { town: [1, 2], owner: [1, 2, 3], pet: [1, 2, 3] },
  ],
] as const)
  for (const hasTexts of [false, true])
    test(`subscriptions of a list are found without decoding its records: ${name}${hasTexts ? ', as texts' : ''}`, async (t) => {
      const store = await filled()
      const reads: Reads = {
        find: (model, criteria) => store.find(model, criteria),
        count: (model, where) => store.count(model, where),
        related: (association, keys, criteria) => store.related(association, keys, criteria),
        ...(hasTexts && {
          relatedTexts: async (association, keys, criteria) => {
            const { records, ends } = await store.related(association, keys, criteria)
            return ends.map((end, group) => {
              const begin = ends[group - 1] ?? 0
              if (association.kind !== 'belongsTo') return encodeList(records, undefined, begin, end)
              return begin === end ? 'null' : records.encodeAt(begin)
            })
          },
        }),
      }
      const records = await embed(await store.find(model, all(model)), populate, reads, {})
      for (const method of ['decode', 'decodeAt'] as const)
        t.mock.method(MemoryRecords.prototype, method, () => assert.fail('decoded'))
      const { records: found } = listSubscriptions({ kind: 'records', model, records, populate }, model)
      assert.deepEqual(Object.fromEntries(found.map(({ model, ids }) => [model, ids])), expected)
    })

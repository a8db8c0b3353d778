import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Rules of a destroy that go through what refers to the record: they are about the record as it is before that is cleared. */

const plain = { createdAt: false, updatedAt: false } as const
const ofMember = { members: { name: 'Ann' } }
const owner = (destroy: object, onDestroy: 'setNull' | 'cascade', pet: string) => ({
  [`ownerOf${pet}`]: {
    access: { read: true, destroy: () => destroy },
    attributes: { ...plain, pets: { collection: pet, via: 'owner' } },
  },
  [pet]: {
    access: { read: true },
    attributes: { ...plain, name: { type: 'string' }, owner: { model: `ownerOf${pet}`, onDestroy } },
  },
})
const models = {
  person: { access: { read: true }, attributes: { ...plain, name: { type: 'string' } } },
  team: {
    access: { read: () => ofMember, destroy: () => ofMember },
    attributes: { ...plain, members: { collection: 'person' } },
  },
  club: {
    access: { read: true, destroy: () => ofMember },
    attributes: { ...plain, members: { collection: 'person', through: 'seat', via: 'club' } },
  },
  seat: { access: { read: true }, attributes: { ...plain, club: { model: 'club' }, person: { model: 'person' } } },
  ...owner({ pets: { name: 'Rex' } }, 'setNull', 'Dog'),
  ...owner({ not: { pets: { name: 'Tom' } } }, 'setNull', 'Cat'),
  ...owner({ not: { pets: { name: 'Tom' } } }, 'cascade', 'Fish'),
  step: {
    access: { read: true, destroy: () => ({ or: [{ after: 1 }, { id: 1 }] }) },
    attributes: { ...plain, after: { model: 'step', onDestroy: 'restrict' } },
  },
}

const cases: readonly (readonly [model: string, id: number, status: number])[] = [
  ['team', 1, 200],
  ['club', 1, 200],
  ['club', 2, 403],
  ['ownerOfDog', 1, 200],
  ['ownerOfDog', 2, 403],
  ['ownerOfCat', 1, 200],
  ['ownerOfCat', 2, 403],
  ['ownerOfFish', 1, 200],
  ['ownerOfFish', 2, 403],
]

for (const database of databases) {
  describe(`the rule of a destroy on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Service
    // biome-ignore lint/suspicious/noExplicitAny: the models are made by a function
    let records: any
    before(async () => {
      opened = await database.open()
      service = (await createService({ database: opened.url, models } as never)) as never
      records = service.system.records
    })
    beforeEach(async () => {
      for (const model of Object.keys(models)) await records[model].destroyMany({ where: { id: { '!=': null } } })
      await records.person.createMany([
        { id: 1, name: 'Ann' },
        { id: 2, name: 'Bob' },
      ])
      for (const id of [1, 2]) {
        for (const model of ['team', 'club']) await records[model].create({ id, members: [id] })
        for (const pet of ['Dog', 'Cat', 'Fish'])
          await records[`ownerOf${pet}`].create({ id, pets: [{ name: id === 1 ? 'Rex' : 'Tom' }] })
      }
      await records.step.createMany([{ id: 1 }, { id: 2, after: 1 }])
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const statusOf = async (path: string) =>
      (await service.fetch(new Request(`http://localhost${path}`, { method: 'DELETE' }))).status

    for (const [model, id, status] of cases)
      for (const path of [`/${model}/${id}`, `/${model}?where=${encodeURIComponent(`{"id":${id}}`)}`])
        test(`${decodeURIComponent(path)}: ${status}`, async () => {
          assert.equal(await statusOf(path), status)
          assert.equal(await records[model].count(), status === 200 ? 1 : 2)
        })

    test('a record that refers to another one that is destroyed with it', async () => {
      assert.equal(await statusOf(`/step?where=${encodeURIComponent('{"id":{"!=":null}}')}`), 200)
      assert.equal(await records.step.count(), 0)
    })
  })
}

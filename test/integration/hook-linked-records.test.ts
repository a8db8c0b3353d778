import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createService, refuse, ServiceError } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Hooks before the write of records that change with another one: what they are given, what they make of it, and under which rules. */

// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any

let seen: unknown[] = []
let beforeUpdate: (values: Any, context: Any) => unknown = () => {}

const name = { type: 'string' } as const
const rule = ({ user }: Any) => ({ keeper: user?.name ?? 'nobody' })
const models: Any = {
  owner: {
    attributes: {
      name,
      pets: { collection: 'pet', via: 'owner' },
      treated: { collection: 'pet', via: 'vet' },
    },
    access: {
      read: true,
      create: true,
      update: true,
      destroy: true,
      add: ({ user }: Any) => user?.isGuest !== true,
      remove: true,
    },
  },
  pet: {
    attributes: {
      name: { ...name, maxLength: 5 },
      tag: name,
      keeper: name,
      owner: { model: 'owner' },
      vet: { model: 'owner' },
      toys: { collection: 'toy', via: 'pet' },
    },
    access: { read: ({ user }: Any) => ({ name: { '!=': user?.blindTo ?? 'nothing' } }), update: rule, create: true },
    hooks: { before: { update: (values: Any, context: Any) => beforeUpdate(values, context) } },
  },
  toy: {
    attributes: { name, pet: { model: 'pet', onDestroy: 'cascade' } },
    access: { read: false },
    hooks: {
      before: {
        destroy: ({ previous, user }: Any) => {
          seen.push([previous.name, user?.name])
          if (previous.name === 'fixed') throw refuse(409, 'FIXED', 'It is fixed')
        },
      },
    },
  },
  part: {
    attributes: { name, toy: { model: 'toy', onDestroy: 'cascade' } },
    hooks: { before: { destroy: ({ previous }: Any) => void seen.push(previous.name) } },
  },
}

for (const database of databases) {
  describe(`hooks of linked records on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    let ids: Readonly<Record<'ann' | 'bob' | 'rex' | 'tom', number>>
    const all = () => service.system.records
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models, onError: () => {} })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })
    beforeEach(async () => {
      beforeUpdate = () => {}
      const make = async (model: string, values: object): Promise<number> => (await all()[model].create(values)).id
      const ann = await make('owner', { name: 'Ann' })
      const bob = await make('owner', { name: 'Bob' })
      ids = {
        ann,
        bob,
        rex: await make('pet', { name: 'Rex', keeper: 'Kim', owner: ann }),
        tom: await make('pet', { name: 'Tom', keeper: 'Eva', owner: bob }),
      }
      seen = []
    })
    const refused = (status: number) => (error: unknown) => error instanceof ServiceError && error.status === status
    const ownerOf = async (id: number): Promise<unknown> => (await all().pet.findOne(id)).owner

    test('what a hook makes of the values is written, except for the reference itself', async () => {
      beforeUpdate = (values) => ({ ...values, tag: 'seen', owner: ids.ann })
      await all().owner.replace(ids.bob, 'pets', [ids.rex])
      const { tag, owner } = await all().pet.findOne(ids.rex)
      assert.deepEqual({ tag, owner }, { tag: 'seen', owner: ids.bob })
      assert.deepEqual((await all().pet.findOne(ids.tom)).tag, 'seen')
    })

    test('what it returns is validated, and nothing is written', async () => {
      beforeUpdate = () => ({ name: 'too long' })
      await assert.rejects(all().owner.remove(ids.ann, 'pets', ids.rex), refused(400))
      assert.equal(await ownerOf(ids.rex), ids.ann)
    })

    test('a refusal in the midst of many leaves all as they were', async () => {
      await all().pet.update(ids.tom, { owner: ids.ann })
      beforeUpdate = (_, { previous }) => {
        seen.push(previous.name)
        if (previous.name === 'Tom') throw refuse(409, 'STAYS', 'It stays')
      }
      await assert.rejects(all().owner.destroy(ids.ann), refused(409))
      assert.deepEqual(seen, ['Rex', 'Tom'])
      assert.deepEqual([await ownerOf(ids.rex), await ownerOf(ids.tom)], [ids.ann, ids.ann])
    })

    test('none runs for a record that the requester may not read or write, nor for members that it may not change', async () => {
      beforeUpdate = (_, { previous }) => void seen.push(previous.name)
      const kim = service.as({ name: 'Kim' }).records.owner
      await assert.rejects(kim.add(ids.ann, 'pets', ids.tom), refused(403))
      const guest = service.as({ name: 'Kim', isGuest: true }).records.owner
      await assert.rejects(guest.add(ids.bob, 'pets', ids.rex), refused(403))
      await assert.rejects(kim.update(ids.ann, { pets: [ids.rex, ids.tom] }), refused(403))
      await assert.rejects(kim.add(987_654, 'pets', ids.rex), refused(404))
      const blind = service.as({ name: 'Kim', blindTo: 'Rex' }).records.owner
      await assert.rejects(blind.add(ids.bob, 'pets', ids.rex), refused(404))
      await blind.replace(ids.ann, 'pets', [])
      assert.deepEqual(seen, [])
      assert.equal(await ownerOf(ids.rex), ids.ann)
      await kim.remove(ids.ann, 'pets', ids.rex)
      assert.deepEqual(seen, ['Rex'])
    })

    test('those of integrity run for records that the requester may not read', async () => {
      beforeUpdate = (_, { previous, user }) => void seen.push([previous.name, user?.name])
      await service.as({ name: 'Eva', blindTo: 'Rex' }).records.owner.destroy(ids.ann)
      assert.deepEqual(seen, [['Rex', 'Eva']])
      assert.equal(await ownerOf(ids.rex), null)
    })

    test('each reference to a destroyed record is cleared, and seen', async () => {
      await all().pet.update(ids.rex, { vet: ids.ann })
      beforeUpdate = (values) => void seen.push(values)
      await all().owner.destroy(ids.ann)
      assert.deepEqual(seen, [{ owner: null }, { vet: null }])
    })

    test('a cascade runs those of each record that it destroys, to its end', async () => {
      const ball = await all().toy.create({ name: 'ball', pet: ids.rex })
      await all().part.create({ name: 'valve', toy: ball.id })
      const destroyed = service.as({ name: 'Kim' })
      await assert.rejects(destroyed.records.pet.destroy(ids.rex), refused(403))
      assert.deepEqual(seen, [])
      await all().pet.destroy(ids.rex)
      assert.deepEqual(seen, [['ball', undefined], 'valve'])
      await all().toy.create({ name: 'fixed', pet: ids.tom })
      await assert.rejects(all().pet.destroyMany({ where: { id: ids.tom } }), refused(409))
      assert.equal(await all().toy.count({ where: { name: 'fixed' } }), 1)
    })

    test('a member that came meanwhile is prepared before it is changed', async () => {
      beforeUpdate = async (_, { previous }) => {
        seen.push(previous.name)
        // The second is a write of another request.
        if (seen.length === 1) await all().pet.update(ids.tom, { owner: ids.ann })
      }
      await all().owner.replace(ids.ann, 'pets', [])
      assert.deepEqual(seen, ['Rex', 'Tom', 'Rex', 'Tom'])
      assert.deepEqual([await ownerOf(ids.rex), await ownerOf(ids.tom)], [null, null])
    })

    test('a record whose members come without end is refused', async () => {
      beforeUpdate = async (values, { previous }) => {
        if (values.owner !== null || previous.name === 'new') return
        const { id } = await all().pet.create({ name: 'new' })
        await all().pet.update(id, { owner: ids.ann })
      }
      await assert.rejects(all().owner.destroy(ids.ann), refused(503))
      assert.equal(await ownerOf(ids.rex), ids.ann)
    })

    test('in a batch, what an earlier request added is seen', async () => {
      beforeUpdate = (values, { previous }) => void seen.push([previous.name, values.owner])
      const response = await service.fetch(
        new Request('http://localhost/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([
            { method: 'PUT', url: `/owner/${ids.ann}/pets/${ids.tom}` },
            { method: 'PUT', url: `/owner/${ids.ann}/pets`, body: [] },
          ]),
        }),
      )
      assert.equal(response.status, 403, 'nobody may write a pet')
      await all().pet.updateMany({ where: { id: [ids.rex, ids.tom] } }, { keeper: 'nobody' })
      seen = []
      const again = await service.fetch(
        new Request('http://localhost/batch', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([
            { method: 'PUT', url: `/owner/${ids.ann}/pets/${ids.tom}` },
            { method: 'PUT', url: `/owner/${ids.ann}/pets`, body: [] },
          ]),
        }),
      )
      assert.equal(again.status, 200, await again.text())
      assert.deepEqual(seen, [
        ['Tom', ids.ann],
        ['Rex', null],
        ['Rex', null],
        ['Tom', null],
      ])
      assert.deepEqual([await ownerOf(ids.rex), await ownerOf(ids.tom)], [null, null])
    })
  })
}

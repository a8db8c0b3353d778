import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* Hooks run for each record that a write changes, also where only a foreign key changes or a record goes with another. */

const seen: string[] = []
// biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
type Any = any
const hooks = (model: string) => ({
  before: {
    create: (values: Any) => void seen.push(`before created ${model} ${JSON.stringify(values)}`),
    update: (values: Any, { previous }: Any) =>
      void seen.push(`before ${model} ${previous.name} ${JSON.stringify(values)}`),
    destroy: ({ previous }: Any) => void seen.push(`before destroyed ${model} ${previous.name ?? previous.owner}`),
  },
  within: {
    create: ({ record }: Any) => void seen.push(`created ${model} ${record.name ?? record.owner}`),
    update: ({ previous, record }: Any) =>
      void seen.push(`${model} ${record.name}: ${previous.owner} → ${record.owner}`),
    destroy: ({ previous }: Any) => void seen.push(`destroyed ${model} ${previous.name ?? previous.owner}`),
  },
})
const times = { createdAt: false, updatedAt: false } as const
const models: Any = {
  owner: {
    attributes: {
      ...times,
      name: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      clubs: { collection: 'club', through: 'membership', via: 'owner' },
    },
  },
  pet: { attributes: { ...times, name: { type: 'string' }, owner: { model: 'owner' } }, hooks: hooks('pet') },
  card: {
    attributes: { ...times, name: { type: 'string' }, owner: { model: 'owner', onDestroy: 'cascade' } },
    hooks: hooks('card'),
  },
  club: { attributes: { ...times, name: { type: 'string' } } },
  membership: {
    attributes: { ...times, owner: { model: 'owner' }, club: { model: 'club' } },
    hooks: hooks('membership'),
  },
}

for (const database of databases) {
  describe(`hooks of members on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Any
    before(async () => {
      opened = await database.open()
      service = await createService({ database: opened.url, models })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const post = (path: string, body: object) =>
      service.fetch(
        new Request(`http://localhost${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )

    test('each change of a record is seen once, in its order', async () => {
      const { owner, pet, card, club } = service.system.records
      const ann = await owner.create({ name: 'Ann' })
      const bob = await owner.create({ name: 'Bob' })
      const rex = await pet.create({ name: 'Rex', owner: ann.id })
      const tom = await pet.create({ name: 'Tom' })
      await card.create({ name: 'gold', owner: ann.id })
      const chess = await club.create({ name: 'Chess' })
      const pets = (owner: Any) => JSON.stringify({ owner })
      const row = { owner: ann.id, club: chess.id }
      const steps: readonly (readonly [what: string, run: () => Promise<unknown>, seen: readonly string[]])[] = [
        [
          'add',
          () => owner.add(ann.id, 'pets', tom.id),
          [`before pet Tom ${pets(ann.id)}`, `pet Tom: null → ${ann.id}`],
        ],
        ['add again', () => owner.add(ann.id, 'pets', tom.id), []],
        [
          'move',
          () => owner.add(bob.id, 'pets', tom.id),
          [`before pet Tom ${pets(bob.id)}`, `pet Tom: ${ann.id} → ${bob.id}`],
        ],
        [
          'replace',
          () => owner.replace(bob.id, 'pets', [rex.id]),
          [
            `before pet Tom ${pets(null)}`,
            `before pet Rex ${pets(bob.id)}`,
            `pet Tom: ${bob.id} → null`,
            `pet Rex: ${ann.id} → ${bob.id}`,
          ],
        ],
        [
          'remove',
          () => owner.remove(bob.id, 'pets', rex.id),
          [`before pet Rex ${pets(null)}`, `pet Rex: ${bob.id} → null`],
        ],
        ['remove again', () => owner.remove(bob.id, 'pets', rex.id), []],
        [
          'write',
          () => owner.update(ann.id, { pets: [rex.id] }),
          [`before pet Rex ${pets(ann.id)}`, `pet Rex: null → ${ann.id}`],
        ],
        ['write again', () => owner.update(ann.id, { pets: [rex.id] }), []],
        [
          'join',
          () => owner.add(ann.id, 'clubs', chess.id),
          [`before created membership ${JSON.stringify(row)}`, `created membership ${ann.id}`],
        ],
        ['join again', () => owner.add(ann.id, 'clubs', chess.id), []],
        [
          'leave',
          () => owner.remove(ann.id, 'clubs', chess.id),
          [`before destroyed membership ${ann.id}`, `destroyed membership ${ann.id}`],
        ],
        [
          'join by a new member',
          () => post(`/owner/${ann.id}/clubs`, { name: 'Go' }),
          [`before created membership ${pets(ann.id)}`, `created membership ${ann.id}`],
        ],
        [
          'update',
          () => pet.update(tom.id, { name: 'Max' }),
          ['before pet Tom {"name":"Max"}', 'pet Max: null → null'],
        ],
      ]
      for (const [what, run, expected] of steps) {
        seen.length = 0
        await run()
        assert.deepEqual(seen, expected, what)
      }
      seen.length = 0
      await owner.destroy(ann.id)
      assert.deepEqual(seen.map((text) => text.replace(/membership (\w+).*/, 'membership')).toSorted(), [
        'before destroyed card gold',
        'before membership',
        `before pet Rex ${pets(null)}`,
        'destroyed card gold',
        'membership',
        `pet Rex: ${ann.id} → null`,
      ])
    })

    test('a new record takes members, and its references are not known before', async () => {
      const { owner, pet, club } = service.system.records
      const rex = await pet.create({ name: 'Rex' })
      const chess = await club.create({ name: 'Chess' })
      seen.length = 0
      const ann = await owner.create({ name: 'Ann', pets: [rex.id], clubs: [chess.id, { name: 'Go' }] })
      assert.deepEqual(seen, [
        'before pet Rex {}',
        `before created membership {"club":${chess.id}}`,
        'before created membership {}',
        `pet Rex: null → ${ann.id}`,
        `created membership ${ann.id}`,
        `created membership ${ann.id}`,
      ])
      assert.equal((await owner.findOne(ann.id, { populate: ['clubs'] })).clubs.length, 2)
    })
  })
}

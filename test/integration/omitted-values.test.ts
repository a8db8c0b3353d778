import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, createService } from '../../src/index.ts'

/* A value of undefined, which JSON does not have, is omitted on every path of code in the same process. */

const plain = { createdAt: false, updatedAt: false } as const
const open = () =>
  createService({
    database: 'memory:',
    models: {
      pet: {
        access: { read: true, create: true, update: true },
        attributes: {
          ...plain,
          name: { type: 'string', unique: true },
          age: { type: 'number', defaultsTo: 1 },
          rank: { type: 'number', access: { write: false } },
          owner: { model: 'owner' },
          puppies: { collection: 'pet', via: 'mother' },
          mother: { model: 'pet' },
        },
        hooks: { before: { create: ({ name, ...others }) => ({ ...others, name: name?.trim() }) } },
        actions: {
          rename: action({
            on: 'record',
            access: true,
            run: ({ record, tx }) => tx.pet.update(record.id, { name: undefined, age: 7 }),
          }),
        },
      },
      owner: { access: { read: true, create: true }, attributes: { ...plain, name: { type: 'string' } } },
    },
  })
type TestService = Awaited<ReturnType<typeof open>>

// biome-ignore lint/suspicious/noExplicitAny: values that the types of the records may refuse
type Pets = any
const writes: Readonly<Record<string, (pet: Pets, service: TestService) => unknown>> = {
  create: (pet) => pet.create({ name: ' Ivy', age: undefined, owner: undefined }),
  'create, an unknown name': (pet) => pet.create({ name: 'Ivy', nick: undefined }),
  'create, an attribute that may not be written': (pet) => pet.create({ name: 'Ivy', rank: undefined }),
  'create, members': (pet) => pet.create({ name: 'Ivy', puppies: undefined }),
  'create with a new record': (pet) => pet.create({ name: 'Ivy', owner: { name: undefined } }),
  'create with a new member': (pet) => pet.create({ name: 'Ivy', puppies: [{ name: 'Kit', age: undefined }] }),
  createMany: (pet) => pet.createMany([{ name: 'Ivy', age: undefined }, { name: 'Kit' }]),
  update: (pet) => pet.update(1, { name: undefined, age: 7 }),
  'update, members': (pet) => pet.update(1, { puppies: undefined, age: 7 }),
  updateMany: (pet) => pet.updateMany({ where: { id: 1 } }, { name: undefined, age: 7 }),
  'upsert, an insert': (pet) => pet.upsert('name', { name: 'Ivy', age: undefined }),
  'upsert, an update': (pet) => pet.upsert('name', { name: 'Rex', age: 7, mother: undefined }),
  action: (pet) => pet.rename(1),
}
const expected = (what: string): readonly string[] => {
  if (/^create with a new member|^createMany/.test(what)) return ['Rex 3', 'Kit 1', 'Ivy 1']
  return /^create|insert/.test(what) ? ['Rex 3', 'Ivy 1'] : ['Rex 7']
}

for (const [what, write] of Object.entries(writes)) {
  for (const [requester, run] of Object.entries({
    system: (service: TestService) => write(service.system.records.pet, service),
    'a user': (service: TestService) => write(service.as({ id: 1 }).records.pet, service),
    'a transaction': (service: TestService) =>
      service.system.transaction(async (tx) => {
        await write(tx.pet, service)
      }),
  })) {
    test(`${what} by ${requester}`, async () => {
      await using service = await open()
      const { pet } = service.system.records
      await pet.create({ name: 'Rex', age: 3 })
      await run(service)
      const found = (await pet.find()).data.map(({ name, age }) => `${name} ${age}`)
      assert.deepEqual(new Set(found), new Set(expected(what)))
    })
  }
}

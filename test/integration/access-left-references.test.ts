import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/*
 * The rule `remove` of a record that others refer to is asked of what they refer to now. What a requester may not read, a record
 * or its reference, is not revealed by that.
 */

const plain = { createdAt: false, updatedAt: false } as const
const open = (database: string) =>
  createService({
    database,
    auth: { identify: () => ({ id: 1 }) },
    models: {
      owner: {
        access: { read: true, add: true, remove: () => ({ frozen: false }) },
        attributes: { ...plain, frozen: { type: 'boolean' }, pets: { collection: 'pet', via: 'owner' } },
      },
      pet: {
        access: { read: () => ({ listed: true }), update: true },
        attributes: {
          ...plain,
          name: { type: 'string' },
          listed: { type: 'boolean' },
          owner: { model: 'owner', access: { read: () => ({ name: { '!=': 'masked' } }) } },
        },
      },
    },
  } as const)

/** Pets that are not listed: of an owner that they may not leave, of another one, and of none. */
const hidden = [11, 12, 13] as const
const requests: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['PATCH', '/pet/ID', { owner: null }],
  ['PATCH', '/pet/ID', { owner: 1 }],
  ['PATCH', '/pet/ID', { owner: 2 }],
  ['GET', '/pet/update/ID?owner=2'],
  ['PUT', '/owner/2/pets/ID'],
  ['PUT', '/owner/1/pets/ID'],
  ['DELETE', '/owner/1/pets/ID'],
  ['DELETE', '/owner/2/pets/ID'],
  ['PUT', '/owner/3/pets', [{ id: 'ID' }]],
]

for (const kind of databases) {
  describe(`the rule for leaving a record on ${kind.name}`, { skip: kind.missing ?? false }, () => {
    let opened: TestDatabase
    let service: Awaited<ReturnType<typeof open>>
    before(async () => {
      opened = await kind.open()
      service = await open(opened.url)
      const { owner, pet } = service.system.records
      for (const id of [1, 2, 3]) await owner.create({ id, frozen: id === 1 })
      await pet.create({ id: 11, listed: false, owner: 1 })
      await pet.create({ id: 12, listed: false, owner: 2 })
      await pet.create({ id: 13, listed: false })
      await pet.create({ id: 14, listed: true, owner: 1, name: 'open' })
      await pet.create({ id: 15, listed: true, owner: 1, name: 'masked' })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    const ask = async (id: number, method: string, path: string, body?: object) => {
      const at = (text: string) => text.replace('"ID"', `${id}`).replace('ID', `${id}`)
      const response = await service.fetch(
        new Request(`http://localhost${at(path)}`, {
          method,
          headers: { 'Content-Type': 'application/json' },
          ...(body && { body: at(JSON.stringify(body)) }),
        }),
      )
      return { status: response.status, text: (await response.text()).replaceAll(`${id}`, 'ID') }
    }

    for (const request of requests) {
      test(`a record that may not be read is as one that does not exist: ${request[0]} ${request[1]} ${JSON.stringify(request[2]) ?? ''}`, async () => {
        const missing = await ask(99, ...request)
        for (const id of hidden) {
          const { owner } = (await service.system.records.pet.findOne(id)) ?? {}
          assert.deepEqual(await ask(id, ...request), missing, `pet ${id}`)
          assert.equal((await service.system.records.pet.findOne(id))?.owner, owner)
        }
      })
    }

    test('a reference that is masked cannot be guessed', async () => {
      const answers = [await ask(15, 'PATCH', '/pet/ID', { owner: 1 }), await ask(15, 'PATCH', '/pet/ID', { owner: 2 })]
      assert.deepEqual(answers[0], answers[1])
      assert.equal(answers[0]?.status, 403)
    })

    test('of a reference that may be read the rule is kept, and the same value is none that leaves', async () => {
      assert.equal((await ask(14, 'PATCH', '/pet/ID', { owner: 2 })).status, 403)
      assert.equal((await ask(14, 'PATCH', '/pet/ID', { owner: 1 })).status, 200)
    })
  })
}

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService } from '../../src/index.ts'
import { databases, type TestDatabase } from '../support/databases.ts'

/* No hook runs for a request that would create a record within another one where the requester may create none. */

const ran: string[] = []
const hooks = (model: string) => ({
  before: { create: () => void ran.push(`create ${model}`), update: () => void ran.push(`update ${model}`) },
})
const own = ({ user }: { readonly user: { readonly name: string } | null }) => ({ keeper: user?.name ?? '' })

const models = {
  owner: {
    access: { read: own, create: true, update: own, add: own },
    attributes: {
      keeper: { type: 'string' },
      pets: { collection: 'pet', via: 'owner' },
      tags: { collection: 'tag', via: 'owners' },
    },
    hooks: hooks('owner'),
  },
  pet: {
    access: { read: true, create: 'admin', update: true },
    attributes: { name: { type: 'string' }, owner: { model: 'owner' }, kind: { model: 'kind' } },
    hooks: hooks('pet'),
  },
  tag: {
    access: { read: true, create: true, update: true },
    attributes: { label: { type: 'string' }, owners: { collection: 'owner', via: 'tags' } },
    hooks: hooks('tag'),
  },
  kind: { access: { read: true }, attributes: { name: { type: 'string' } }, hooks: hooks('kind') },
}

const ann = { name: 'Ann' }
const admin = { name: 'Ann', role: 'admin' }
const refusals: readonly (readonly [user: object, method: string, path: string, body: object, status: number])[] = [
  [ann, 'POST', '/pet', { name: 'Rex' }, 403],
  [ann, 'POST', '/owner', { keeper: 'Ann', tags: [{ label: 'a' }], pets: [{ name: 'Rex' }] }, 403],
  [ann, 'POST', '/owner?upsert=id', { id: 1, pets: [{ name: 'Rex' }] }, 403],
  [ann, 'PATCH', '/owner/1', { pets: [{ name: 'Rex' }] }, 403],
  [ann, 'POST', '/owner/1/pets', { name: 'Rex' }, 403],
  [admin, 'POST', '/pet', { owner: { keeper: 'Ann' }, kind: { name: 'dog' } }, 403],
  [admin, 'POST', '/owner/1/pets', { kind: { name: 'dog' } }, 403],
  [admin, 'POST', '/owner/2/pets', { name: 'Rex' }, 404],
  [admin, 'POST', '/owner/3/pets', { name: 'Rex' }, 404],
  [admin, 'POST', '/owner/2/tags', { label: 'a' }, 404],
  [admin, 'PATCH', '/owner/3', { pets: [{ name: 'Rex' }] }, 404],
]

for (const database of databases) {
  describe(`hooks of new records on ${database.name}`, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    // biome-ignore lint/suspicious/noExplicitAny: the types of records are not the subject
    let service: any
    before(async () => {
      opened = await database.open()
      const identify = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
        JSON.parse(String(headers['x-user']))
      service = await createService({ database: opened.url, auth: { identify }, models } as never)
      await service.system.records.owner.create({ id: 1, keeper: 'Ann' })
      await service.system.records.owner.create({ id: 2, keeper: 'Bob' })
    })
    after(async () => {
      await service.close()
      await opened[Symbol.asyncDispose]()
    })

    for (const [user, method, path, body, status] of refusals) {
      test(`${JSON.stringify(user)} ${method} ${path} ${JSON.stringify(body)}`, async () => {
        ran.length = 0
        const headers = { 'Content-Type': 'application/json', 'X-User': JSON.stringify(user) }
        const request = new Request(`http://localhost${path}`, { method, headers, body: JSON.stringify(body) })
        assert.equal((await service.fetch(request)).status, status)
        assert.deepEqual(ran, [])
      })
    }

    test('where they may be created, they run', async () => {
      ran.length = 0
      await service.as(admin).records.owner.update(1, { tags: [{ label: 'a' }], pets: [{ name: 'Rex' }] })
      assert.deepEqual(ran, ['update owner', 'create tag', 'create pet'])
    })
  })
}
